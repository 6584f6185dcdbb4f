/**
 * Every command that shows something, derived from the tree of commands, over a small cloud in which everything has
 * happened: each of its formats can be read, in a pipe it writes columns, and it takes the options of output that all
 * of them have.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { withCommands } from '../../src/cli/commandLine.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { callable } from '../../infra/commandsReference.ts'
import { rawTopics } from '../audit/topicsOf.ts'
import { createEvents } from '../delivery/eventsLab.ts'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { openLivedCloud } from '../golden/scenario.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { commandHere } from '../support/commandHere.ts'
import { type Serving, serving } from '../support/serving.ts'
import { optionsOf } from '../support/kafkaLab.ts'
import { NOVA, value } from '../support/plane.ts'
import { tempFolder } from '../support/program.ts'
import { systemHere } from '../support/systemHere.ts'

const folder = tempFolder('every-reading')
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
let cloud: Awaited<ReturnType<typeof openLivedCloud>>
let events: ReturnType<typeof createEvents>
let api: Serving
let broker: ScriptedBroker
let bus: KafkaBus
/** What each family of commands is asked about in this cloud. */
let names: Readonly<Record<string, string>>
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  cloud = await openLivedCloud()
  const { control, clock, ids, store } = cloud
  events = createEvents(store)
  const options = { additiveMicroversion: true }
  const system = systemHere({ app: () => app, store })
  const app: Hono = createApp({ control, events, system, identify: noauth, log: silent, clock, ids, options })
  api = await serving(app)
  broker = await scriptedBroker()
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
  const [arqs, handles, devices, profiles] = [
    value(await control.arqs.list(NOVA, {}, {})).items,
    value(await control.handles.list(NOVA, {}, {})).items,
    value(await control.devices.list({}, {})).items,
    value(await control.profiles.list(null, {}, { caller: NOVA, disabled: true })).items,
  ]
  const bound = arqs.find(({ state }) => state === 'Bound')!
  names = {
    arq: bound.uuid,
    bitstream: bound.deployable_uuid!,
    device: devices[0]!.uuid,
    explain: profiles[0]!.name,
    handle: handles[0]!.uuid,
    host: 'compute-1',
    instance: bound.instance_uuid!,
    profile: profiles[0]!.name,
  }
  const [sysfs, data] = [join(folder.path, 'sys'), join(folder.path, 'data')]
  unpackRecording('odd-host', sysfs)
  mkdirSync(data)
  env = {
    ACCELERANDO_KAFKA_BROKERS: broker.address,
    ACCELERANDO_LOG_LEVEL: 'silent',
    ACCELERANDO_DATA: data,
    ACCELERANDO_PCI_SYSFS_ROOT: sysfs,
  }
  await commandHere(['topic', 'create', '--partitions', '1'], env)
  const rows = await store.journal.feed('', 10_000)
  const plain = rawTopics(rows).flatMap(({ topic, key, value: text }) =>
    text === null ? [] : [{ topic, key, value: text, headers: {} }],
  )
  await bus.publish(plain)
  file('journal.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  file('map.json', JSON.stringify({ traits: { CUSTOM_OLD: 'CUSTOM_NEW' }, classes: {} }))
  file('timeline.json', (await commandHere(['arq', 'timeline', bound.uuid, '--json', '--api', `${api.url}/v2`])).out)
})
afterAll(async () => {
  await bus.stop()
  await broker.stop()
  events.stop()
  await api.close()
  await cloud.plane.stop()
  folder.remove()
})

