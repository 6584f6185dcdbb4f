/** Results on their way to the bus. */
import { ledgerEntry } from './ledgerEntry.ts'
import { expect, test } from 'vitest'
import type { Bus } from '../../src/bus/port.ts'
import { systemIds } from '../../src/clock.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import type { Entry } from '../../src/host/entry.ts'
import { openLedger } from '../../src/host/ledger.ts'
import { Outbox } from '../../src/host/outbox.ts'
import { type BusRecord } from '../../src/wire/envelope.ts'
import { readReport } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const entry = (n: number, number = 1): Entry => ledgerEntry(`slot-${n}`, number, { sent: false })
const open = async (publish: Bus['publish']) => {
  const [clock, log] = [handClock(), memoryLog()]
  const ledger = await openLedger({ boot: 1, disk: memoryDisk(), path: '/l', host: 'h1', clock, log })
  const boot = { bootId: systemIds.uuid(), bootNumber: 1 }
  return {
    clock,
    ledger,
    outbox: new Outbox({ host: 'h1', boot, ledger, bus: { publish }, clock, ids: systemIds, log }),
  }
}

test('many results go in several messages to the bus, each of at most 200, one after the other', async () => {
  const sizes: number[] = []
  let [inHand, most] = [0, 0]
  const { outbox } = await open(async (batch) => {
    most = Math.max(most, ++inHand)
    sizes.push(batch.length)
    await Promise.resolve()
    inHand--
  })
  for (let n = 0; n < 450; n++) outbox.send(entry(n))
  await outbox.idle()
  expect([sizes, most, outbox.size]).toEqual([[200, 200, 50], 1, 0])
})

test('of a slot only the last result is sent, under one id however often it is tried', async () => {
  const ids: string[] = []
  let left = 2
  const { outbox, clock } = await open(async (batch) => {
    ids.push(...batch.map(({ headers }) => JSON.stringify(headers)))
    if (left-- > 0) throw new Error('no broker')
  })
  outbox.send(entry(1, 1))
  outbox.send(entry(1, 2))
  await clock.pass(1000)
  await outbox.idle()
  expect([ids.length, new Set(ids).size, outbox.size]).toEqual([3, 1, 0])
})

test('nothing is sent after the close', async () => {
  let published = 0
  const { outbox } = await open(async () => void published++)
  await outbox.close()
  outbox.send(entry(1))
  await outbox.idle()
  expect(published).toBe(0)
})

const SLOTS = ['a', 'b', 'c'].map((one) => `b0a79999-0000-4000-8000-00000000000${one}`) as [string, string, string]
const ARQ = 'b0a77000-0000-4000-8000-000000000000'
test('a result is told with its order and its times, and noted as sent once the bus has it, also after a restart (OUTBOX-1)', async () => {
  const [clock, log, disk] = [handClock(), memoryLog(), memoryDisk()]
  const opened = () => openLedger({ boot: 1, disk, path: '/l', host: 'h1', clock, log })
  const result = { status: 'failed', reason: 'no', final: false } as const
  const whole = { deployableUuid: SLOTS[1], arq: ARQ, trace: '00-ab-cd-01', startedAt: 7, finishedAt: 9, result }
  const entries = [
    ledgerEntry(SLOTS[0], 3, { sent: false, type: 'ReleaseSlot', ...whole }),
    ledgerEntry(SLOTS[1], 4, { deployableUuid: SLOTS[2] }),
    ledgerEntry(SLOTS[2], 5, { sent: false, state: 'in-hand', deployableUuid: SLOTS[1] }),
  ]
  const before = await opened()
  for (const one of entries) await before.write(one)
  const ledger = await opened()
  const heard: BusRecord[] = []
  const publish: Bus['publish'] = async (batch) => {
    if (heard.push(...batch) === 1) throw new Error('no broker')
  }
  const boot = { bootId: SLOTS[0], bootNumber: 5 }
  const outbox = new Outbox({ host: 'h1', boot, ledger, bus: { publish }, clock, ids: systemIds, log })
  expect(outbox.size).toBe(1)
  await quiet()
  expect([outbox.size, log.said]).toEqual([
    1,
    [
      {
        level: 'warn',
        detail: { host: 'h1', results: 1, reason: 'no broker', failures: 1 },
        message: 'outbox.again',
      },
    ],
  ])
  // it is tried again after a pause
  await clock.pass(49)
  expect(heard).toHaveLength(1)
  await clock.pass(1)
  await outbox.idle()
  const read = heard.map((record) => readReport(record)).map((one) => (one.ok ? one.value.body : one.fault))
  const told = {
    type: 'OrderResult',
    host: 'h1',
    ...boot,
    order: 'ReleaseSlot',
    slot: SLOTS[0],
    number: 3,
    ...whole,
  }
  expect(read).toEqual([told, told])
  await clock.pass(1000)
  expect((await opened()).all().map(({ number, sent }) => [number, sent])).toEqual([
    [4, true],
    [5, false],
    [3, true],
  ])
})

