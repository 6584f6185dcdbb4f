/**
 * `--wait` of commands whose work a host does, with the real program: it ends when the work ends, fails as the work
 * fails, and gives up in time.
 */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { runProgram, type Service, startService, tempFolder } from '../support/program.ts'
import { clientOf, type Deployable } from './client.ts'

const LONG = 120_000
const folder = tempFolder('waiting')
const at = (name: string) => join(folder.path, name)
let service: Service
let client: ReturnType<typeof clientOf>
let place: Deployable
let host = ''

/** Notes that it has begun, does not end while there is a file `slow`, and fails while there is one `broken`. */
const SCRIPT = `#!/bin/sh
echo begun >> ${at('begun')}
while [ -e ${at('slow')} ]; do sleep 0.05; done
[ ! -e ${at('broken')} ]
`
const begun = () => (existsSync(at('begun')) ? readFileSync(at('begun'), 'utf8').trim().split('\n').length : 0)

beforeAll(async () => {
  writeFileSync(at('wipe'), SCRIPT)
  chmodSync(at('wipe'), 0o755)
  writeFileSync(at('cleaning.yaml'), `- { driver: simulated_driver, policy: command, command: [${at('wipe')}] }\n`)
  await embeddedStoreIn(at('data/store'))
  const address = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--ui-listen', '127.0.0.1:0']
  const args = ['start', ...address, '--demo-devices', '1', '--demo-handles', '1', '--data', at('data')]
  service = await startService({ args, env: { ACCELERANDO_CLEANING_POLICIES: at('cleaning.yaml') } })
  client = clientOf(service.base)
  place = (await client.deployables())[0]!
  host = (await client.hosts())[0]!.name
}, LONG)
afterAll(async () => {
  await service?.end('SIGKILL').catch(() => undefined)
  folder.remove()
})

const begin = (...args: readonly string[]) => runProgram({ args: [...args, '--api', service.base] })
const ended = async (program: ReturnType<typeof begin>) => ({
  code: (await program.exited).code,
  out: program.stdout(),
  err: program.stderr(),
})
const run = (...args: readonly string[]) => ended(begin(...args))
const handle = async () => {
  const { handles } = await client.wanted(200, 'GET', '/handles')
  return (handles as readonly { readonly uuid: string; readonly state: string }[])[0]!
}
const inState = (state: string) => expect.poll(async () => (await handle()).state, { timeout: LONG }).toBe(state)

describe('handle clean --wait', () => {
  const clean = (uuid: string, wait: string) => ['handle', 'clean', uuid, '--reason', 'as agreed', '--wait', wait]

  test(
    'ends with 6 when the time is over, and the host goes on cleaning',
    async () => {
      const { uuid } = await handle()
      writeFileSync(at('slow'), '')
      const { code, out, err } = await run(...clean(uuid, '0.5'))
      expect([code, out]).toEqual([EXITS.waited.code, ''])
      expect(err).toContain(
        `after 0.5 s attach handle ${uuid} is being cleaned\nnext: accelerando handle show ${uuid}\n`,
      )
      expect((await handle()).state).toBe('releasing')
      rmSync(at('slow'))
      await inState('free')
    },
    LONG,
  )
  test(
    'ends with 0 when the handle is clean, shows it, and tells meanwhile what happens',
    async () => {
      const { uuid } = await handle()
      writeFileSync(at('slow'), '')
      const before = begun()
      const program = begin(...clean(uuid, '60'))
      await expect.poll(begun, { timeout: LONG }).toBe(before + 1)
      expect(program.stdout()).toBe('')
      rmSync(at('slow'))
      const { code, out, err } = await ended(program)
      expect(code, err).toBe(0)
      expect(out).toMatch(/^state\tfree$/m)
      expect(out).toMatch(/^last cleaning\t.* exit code 0 /m)
      expect(err).toContain('OrderDone')
    },
    LONG,
  )
  test(
    'ends with 1 when the cleaning fails, with the reason and what to do next',
    async () => {
      const { uuid } = await handle()
      writeFileSync(at('broken'), '')
      const { code, out, err } = await run(...clean(uuid, '60'))
      expect([code, out]).toEqual([EXITS.failed.code, ''])
      expect(err).toContain(
        `attach handle ${uuid} is not clean: cleaning failed: ${at('wipe')} ended with exit code 1\nnext: accelerando handle show ${uuid}\n`,
      )
      rmSync(at('broken'))
      expect((await run(...clean(uuid, '60'))).code).toBe(0)
    },
    LONG,
  )
})

describe('host retire --wait', () => {
  const retire = (wait: string) => ['host', 'retire', host, '--reason', 'new hardware', '--wait', wait]

  test(
    'ends with 6 while a request has a device of the host, and names it; then with 0, once it is given back',
    async () => {
      const { uuid } = await client.bind(place, host)
      const early = await run(...retire('0.5'))
      expect([early.code, early.out]).toEqual([EXITS.waited.code, ''])
      expect(early.err).toContain(`after 0.5 s host ${host} is used by ${uuid}\nnext: accelerando host show ${host}\n`)
      const program = begin(...retire('60'))
      await client.wanted(204, 'DELETE', `/accelerator_requests?arqs=${uuid}`)
      const { code, out, err } = await ended(program)
      expect(code, err).toBe(0)
      expect(out).toMatch(/^retired\t.*new hardware/m)
      const shown = await run('host', 'show', host, '--json')
      expect(JSON.parse(shown.out)).toMatchObject({ arqs: [], retired: { reason: 'new hardware' } })
    },
    LONG,
  )
  test(
    'ends at once for a host that nobody uses',
    async () => {
      expect((await run('host', 'restore', host, '--reason', 'mended')).code).toBe(0)
      expect((await run(...retire('60'))).code).toBe(0)
    },
    LONG,
  )
})