/** They serve until they are stopped, change something, need a neighbour, or write something else than a result. */
const NOT_RUN: readonly string[] = [
  ...['start', 'control', 'host run'],
  ...['host restore', 'host probe', 'host approve', 'host rekey', 'device enable'],
  ...['handle quarantine', 'handle release', 'handle clean'],
  ...['arq create', 'arq bind', 'arq unbind', 'arq delete', 'arq force-unbind', 'delivery resend'],
  ...['drift ignore', 'drift unignore', 'bitstream preload', 'bitstream revert', 'profile create', 'profile set'],
  ...['dead-letter retry', 'dead-letter show', 'dead-letter replay', 'dead-letter drop', 'orphan', 'orphan collect'],
  ...['seed', 'rebuild-views', 'migrate', 'archive', 'import'],
  ...['device record', 'support-bundle', 'completion', 'complete'],
]
/** What a command needs besides the name of an object, so that it shows something and changes nothing. */
const MORE: Readonly<Record<string, () => readonly string[]>> = {
  explain: () => [names['explain']!],
  'arq timeline': () => ['--file', join(folder.path, 'timeline.json')],
  audit: () => ['--file', join(folder.path, 'journal.ndjson')],
  tail: () => ['--once'],
  'topic create': () => ['--dry-run'],
  'topic list': () => ['--partitions', '2'],
  'host retire': () => ['--dry-run', '--reason', 'a test'],
  'host remove': () => ['--dry-run', '--reason', 'a test'],
  'device disable': () => ['--dry-run'],
  'profile delete': () => ['--dry-run'],
  'profile migrate': () => ['--map', join(folder.path, 'map.json')],
}
/** Their text for people says more than the columns, so it is also written into a pipe. */
const REPORTS = [
  'audit',
  'device disable',
  'device scan',
  'doctor',
  'drift',
  'drift heal',
  'explain',
  'host remove',
  'host retire',
  'profile delete',
  'profile migrate',
  'status',
]
/** What they show of a change that is only tried has other columns than what they show of the object afterwards. */
const TRIED = ['device disable', 'host remove', 'host retire']
const columnsOf = (name: string, { columns }: CommandRow): readonly string[] =>
  TRIED.includes(name) ? ['uuid', 'state', 'project_id', 'instance_uuid', 'hostname'] : columns
/** With `--json` they write a document for each row, in one line. */
const ROWS = ['event', 'tail']
type CommandRow = ReturnType<typeof withCommands>
const FORMATS = ['table', 'json', 'jsonl', 'yaml', 'csv', 'value']
const all = callable(withCommands())
const shown = all
  .map(([path, command]) => [path.join(' '), path, command] as const)
  .filter(([name]) => !NOT_RUN.includes(name))
const has = (command: CommandRow, flag: string): boolean => command.options.some(({ long }) => long === flag)

test('what is not run is a command, and the rest is most of them', () => {
  const known = all.map(([path]) => path.join(' '))
  expect(NOT_RUN.filter((name) => !known.includes(name))).toEqual([])
  expect(
    [...Object.keys(MORE), ...REPORTS, ...TRIED, ...ROWS].filter((name) => !shown.some(([one]) => one === name)),
  ).toEqual([])
  expect(shown.length).toBeGreaterThan(30)
})

/** What differs from run to run. */
const MEASURED: readonly (readonly [RegExp, string])[] = [
  [/\d+ ms (?:ahead of|behind) this machine/g, '0 ms beside this machine'],
  [/\(\d+\.\d s, \d+ MB\)/g, '(0 s)'],
  [/"(seconds|memoryMb)":[\d.]+/g, '"$1":0'],
]
const runOf = (path: readonly string[], command: CommandRow) => {
  const named = command.registeredArguments.some(({ required }) => required) ? [names[path[0]!]!] : []
  const asks = has(command, '--api') ? ['--api', path[0] === 'doctor' ? api.url : `${api.url}/v2`] : []
  const base = [...path, ...named, ...(MORE[path.join(' ')]?.() ?? []), ...asks]
  return async (more: readonly string[], terminal = true): Promise<string> => {
    const { code, out, err } = await commandHere([...base, ...more], env, { terminal })
    expect([[0, 7].includes(code), err], `${base.join(' ')} ${more.join(' ')}: ${out}`).toEqual([true, ''])
    return MEASURED.reduce((text, [found, instead]) => text.replaceAll(found, instead), out)
  }
}
const linesOf = (out: string): readonly string[] => out.split('\n').slice(0, -1)

