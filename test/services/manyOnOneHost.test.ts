/** A host with more of something than one message or one look takes. */
import { expect, test } from 'vitest'
import { deployable } from '../../src/actors/deployable/decider.ts'
import { type Deployable } from '../../src/actors/deployable/state.ts'
import { host } from '../../src/actors/host/decider.ts'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { type Outcome, done, refuse } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { serverEntries } from '../../src/services/drift/ofServers.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { answerLedger } from '../../src/services/reports/ledgerAnswer.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readToHost } from '../../src/wire/message.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { novaServersOf } from '../support/novaServers.ts'
import { BOOT, inventoryOf } from '../support/reports.ts'

const uuid = (n: number) => `40000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const handleOf = (n: number, more: object = {}) => ({
  ...{ uuid: uuid(n), type: 'PCI', info: {}, state: 'held', arq: uuid(n), lastArq: null, pending: null, ...more },
})
const placeOf = (handles: readonly ReturnType<typeof handleOf>[], more: object = {}) =>
  ({
    ...deployable.initial,
    ...{ exists: true, uuid: uuid(9999), host: 'h1', name: 'card', driver: 'some_driver', rpUuid: 'rp', orders: 7 },
    handles: Object.fromEntries(handles.map((one) => [one.uuid, one])),
    ...more,
  }) as unknown as Deployable

/** The answers that a host gets which has lost its ledger. */
const answered = async (place: Deployable, refuses = false) => {
  const [log, sent]: readonly [ReturnType<typeof memoryLog>, BusRecord[]] = [memoryLog(), []]
  const held = { uuid: 'u', deployables: { card: uuid(9999) } }
  const known = { ...host.initial, exists: true, name: 'h1', bootId: BOOT, devices: { a: held } }
  const readCurrent = async (_: unknown, key: EntityKey) => done({ state: key === 'host/h1' ? known : place })
  const publish = async (records: readonly BusRecord[]) => {
    if (refuses) throw new Error('no broker')
    sent.push(...records)
  }
  const kernel = { clock: handClock(), log, publish, region: { readCurrent } } as unknown as Kernel
  const outcome = await answerLedger(kernel, inventoryOf('h1', 3, { ledger: 'new' }))
  const bodies = sent.map((record) => {
    const { id } = JSON.parse(record.value) as { readonly id: string }
    const read = readToHost(record)
    if (!read.ok || read.value.body.type !== 'LedgerAnswer') throw new Error('it cannot be read')
    return { id, body: read.value.body }
  })
  return { outcome, bodies, log }
}

test.each([
  [500, [500]],
  [501, [500, 1]],
])('%i slots are told in messages of %o, of which the last says so', async (count, sizes) => {
  const { outcome, bodies, log } = await answered(placeOf(Array.from({ length: count }, (_, n) => handleOf(n))))
  expect(outcome).toEqual(done(null))
  expect(bodies.map(({ id, body: { slots, last } }) => [id, slots.length, last])).toEqual(
    sizes.map((size, n) => [`${BOOT}.ledger.3.${n}`, size, n === sizes.length - 1]),
  )
  expect(new Set(bodies.flatMap(({ body }) => body.slots.map(({ slot }) => slot))).size).toBe(count)
  const detail = { host: 'h1', bootId: BOOT, slots: count }
  expect(log.said).toEqual([{ level: 'info', message: 'host.ledgerAnswered', detail }])
})
test('a slot is told with the number of its order, or the last one of its card, and what is still to be done', async () => {
  const prepare = { type: 'PrepareSlot', number: 4 }
  const handles = [
    handleOf(1),
    handleOf(2, { pending: prepare }),
    handleOf(3, { state: 'releasing', arq: null, pending: { type: 'ReleaseSlot', number: 5 } }),
    handleOf(4, { state: 'free', arq: null }),
  ]
  const { bodies } = await answered(placeOf(handles))
  const place = {
    driver: 'some_driver',
    deployable: 'card',
    deployableUuid: uuid(9999),
    handle: { type: 'PCI', info: {} },
  }
  expect(bodies.map(({ body }) => body)).toEqual([
    {
      ...{ type: 'LedgerAnswer', host: 'h1', bootId: BOOT, last: true },
      slots: [
        { slot: uuid(1), number: 7, ...place, arq: uuid(1) },
        { slot: uuid(2), number: 4, pending: 'PrepareSlot', ...place, arq: uuid(2) },
        { slot: uuid(3), number: 5, pending: 'ReleaseSlot', ...place },
      ],
    },
  ])
})
test('nothing is prepared of a card that has had no order', async () => {
  const slots = async (orders: number) =>
    (await answered(placeOf([handleOf(1)], { orders }))).bodies[0]!.body.slots.length
  expect([await slots(0), await slots(1)]).toEqual([0, 1])
})
test('an answer that cannot be put on the bus is asked for again', async () => {
  const { outcome } = await answered(placeOf([]), true)
  expect(outcome).toEqual(refuse({ kind: 'unavailable', reason: 'the bus: no broker', retryAfterSeconds: 1 }))
})

const servers = async (count: number, said: ReadonlyMap<string, NovaServer> = new Map()) => {
  const items = Array.from({ length: count }, (_, n) => ({
    ...{ uuid: uuid(n), instance_uuid: `i${n}`, deployable_uuid: uuid(9999), hostname: 'h1' },
  }))
  const asked: unknown[] = []
  const list = async (...question: readonly unknown[]): Promise<Outcome<object>> => {
    asked.push(question)
    return done({ items, next: null })
  }
  const nova = novaServersOf(said)
  const deployables = [placeOf(Array.from({ length: count }, (_, n) => handleOf(n)))]
  const shown = await serverEntries({ readers: { list } } as unknown as Kernel, nova.servers, { deployables })
  return { asked, count: nova.asked.length, trouble: shown.ok ? shown.value.trouble : shown }
}
test('Nova is asked about a thousand servers of a host, and the answer says if there are more', async () => {
  expect(await servers(0)).toEqual({ asked: [], count: 0, trouble: null })
  const uuids = Array.from({ length: 1000 }, (_, n) => uuid(n))
  const asked = [['arqs', { uuid: uuids, state: 'Bound' }, {}]]
  expect(await servers(1000)).toEqual({ asked, count: 1000, trouble: null })
  const reason = 'Nova was asked about 1000 of 1001 servers'
  expect(await servers(1001)).toMatchObject({ count: 1000, trouble: { state: 'unreachable', reason } })
  const silent = { state: 'unreachable', reason: 'Nova answered 500' }
  const said = new Map<string, NovaServer>([['i3', { is: 'unclear', reason: 'Nova answered 500' }]])
  expect(await servers(1001, said.set('i5', { is: 'unclear', reason: 'another' }))).toMatchObject({ trouble: silent })
})
