/**
 * The real program and a real command: what is given up is cleaned before anybody else gets it, also when the program
 * is killed meanwhile.
 */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { type Deployable, type Host, clientOf } from './client.ts'
import { handlesOf } from './handleCommands.ts'

const folder = tempFolder('cleaning')
const at = (name: string) => join(folder.path, name)
let service: Service | null = null
afterAll(async () => {
  await service?.end('SIGKILL').catch(() => undefined)
  folder.remove()
})

/**
 * Notes what it was told to clean; fails while there is a file `broken`, and does not end while there is one `slow`.
 */
const SCRIPT = `#!/bin/sh
echo "$ACCELERANDO_HANDLE $ACCELERANDO_ORDER" >> ${at('begun')}
env > ${at('given')}
while [ -e ${at('slow')} ]; do sleep 0.05; done
[ -e ${at('broken')} ] && { echo no answer; exit 5; }
echo wiped
echo "$ACCELERANDO_HANDLE $ACCELERANDO_ORDER" >> ${at('cleaned')}
`
const linesOf = (name: string): readonly string[] =>
  existsSync(at(name)) ? readFileSync(at(name), 'utf8').trim().split('\n') : []
const started = async () => {
  const address = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--ui-listen', '127.0.0.1:0']
  const args = ['start', ...address, '--demo-devices', '1', '--demo-handles', '1', '--data', at('data')]
  const env = { ACCELERANDO_CLEANING_POLICIES: at('cleaning.yaml'), OS_PASSWORD: 'planted' }
  service = await startService({ args, env })
  return service
}
const until = async <Value>(look: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> => {
  for (const end = Date.now() + 60_000; ; await sleep(100)) {
    const value = await look()
    if (holds(value)) return value
    if (Date.now() > end) throw new Error(`it is still ${JSON.stringify(value)}`)
  }
}

test('a handle is cleaned between two requests', { timeout: 180_000 }, async () => {
  writeFileSync(at('wipe'), SCRIPT)
  chmodSync(at('wipe'), 0o755)
  writeFileSync(at('cleaning.yaml'), `- { driver: simulated_driver, policy: command, command: [${at('wipe')}] }\n`)
  let client = clientOf((await started()).base)
  const place = await until(client.deployables, ([one]) => one !== undefined).then(([one]) => one as Deployable)
  const [{ name: host }] = (await client.hosts()) as readonly [Host, ...Host[]]
  const handles = async () => (await client.wanted(200, 'GET', '/handles'))['handles'] as { uuid: string }[]
  const [{ uuid }] = (await handles()) as [{ uuid: string }]
  const shown = () => client.wanted(200, 'GET', `/handles/${uuid}`)
  const inState = (state: string) => until(shown, (one) => one['state'] === state)
  const bind = () => client.bind(place, host)
  const giveUp = (arq: string) => client.wanted(204, 'DELETE', `/accelerator_requests?arqs=${arq}`)

  const first = await bind()
  expect(first.state).toBe('Bound')
  await giveUp(first.uuid)
  expect(await inState('free')).toMatchObject({
    cleaning: { due: 'by_host', under_way: false, last: { command: at('wipe'), exit_code: 0, output: 'wiped\n' } },
  })
  expect(linesOf('cleaned')).toHaveLength(1)
  // of the program's own environment it is given none
  expect(linesOf('given').filter((line) => /planted|CLEANING_POLICIES/.test(line))).toEqual([])

  const second = await bind()
  writeFileSync(at('slow'), '')
  await giveUp(second.uuid)
  await until(
    async () => linesOf('begun'),
    (lines) => lines.length === 2,
  )
  expect(await shown()).toMatchObject({ state: 'releasing', cleaning: { under_way: true } })
  await service!.end('SIGKILL')
  rmSync(at('slow'))
  client = clientOf((await started()).base)
  await inState('free')
  const [, before, after] = linesOf('begun')
  expect(after).toBe(before)

  const third = await bind()
  writeFileSync(at('broken'), '')
  await giveUp(third.uuid)
  expect(await inState('quarantined')).toMatchObject({
    quarantine: { by: 'policy of cleaning', reason: `cleaning failed: ${at('wipe')} ended with exit code 5` },
    cleaning: { last: { exit_code: 5, output: 'no answer\n' } },
  })
  const { said } = handlesOf(service!)
  expect(await said('show', uuid)).toMatch(/^last cleaning\t\S+wipe at \S+ exit code 5 after/m)
  rmSync(at('broken'))
  expect(await said('clean', uuid, '--reason', 'the card answers again')).toMatch(/^state\treleasing$/m)
  await inState('free')
  expect((await bind()).state).toBe('Bound')
})
