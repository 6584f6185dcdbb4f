/** A host with more slots than one report has room for: which of them each report names. */
import { expect, test } from 'vitest'
import type { Entry } from '../../src/host/entry.ts'
import { handleKey } from '../../src/host/entry.ts'
import { Inventory } from '../../src/host/inventory.ts'
import { Measuring } from '../../src/host/measuring.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readReport } from '../../src/wire/message.ts'
import { systemIds } from '../../src/clock.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const slotOf = (n: number) => `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const hex = (n: number): string => n.toString(16).padStart(2, '0')
const addressOf = (n: number) => ({
  domain: '0000',
  bus: hex(n >> 8),
  device: hex((n >> 3) % 32),
  function: String(n % 8),
})
const entry = (n: number): Entry => ({
  slot: slotOf(n),
  number: n + 1,
  type: 'PrepareSlot',
  driver: 'd',
  deployable: 'p',
  deployableUuid: slotOf(n),
  handle: handleKey({ type: 'PCI', info: addressOf(n) }),
  state: 'done',
  startedAt: 1,
  finishedAt: 2,
  sent: true,
  prepared: true,
})
const COUNT = 3000

test('a report goes on where the one before ended, and a question does not move that', async () => {
  const [clock, heard]: readonly [ReturnType<typeof handClock>, BusRecord[]] = [handClock(), []]
  const bus = { publish: async (records: readonly BusRecord[]) => void heard.push(...records) }
  const inventory = new Inventory({
    host: 'h1',
    boot: { bootId: slotOf(0), bootNumber: 1 },
    version: '1',
    aliases: [],
    watches: [],
    measuring: new Measuring([], {
      host: 'h1',
      io: recordedHostIo({}),
      clock,
      log: memoryLog(),
      everyMs: 0,
      limitMs: 1,
    }),
    bus,
    clock,
    ids: systemIds,
    log: memoryLog(),
    reportEveryMs: 60_000,
    heartbeatEveryMs: 1e9,
    load: () => ({ ordersInHand: 0, resultsWaiting: 0 }),
    asking: () => false,
    ledger: () => Array.from({ length: COUNT }, (_, n) => entry(n)),
    placed: () => {},
    looked: () => {},
    playbooks: () => null,
    divided: (section) => section,
  })
  /** From, up to, how many, and what is answered. */
  const page = () => {
    const read = readReport(heard.at(-1)!)
    if (!read.ok || read.value.body.type !== 'Inventory') throw new Error(JSON.stringify(read))
    const { from, upTo, prepared, answers } = read.value.body.slots!
    return { from, upTo, count: prepared.length, answers }
  }
  const asks = async (id: string, from?: string) => {
    inventory.answer({ type: 'TellSlots', host: 'h1', bootId: slotOf(0), id, ...(from ? { from } : {}) })
    await inventory.idle()
    return page()
  }
  const reports = async () => {
    await inventory.report()
    return page()
  }
  const first = await reports()
  const { count } = first
  expect(count).toBeGreaterThan(COUNT / 10)
  expect(count).toBeLessThan(COUNT / 2)
  expect(first).toEqual({ upTo: slotOf(count - 1), count })
  expect(await asks('q1', slotOf(COUNT - 1))).toEqual({ from: slotOf(COUNT - 1), count: 1, answers: 'q1' })
  const second = await reports()
  expect(second.from).toBe(slotOf(count))
  expect(await asks('q2')).toEqual({ ...first, answers: 'q2' })
  // the end of the host's slots, after which it begins anew
  let [last, seen] = [second, count + second.count]
  while (last.upTo !== undefined) {
    last = await reports()
    seen += last.count
  }
  expect(seen).toBe(COUNT)
  expect(await reports()).toEqual(first)
  inventory.close()
  await quiet()
})
