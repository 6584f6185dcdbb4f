/** A host speaks for itself: what it cannot take from others, and how much it may add. */
import { ENTITIES } from '../../src/actors/entities.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { openPlane, value } from '../support/plane.ts'
import { inventoryOf as reportOf } from '../support/reports.ts'
import { card, named, part, shown } from './cards.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let log: ReturnType<typeof memoryLog>
const clock = handClock()
beforeEach(async () => {
  log = memoryLog()
  world = await openPlane({ log, clock })
})
afterEach(() => world.plane.stop().then(world.store.close))

const names = async () => value(await world.control.deployables.list({}, {})).items.map(({ name }) => name)
const refusals = () => world.plane.counts().refusedReports

test('a host that shows a device under the name of another host is refused, also before that one reports', async () => {
  await world.report('evil', [shown(named(1, 'victim_0000:01:00.0'), named(2, 'evil_0000:02:00.0'))])
  expect(await names()).toEqual(['evil_0000:02:00.0'])
  expect(refusals()).toMatchObject({ foreign_name: 1 })
  await world.report('victim', [shown(named(1, 'victim_0000:01:00.0'))])
  expect(await names()).toEqual(['evil_0000:02:00.0', 'victim_0000:01:00.0'])
})
test('the name of a device that was away for a while is not taken meanwhile', async () => {
  await world.report('victim', [shown(named(1, 'victim_1'))])
  for (let report = 0; report < 3; report++) await world.report('victim', [shown()])
  await world.report('evil', [shown(named(1, 'victim_1'))])
  await world.report('victim', [shown(named(1, 'victim_1'))])
  expect(value(await world.control.deployables.list({}, {})).items).toMatchObject([
    { name: 'victim_1', hostname: 'victim' },
  ])
})
test('where the names of two hosts are the beginning of one name, it is that of the longer one', async () => {
  await world.report('rack_1', [shown(named(1, 'rack_1_card'))])
  await world.report('rack', [shown(named(1, 'rack_1_other'), named(2, 'rack_2_card'))])
  expect(await names()).toEqual(['rack_1_card', 'rack_2_card'])
})
test('many names of others are one refusal in the journal, and few lines in the log', async () => {
  await world.report('evil', [shown(...Array.from({ length: 200 }, (_, n) => named(n, `victim_${n}`)))])
  expect(await names()).toEqual([])
  expect(log.said.length).toBeLessThan(30)
})

const at = (round: number, n: number): ReportedDevice =>
  card(0, {
    controlPath: { type: 'PCI', info: `path ${round}.${n}` },
    deployables: [],
  })
const many = (round: number, count = 300) => shown(...Array.from({ length: count }, (_, n) => at(round, n)))
const rows = async () => (await world.store.journal.feed('', 100_000)).length
const devices = async () => value(await world.control.devices.list({}, { limit: 1000 })).items.length

test('a host that shows other devices each time is stopped until the hour is over, and keeps what it has', async () => {
  await world.report('evil', [many(0)])
  expect(await devices()).toBe(300)
  for (let round = 1; round < 9; round++) await world.report('evil', [many(round)])
  const before = await rows()
  for (let round = 9; round < 12; round++) await world.report('evil', [many(round)])
  // what goes is recorded still
  expect((await rows()) - before).toBeLessThan(2048)
  expect(refusals().too_many_devices).toBeGreaterThan(0)
  await world.report('honest', [shown(named(1, 'honest_1'))])
  expect(await names()).toEqual(['honest_1'])
  await clock.pass(3_600_000)
  await world.report('evil', [many(20)])
  expect(await devices()).toBe(301)
})
test('a host that describes its devices otherwise each time is stopped until the hour is over; what goes is recorded', async () => {
  const told = (round: number, count = 300) =>
    shown(...Array.from({ length: count }, (_, n) => ({ ...at(0, n), model: `model ${round}` })))
  const models = async () => new Set(value(await world.control.devices.list({}, {})).items.map(({ model }) => model))
  await world.report('evil', [many(0)])
  for (let round = 0; refusals().too_many_devices === 0; round++) {
    expect(round).toBeLessThan(40)
    await world.report('evil', [told(round)])
  }
  const before = await rows()
  for (let round = 50; round < 55; round++) await world.report('evil', [told(round)])
  expect((await rows()) - before).toBeLessThan(300)
  await world.report('evil', [told(60, 299)])
  const gone = value(await world.control.devices.list({}, {})).items.filter(({ presence }) => presence === 'missing')
  expect(gone).toHaveLength(1)
  await clock.pass(3_600_000)
  await world.report('evil', [told(70, 299)])
  expect(await models()).toContain('model 70')
})
test('the deployables that one device has had are limited too, whatever names they have', async () => {
  const of = (round: number) =>
    card(1, { deployables: Array.from({ length: 300 }, (_, n) => part(`evil_${round}.${n}`, { handles: [] })) })
  for (let round = 0; round < 8; round++) await world.report('evil', [shown(of(round))])
  expect(refusals().too_many_devices).toBeGreaterThan(0)
  await clock.pass(3_600_000)
  await world.report('evil', [shown(of(8))])
  expect(await names()).toHaveLength(6 * 300)
})
test('the attach handles that one device has had are limited too, and those that it has are still described', async () => {
  const handles = (round: number) =>
    Array.from({ length: 3000 }, (_, n) => ({ type: 'PCI' as const, info: { domain: `${round}`, bus: `${n}` } }))
  const of = (round: number, model = 'some card') =>
    card(1, { model, deployables: [part('evil_1', { handles: handles(round) })] })
  for (let round = 0; round < 5; round++) await world.report('evil', [shown(of(round))])
  expect(refusals().too_many_devices).toBe(1)
  await world.report('evil', [shown(of(0, 'another model'))])
  expect(value(await world.control.devices.list({}, {})).items).toMatchObject([{ model: 'another model' }])
  const [row] = value(await world.control.deployables.list({}, {})).items
  const { state } = value(await world.plane.region.readCurrent(ENTITIES['deployable']!, `deployable/${row!.uuid}`))
  expect(Object.keys(state.handles)).toHaveLength(12_000)
})
test('of the marks of a card that are others each time as many are kept as a message may hold', async () => {
  const marks = (round: number) => Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`${round}.${n}`, 'mark']))
  const { deployables } = named(1, 'evil_1')
  for (let round = 0; round < 3; round++)
    await world.report('evil', [shown(card(1, { deployables, card: { kind: { pci: '1' }, marks: marks(round) } }))])
  const held = value(await world.plane.region.readCurrent(ENTITIES['host']!, 'host/evil')).state.devices
  expect(Object.values<{ readonly card: unknown }>(held).map((one) => one.card)).toEqual([
    { kind: { pci: '1' }, marks: marks(2) },
  ])
})
test('the first inventory of a host is recorded whole, however large it is', async () => {
  await world.report('large', [many(0, 900)])
  expect(await devices()).toBe(900)
  expect(refusals().too_many_devices).toBe(0)
})
test('the id of a message of one host uses up none of another host', async () => {
  const inventory = (host: string) => reportOf(host, 1, { drivers: [shown(named(1, `${host}_1`))] })
  expect(await world.plane.reports.take(inventory('rogue'), 'boot/1')).toMatchObject({ ok: true })
  expect(await world.plane.reports.take(inventory('victim'), 'boot/1')).toMatchObject({ ok: true })
  expect(await names()).toEqual(['rogue_1', 'victim_1'])
})
