/**
 * The command lines that README and the pages of tasks show are run, or stand in a table that says why they are not.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { openWorkshop } from '../http/cloud.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'
import { type Block, blocksIn, commandLinesIn } from './blocks.ts'

const ROOT = join(import.meta.dirname, '../..')
const OPERATORS = 'docs/operators'
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, OPERATORS))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${OPERATORS}/${name}`),
]
const CONFIGURED = 'needs the configuration of a cloud: test/nova, test/cluster and test/cli run it'
const CLIENT = 'a client of OpenStack: test/nova and test/cloud'
const SERVES = 'serves until it is stopped: test/e2e and test/cluster start it'
/** Blocks that are no command lines, by how they begin. */
const NO_COMMANDS: readonly RegExp[] = [/^# \/etc\//, /^cloud = /, /^\/etc\/accelerando/]
const NOT_RUN: readonly (readonly [line: RegExp, why: string])[] = [
  [/^openstack |^(for|done|do)\b/, CLIENT],
  [/^(mysqldump|cyborg-dbsync) /, "upstream's own commands"],
  [/^npm (ci|start) /, 'test/e2e/tour.test.ts and test/docs/fiveMinutes.test.ts start the service'],
  [/^npm install |^ln /, 'test/shipping/pack.test.ts installs the package'],
  [/^npm run cluster/, 'starts a whole cluster: test/cluster'],
  [/^docker /, 'needs a Docker engine: test/containers'],
  [
    /^helm |^(image|kafka|config|control|host|enabled|enabled_drivers|cafile|extraVolumes|extraVolumeMounts|auth|auth_url|username|secrets|migration|networkPolicy|ACCELERANDO_\w+|monitoring|\[\w+\])\b.*[:=]|^\[keystone_authtoken\]/,
    'test/shipping/helm.test.ts renders the chart',
  ],
  [/^curl /, 'test/http asks the API'],
  [/--config \/etc\//, CONFIGURED],
  [/accelerando start$|^accelerando (control|host --name)/, SERVES],
  [/^accelerando event --follow/, 'goes on until it is stopped: test/cli/eventsCommand.test.ts'],
  [/^accelerando drift/, 'needs a Placement: test/cli/askedDrift.test.ts'],
  [/^accelerando orphan/, 'needs a Nova: test/cli/askedDrift.test.ts'],
]
const SHELL = new Set(['sh', 'bash', '', 'indented'])
const isShown = ({ language, text }: Block): boolean =>
  SHELL.has(language) && !NO_COMMANDS.some((begin) => begin.test(text))
const shown = PAGES.flatMap((page) =>
  blocksIn(readFileSync(join(ROOT, page), 'utf8'))
    .filter(isShown)
    .flatMap((block) => commandLinesIn(block).map((line) => ({ page, line }))),
)
const reasonOf = (line: string): string | undefined => NOT_RUN.find(([pattern]) => pattern.test(line))?.[1]
const run = shown.filter(({ line }) => reasonOf(line) === undefined)

const folder = tempFolder('shell-blocks')
afterAll(folder.remove)
let shop: Awaited<ReturnType<typeof openWorkshop>>
let served: Listening
beforeEach(async () => {
  shop = await openWorkshop({ hostWork: false })
  served = await listen(shop.app, { host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  await served.close(0)
  await shop.close()
})

/** What the page leaves to its reader. */
const filled = async (lines: readonly string[]): Promise<(line: string) => string> => {
  const { arqs } = await shop.bound(1)
  const { handles } = (await shop.must(200, 'GET /v2/handles?state=free')).json
  const { devices } = (await shop.must(200, 'GET /v2/devices')).json
  const uuids: Readonly<Record<string, string>> = {
    arq: arqs[0]!.uuid,
    device: devices[0].uuid,
    handle: handles[0].uuid,
  }
  const profile = await shop.newProfile()
  const draft = join(folder.path, 'draft.json')
  writeFileSync(draft, JSON.stringify({ groups: [{ 'resources:FPGA': '1' }] }))
  // a host that is removed must not be in use
  if (lines.some((line) => line.includes('host remove'))) await shop.shows('other', { seed: 2, devices: [] })
  const host = lines.some((line) => line.includes('host remove')) ? 'other' : 'sim-1'
  return (line) =>
    line
      .replaceAll(/\bUUID\b/g, uuids[line.split(' ')[1]!] ?? 'UUID')
      .replaceAll(/\b(NAME|compute-1)\b/g, host)
      .replaceAll(/\bTEXT\b/g, 'agreed')
      .replaceAll(/\b(?:PROFILE|FIRST|SECOND)\b/g, profile)
      .replaceAll('draft.json', draft)
}

describe.each([...new Set(run.map(({ page }) => page))])('%s', (page) => {
  const lines = run.filter((each) => each.page === page).map(({ line }) => line)
  test(lines.join('; '), { timeout: 60_000 }, async () => {
    const fill = await filled(lines)
    for (const line of lines) {
      expect(line).toMatch(/^(?:npx )?accelerando /)
      const args = fill(line)
        .replace(/^(?:npx )?accelerando /, '')
        .split(/\s+/)
      const env = { ACCELERANDO_URL: `${urlOf(served)}/v2`, ACCELERANDO_DATA: folder.path }
      const first = await commandHere(args, env)
      // what cannot be undone asks a person at a terminal
      const { code, err } = first.err.includes('add --yes') ? await commandHere([...args, '--yes'], env) : first
      expect([[0, 7].includes(code), err], line).toEqual([true, ''])
    }
  })
})

test('a good part of what is shown is run', () => expect(run.length).toBeGreaterThan(15))
test.each(NOT_RUN)('%s still stands in a page', (pattern) => {
  expect(shown.some(({ line }) => pattern.test(line))).toBe(true)
})
test('blocks are found in both forms, with their lines', () => {
  const page = 'text\n\n    one \\\n      two\n    three # why\n\n1. x\n\n   ```sh\n   four\n\n   five\n   ```\n'
  expect(blocksIn(page).map((block) => [block.language, block.line, commandLinesIn(block)])).toEqual([
    ['indented', 3, ['one two', 'three']],
    ['sh', 9, ['four', 'five']],
  ])
})