/** A machine that does other work as well needs a multiple of what they take alone. */
describe.each(shown)('%s', { timeout: 60_000 }, (name, path, command) => {
  test('has the options that every such command has', () => {
    const options = ['--format', '--column', '--no-header', '--json']
    expect(options.filter((option) => !has(command, option))).toEqual([])
    expect(has(command, '--sort-column')).toBe(has(command, '--limit'))
  })
  test('can be read in each format', async () => {
    const run = runOf(path, command)
    const json = JSON.parse(await run(['-f', 'json'])) as unknown
    const rows = linesOf(await run(['-f', 'jsonl'])).map((line) => JSON.parse(line) as unknown)
    expect(Array.isArray(json) ? json : [json]).toEqual(rows)
    expect(parseYaml(await run(['-f', 'yaml']))).toEqual(json)
    const csv = linesOf(await run(['-f', 'csv']))
    expect(csv[0]).toBe(columnsOf(name, command).join(','))
    expect(linesOf(await run(['-f', 'csv', '--no-header']))).toEqual(csv.slice(1))
    const documents = ROWS.includes(name) ? linesOf(await run(['--json'])) : [await run(['--json'])]
    for (const each of documents) expect(JSON.parse(each)).toBeTypeOf('object')
    const one = columnsOf(name, command)[0]!
    const chosen = JSON.parse(await run(['-f', 'json', '-c', one])) as unknown
    for (const row of Array.isArray(chosen) ? chosen : [chosen]) expect(Object.keys(row as object)).toEqual([one])
    if (!has(command, '--limit')) return
    const few = linesOf(await run(['-f', 'value', '--limit', '1', '--sort-column', one]))
    expect(few).toHaveLength(Math.min(1, rows.length))
  })
  test('writes columns with tabs into a pipe, or a report as it is', async () => {
    const run = runOf(path, command)
    const piped = linesOf(await run([], false))
    if (REPORTS.includes(name)) return expect(piped).toEqual(linesOf(await run([])))
    const cells = piped.map((line) => line.split('\t'))
    expect(piped.join('\n')).not.toMatch(/ \t|\t | {2,}/)
    if (!has(command, '--limit')) return expect(cells.every(({ length }) => length === 2)).toBe(true)
    expect([...new Set(cells.map(({ length }) => length))]).toEqual([command.columns.length])
    expect(linesOf(await run(['--no-header'], false))).toEqual(piped.slice(1))
  })
  test.each(FORMATS)('writes %s into a pipe as on a terminal', async (format) => {
    const run = runOf(path, command)
    expect(await run(['-f', format], false)).toBe(await run(['-f', format]))
  })
})

/** The commands of the routes that only answer whom a change would concern, if they are asked to. */
const DRY: Readonly<Record<string, string>> = {
  'POST /v2/devices/:uuid/disable': 'device disable',
  'POST /v2/hosts/:name/retire': 'host retire',
  'DELETE /v2/hosts/:name': 'host remove',
  'PATCH /v2/device_profiles/:id': 'profile set',
  'DELETE /v2/device_profiles/:id': 'profile delete',
  'DELETE /v2/device_profiles': 'profile delete',
  'POST /v2/drift/heal': 'drift heal',
}
const dry = ROUTES.filter(({ query }) => query !== undefined && 'dry_run' in query)
test('there are such routes', () => expect(dry.length).toBeGreaterThan(4))
test.each(dry.map(({ method, path }) => `${method} ${path}`))('%s can be tried from the command line', (route) => {
  const [, command] = all.find(([path]) => path.join(' ') === DRY[route])!
  expect([has(command, '--dry-run'), has(command, '--apply')]).toContain(true)
})
