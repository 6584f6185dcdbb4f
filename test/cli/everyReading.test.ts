/** Every command that only reads the API, over a small cloud in which everything has happened: each of its formats can be read. (`orphan` needs a Nova.) */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { CommandRow } from '../../src/cli/commandRow.ts'
import { withCommands } from '../../src/cli/commandLine.ts'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/log.ts'
import { callable } from '../../infra/commandsReference.ts'
import { openLivedCloud } from '../golden/scenario.ts'
import { commandHere } from '../support/commandHere.ts'
import { NOVA, value } from '../support/plane.ts'

let cloud: Awaited<ReturnType<typeof openLivedCloud>>
let api: Listening
/** What each object is called in this cloud. */
let names: Readonly<Record<string, string>>
beforeAll(async () => {
  cloud = await openLivedCloud()
  const { control, clock, ids } = cloud
  const options = { additiveMicroversion: true }
  const app = createApp({ control, identify: noauth, log: silent, clock, ids, options })
  api = await listen(app, { host: '127.0.0.1', port: 0 })
  const [arqs, handles, devices, profiles] = [
    value(await control.arqs.list(NOVA, {}, {})).items,
    value(await control.handles.list(NOVA, {}, {})).items,
    value(await control.devices.list({}, {})).items,
    value(await control.profiles.list(null, {}, { caller: NOVA, disabled: true })).items,
  ]
  const bound = arqs.find(({ state }) => state === 'Bound')!
  names = {
    arq: bound.uuid,
    device: devices[0]!.uuid,
    explain: profiles[0]!.name,
    handle: handles[0]!.uuid,
    host: 'compute-1',
    instance: bound.instance_uuid!,
    profile: profiles[0]!.name,
  }
})
afterAll(async () => {
  await api.close(0)
  await cloud.plane.stop()
})

const READING = new Set('list show timeline tree versions diff status explain drift usage'.split(' '))
/** They read something else than the API. */
const ELSEWHERE = ['dead-letter', 'policy', 'topic']
const reading = callable(withCommands(new CommandRow()))
  .filter(([path]) => READING.has(path.at(-1)!) && !ELSEWHERE.includes(path[0]!))
  .map(([path, command]) => [path.join(' '), path, command] as const)

test('there are such commands', () => expect(reading.length).toBeGreaterThan(15))

test.each(reading)('%s', async (_, path, command) => {
  const needs = command.registeredArguments.some(({ required }) => required) || path[0] === 'explain'
  const base = [...path, ...(needs ? [names[path[0]!]!] : []), '--api', `${urlOf(api)}/v2`]
  const run = async (...more: readonly string[]) => {
    const { code, out, err } = await commandHere([...base, ...more])
    expect([[0, 7].includes(code), err], `${base.join(' ')} ${more.join(' ')}: ${out}`).toEqual([true, ''])
    return out
  }
  const json = JSON.parse(await run('-f', 'json')) as unknown
  const lines = (await run('-f', 'jsonl')).split('\n').filter((line) => line !== '')
  const rows = lines.map((line) => JSON.parse(line) as unknown)
  expect(Array.isArray(json) ? json : [json]).toEqual(rows)
  expect(parseYaml(await run('-f', 'yaml'))).toEqual(json)
  expect((await run('-f', 'csv')).split('\n')[0]).toBe(command.columns.join(','))
  expect(JSON.parse(await run('--json'))).toBeTypeOf('object')
  const one = command.columns[0]!
  const chosen = JSON.parse(await run('-f', 'json', '-c', one)) as unknown
  for (const row of Array.isArray(chosen) ? chosen : [chosen]) expect(Object.keys(row as object)).toEqual([one])
})