test('a result is not noted as sent where another order has come for its slot meanwhile', async () => {
  const [clock, log, disk] = [handClock(), memoryLog(), memoryDisk()]
  const ledger = await openLedger({ boot: 1, disk, path: '/l', host: 'h1', clock, log })
  const later: Entry[] = []
  const publish: Bus['publish'] = async () => {
    for (const one of later.splice(0)) await ledger.write(one)
  }
  const boot = { bootId: systemIds.uuid(), bootNumber: 1 }
  const outbox = new Outbox({ host: 'h1', boot, ledger, bus: { publish }, clock, ids: systemIds, log })
  for (const meanwhile of [entry(1, 2), { ...entry(1), state: 'in-hand' as const }, entry(1)]) {
    await ledger.write(entry(1))
    later.push(meanwhile)
    outbox.send(entry(1))
    await outbox.idle()
    expect(ledger.get('slot-1')).toEqual(
      meanwhile.number === 1 && meanwhile.state === 'done' ? { ...meanwhile, sent: true } : meanwhile,
    )
  }
})

test('a result that takes the place of one under way is sent after it', async () => {
  const numbers: number[] = []
  const made = await open(async (batch) => {
    numbers.push(...batch.map(({ value }) => (JSON.parse(value) as { data: { number: number } }).data.number))
    if (numbers.length === 1) made.outbox.send(entry(1, 2))
  })
  made.outbox.send(entry(1, 1))
  await made.outbox.idle()
  expect([numbers, made.outbox.size]).toEqual([[1, 2], 0])
})

test('what the bus takes after the close is not noted as sent', async () => {
  const gate = Promise.withResolvers<void>()
  const { outbox, ledger } = await open(() => gate.promise)
  await ledger.write(entry(1))
  outbox.send(entry(1))
  await quiet()
  const closed = outbox.close()
  gate.resolve()
  await closed
  expect(ledger.get('slot-1')?.sent).toBe(false)
})

test('a pause between attempts is no longer than five seconds', async () => {
  const times: number[] = []
  const { outbox, clock } = await open(async () => {
    times.push(clock.now())
    throw new Error('no broker')
  })
  outbox.send(entry(1))
  await clock.pass(25_000)
  expect(times.slice(1).map((at, n) => at - times[n]!)).toEqual([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
})

test('the pauses between attempts become longer, and short again after a success', async () => {
  const times: number[] = []
  let left = 4
  const { outbox, clock } = await open(async () => {
    times.push(clock.now())
    if (left-- > 0) throw new Error('no broker')
  })
  const begun = clock.now()
  outbox.send(entry(1))
  await clock.pass(10_000)
  ;[left] = [1]
  outbox.send(entry(2))
  await clock.pass(10_000)
  expect(times.map((at) => at - begun)).toEqual([0, 50, 150, 350, 750, 10_000, 10_050])
})
