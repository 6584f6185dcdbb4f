/**
 * A control and a host together, and a third party that may write to both topics: nothing that it writes has an effect.
 */
import { expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { startHost } from '../../src/host/host.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { orderRecord, readDeadLetter, readOrder, readReport, reportRecord } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { MAC_HEADER, SIGNATURE_HEADER, SIGNER_HEADER, type Signer } from '../../src/wire/signature.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { memoryLog, until } from '../support/lab.ts'
import { signerOf } from '../support/keys.ts'
import { withMac } from '../support/macs.ts'
import { NOVA, value } from '../support/plane.ts'
import { heartbeatOf } from '../support/reports.ts'
import { noCatalogue } from '../support/images.ts'

const rogue = signerOf('rogue')
const open = async () => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock })
  const images = noCatalogue()
  const system = await openSystem({ store: memoryStore(), images, nova: null, log, bus })
  const [io, driver] = [recordedHostIo({}, 'h1'), simulatedDriver({ seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })]
  const host = await startHost({
    ...{ name: 'h1', stateDir: '/state', bus, drivers: [driver], io, disk: memoryDisk() },
    ...{ clock: systemClock, ids: systemIds, log },
  })
  const [letters, orders, results]: [string[], BusRecord[], BusRecord[]] = [[], [], []]
  const listen = (topic: string, take: (record: BusRecord) => void) =>
    bus.consume({ topic, group: `test ${topic}`, from: 'earliest', take: async (record) => take(record) })
  await listen(CATALOGUE.deadLetters.topic, (record) => {
    const letter = readDeadLetter(record)
    if (letter.ok) letters.push(letter.value.body.reason)
  })
  await listen(CATALOGUE.hostOrders.topic, (record) => void (readOrder(record).ok && orders.push(record)))
  await listen(CATALOGUE.hostReports.topic, (record) => {
    const report = readReport(record)
    if (report.ok && report.value.body.type === 'OrderResult') results.push(record)
  })
  const prepared = () =>
    Object.keys(readEffects(io.kept()[effectsPath(io.stateDir, driver.name)] ?? null).prepared).length
  const stop = async () => {
    await host.stop()
    await system.stop()
  }
  const { control } = system.plane
  const place = async () =>
    (await control.deployables.list({}, {})) as { value: { items: readonly { rp_uuid: string }[] } }
  while ((await place()).value.items.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  value(await control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  const [made] = value(await control.arqs.create(NOVA, 'f'))
  const deviceRpUuid = (await place()).value.items[0]!.rp_uuid
  const bind = () =>
    control.arqs.bind(NOVA, [{ arq: made!.uuid, hostname: 'h1', deviceRpUuid, instanceUuid: systemIds.uuid() }])
  const state = async () => value(await control.arqs.get(NOVA, made!.uuid)).state
  return { bus, system, control, host, letters, orders, results, prepared, stop, bind, state }
}
const bound = async () => {
  const w = await open()
  value(await w.bind())
  while ((await w.state()) !== 'Bound') await new Promise((resolve) => setTimeout(resolve, 5))
  return w
}
test('the order and the result of a bind with host work are signed', async () => {
  const w = await bound()
  await until(() => w.results.length > 0, 'the result')
  for (const { headers } of [w.orders[0]!, w.results[0]!]) {
    expect(headers).toHaveProperty([SIGNATURE_HEADER])
    expect(headers).not.toHaveProperty([MAC_HEADER])
  }
  expect(w.letters).toEqual([])
  await w.stop()
})

const orderOf = (record: BusRecord): Order => {
  const read = readOrder(record)
  if (!read.ok) throw new Error(JSON.stringify(read.fault))
  return read.value.body
}
/** Ways in which a message can be given out for that of another. */
type Forge = (genuine: BusRecord, forged: BusRecord) => BusRecord
const FORGERIES: readonly (readonly [string, Forge])[] = [
  ['unsigned', (genuine, forged) => ({ ...forged, headers: without(genuine.headers) })],
  ['signed with a key of its own', (genuine, forged) => rogue.signed({ ...forged, headers: without(genuine.headers) })],
  ['with the headers of a genuine one', (genuine, forged) => ({ ...forged, headers: genuine.headers })],
  [
    'with a MAC of a key of its own in the name of the genuine one',
    (genuine, forged) => {
      const made = withMac({ ...forged, headers: without(genuine.headers) }, 'rogue', 'anybody')
      return { ...made, headers: { ...made.headers, [SIGNER_HEADER]: genuine.headers[SIGNER_HEADER]! } }
    },
  ],
]
const SIGNING: readonly string[] = [SIGNER_HEADER, SIGNATURE_HEADER, MAC_HEADER]
const without = (headers: BusRecord['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !SIGNING.includes(name)))

test.each(FORGERIES)('an order that is %s is not carried out, and is a dead letter', async (_, forge) => {
  const w = await bound()
  expect([w.prepared(), w.letters]).toEqual([1, []])
  const genuine = w.orders[0]!
  const prepare = orderOf(genuine)
  const release = { ...prepare, type: 'ReleaseSlot', number: prepare.number + 1 } as Order
  await w.bus.publish([forge(genuine, orderRecord(release, 'forged', Date.now()))])
  await until(() => w.letters.length === 1, 'the dead letter')
  expect(w.prepared()).toBe(1)
  expect(w.letters[0]).toMatch(/signature|signed|mac/)
  await w.stop()
})

test.each(FORGERIES)('a result that is %s binds nothing, and is a dead letter', async (_, forge) => {
  const w = await open()
  await w.host.stop()
  value(await w.bind())
  await until(() => w.orders.length > 0, 'the order')
  const { host, slot, number, deployableUuid, ...order } = orderOf(w.orders[0]!)
  const arq = 'arq' in order ? { arq: order.arq } : {}
  const { bootId } = w.host
  const head = {
    type: 'OrderResult',
    order: 'PrepareSlot',
    host,
    bootId,
    slot,
    number,
    deployableUuid,
    ...arq,
  } as const
  const forged = reportRecord(
    { ...head, startedAt: 1, finishedAt: 2, result: { status: 'done' } },
    systemIds.uuid(),
    Date.now(),
  )
  const genuine = signedByNobodyElse(w.host.publicKey, rogue).signed(reportRecord(heartbeatOf('h1'), 'beat', 0))
  await w.bus.publish([forge(genuine, forged)])
  await until(() => w.letters.length === 1, 'the dead letter')
  expect(await w.state()).toBe('BindStarted')
  expect(w.letters[0]).toMatch(/signature|signed|mac/)
  const { unsigned, foreign_key: foreignKey, bad_signature: bad } = w.system.plane.counts().refusedReports
  expect(unsigned + foreignKey + bad).toBe(1)
  await w.system.stop()
})
/** A signature that names the host's key and is not its own. */
const signedByNobodyElse = (publicKey: string, by: Signer): Signer => ({
  ...by,
  publicKey,
  signed: (record) => {
    const signed = by.signed(record)
    return { ...signed, headers: { ...signed.headers, [SIGNER_HEADER]: publicKey } }
  },
})
