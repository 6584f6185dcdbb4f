/** The page of the first five minutes: its blocks are run one after the other in one shell, as a reader would. */
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../support/port.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { tempFolder } from '../support/program.ts'
import { blocksIn } from './blocks.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = tempFolder('five-minutes')
afterAll(folder.remove)
/** Two starts, some twenty commands and an audit; a machine that does other work as well needs a multiple. */
const LIMIT_MS = 300_000
/** The packages are there already. */
const LEFT_OUT = ['npm ci']

test('every block does what the page says', { timeout: LIMIT_MS }, async () => {
  const page = readFileSync(join(ROOT, 'docs/start/five-minutes.md'), 'utf8')
  const blocks = blocksIn(page).filter(({ language }) => language === 'sh')
  expect(blocks.filter(({ text }) => LEFT_OUT.includes(text))).toHaveLength(LEFT_OUT.length)
  const data = join(folder.path, 'data')
  await embeddedStoreIn(join(data, 'store'))
  symlinkSync(join(ROOT, 'bin'), join(folder.path, 'bin'))
  const [api, admin, ui] = [await freePort(), await freePort(), await freePort()]
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ACCELERANDO_|VITEST|npm_)/.test(name))),
    ACCELERANDO_DATA: data,
    ACCELERANDO_LISTEN: `127.0.0.1:${api}`,
    ACCELERANDO_ADMIN_LISTEN: `127.0.0.1:${admin}`,
    ACCELERANDO_UI_LISTEN: `127.0.0.1:${ui}`,
    ACCELERANDO_URL: `http://127.0.0.1:${api}/v2`,
  }
  const script = [
    'set -euo pipefail',
    `trap 'kill -9 "\${SERVICE:-}" 2>/dev/null || true' EXIT`,
    ...blocks.filter(({ text }) => !LEFT_OUT.includes(text)).map(({ text }) => text),
  ].join('\n')
  const { promise, resolve } = Promise.withResolvers<readonly [error: Error | null, out: string, err: string]>()
  execFile('bash', ['-c', script], { env, cwd: folder.path, timeout: LIMIT_MS - 10_000 }, (...said) => resolve(said))
  const [error, out, err] = await promise
  expect([error, err.split('\n').filter((line) => /^(error|next|see): /.test(line))], `${out}\n${err}`).toEqual([
    null,
    [],
  ])
  expect(out).toMatch(/^ready http/m)
  expect(out).toMatch(/all is well/)
  expect(out).toMatch(/\tBound\tfirst/)
  expect(out).toMatch(/^clean: \d+ invariants hold/m)
})
