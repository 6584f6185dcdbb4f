/**
 * Every command that shows something, derived from the tree of commands, over a small cloud in which everything has
 * happened: each of its formats can be read, in a pipe it writes columns, and it takes the options of output that all
 * of them have. What is not run has its reason.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { CommandRow } from '../../src/cli/commandRow.ts'
import { withCommands } from '../../src/cli/commandLine.ts'
import { IMPACT_COLUMNS } from '../../src/cli/operators/impactLines.ts'
import { FORMATS } from '../../src/cli/output.ts'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { systemClock } from '../../src/clock.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { silent } from '../../src/log.ts'
import { callable } from '../../infra/commandsReference.ts'
import { rawTopics } from '../audit/topicsOf.ts'
import { createEvents } from '../delivery/eventsLab.ts'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { openLivedCloud } from '../golden/scenario.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { commandHere } from '../support/commandHere.ts'
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
let api: Listening
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
  api = await listen(app, { host: '127.0.0.1', port: 0 })
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
  file('timeline.json', (await commandHere(['arq', 'timeline', bound.uuid, '--json', '--api', `${urlOf(api)}/v2`])).out)
})
afterAll(async () => {
  await bus.stop()
  await broker.stop()
  events.stop()
  await api.close(0)
  await cloud.plane.stop()
  folder.remove()
})

const SERVES = 'serves until it is stopped'
const changes = (file: string): string => `changes something: ${file}`
const ACTING = changes('test/cli/actingCommands.test.ts')
const OPERATIONS = changes('test/cli/operations.test.ts')
const KEYS = changes('test/cli/apiCommands.test.ts')
const STOPPED = 'works on a stopped store, and tells how it goes: test/cli/seededStore.test.ts'
const NO_NOVA = 'needs a Nova: test/cli/orphans.test.ts'
const LETTERS = 'needs a dead letter: test/http/deadLetters.test.ts'
const IGNORED = changes('test/http/ignoredDrift.test.ts')
const IMAGES = changes('test/http/programDetail.test.ts')
/** Why a command is not run here, and the test that runs it. */
const NOT_RUN: Readonly<Record<string, string>> = {
  start: `${SERVES}: test/e2e/start.test.ts`,
  control: `${SERVES}: test/support/cluster.ts`,
  // the tests give it without its second word
  'host run': SERVES,
  'host restore': OPERATIONS,
  'host probe': changes('test/http/probe.test.ts'),
  'host approve': KEYS,
  'host rekey': KEYS,
  'device enable': ACTING,
  'handle quarantine': OPERATIONS,
  'handle release': OPERATIONS,
  'handle clean': changes('test/e2e/cleaning.test.ts'),
  'arq create': ACTING,
  'arq bind': ACTING,
  'arq unbind': ACTING,
  'arq delete': ACTING,
  'arq force-unbind': OPERATIONS,
  'delivery resend': changes('test/http/resendToNova.test.ts'),
  'drift ignore': IGNORED,
  'drift unignore': IGNORED,
  'bitstream preload': IMAGES,
  'bitstream revert': IMAGES,
  'profile create': ACTING,
  'profile set': ACTING,
  'dead-letter retry': changes('test/cli/brokerCommands.test.ts'),
  'dead-letter show': LETTERS,
  'dead-letter replay': LETTERS,
  'dead-letter drop': LETTERS,
  orphan: NO_NOVA,
  'orphan collect': NO_NOVA,
  seed: STOPPED,
  'rebuild-views': STOPPED,
  migrate: 'changes a database: test/cli/oneService.test.ts',
  archive: 'changes a database: test/e2e/archive.test.ts',
  import: "reads upstream's database, and its result is a report: test/cli/importOnce.test.ts",
  'device record': 'writes a folder: test/cli/devices.test.ts',
  'support-bundle': 'writes a file: test/cli/supportBundle.test.ts',
  completion: 'writes a script for a shell: test/cli/completion.test.ts',
  complete: 'answers that script: test/cli/completion.test.ts',
}
/** Words of the command that its test does not contain as arguments. */
const unsaid = ([name, why]: readonly [string, string]): readonly string[] => {
  const [, at] = /: (test\/\S+)$/.exec(why) ?? []
  if (at === undefined) return why === SERVES ? [] : [`${name}: no test is named`]
  const text = readFileSync(join(import.meta.dirname, '../..', at), 'utf8')
  // as an argument, or in a line as it is typed
  const isGiven = (word: string, before = '') =>
    [`['\`]${word}s?['\`\\s]`, `['\`]${before}s? ${word}['\`\\s]`].some((form) => new RegExp(form).test(text))
  const words = name.split(' ')
  return words.flatMap((word, n) => (isGiven(word, words[n - 1]) ? [] : [`${name}: ${at} has no ${word}`]))
}
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
  TRIED.includes(name) ? IMPACT_COLUMNS.map((column) => column.name) : columns
/** With `--json` they write a document for each row, in one line. */
const ROWS = ['event', 'tail']
const all = callable(withCommands(new CommandRow()))
const shown = all
  .map(([path, command]) => [path.join(' '), path, command] as const)
  .filter(([name]) => NOT_RUN[name] === undefined)
const has = (command: CommandRow, flag: string): boolean => command.options.some(({ long }) => long === flag)

test('what is not run is a command, and the rest is most of them', () => {
  const known = all.map(([path]) => path.join(' '))
  expect(Object.keys(NOT_RUN).filter((name) => !known.includes(name))).toEqual([])
  expect(
    [...Object.keys(MORE), ...REPORTS, ...TRIED, ...ROWS].filter((name) => !shown.some(([one]) => one === name)),
  ).toEqual([])
  expect(shown.length).toBeGreaterThan(30)
})

test('the test that is named instead gives the command', () => {
  expect(Object.entries(NOT_RUN).flatMap(unsaid)).toEqual([])
  expect(unsaid(['drift heal', 'x: test/cli/bitstream.test.ts'])).toEqual([
    'drift heal: test/cli/bitstream.test.ts has no drift',
    'drift heal: test/cli/bitstream.test.ts has no heal',
  ])
  expect(unsaid(['drift heal', 'because'])).toEqual(['drift heal: no test is named'])
})

/** What differs from run to run. */
const MEASURED: readonly (readonly [RegExp, string])[] = [
  [/\d+ ms (?:ahead of|behind) this machine/g, '0 ms beside this machine'],
  [/\(\d+\.\d s, \d+ MB\)/g, '(0 s)'],
  [/"(seconds|memoryMb)":[\d.]+/g, '"$1":0'],
]
const runOf = (path: readonly string[], command: CommandRow) => {
  const named = command.registeredArguments.some(({ required }) => required) ? [names[path[0]!]!] : []
  const asks = has(command, '--api') ? ['--api', path[0] === 'doctor' ? urlOf(api) : `${urlOf(api)}/v2`] : []
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
