/** Results on their way to the bus. */
import { ledgerEntry } from './ledgerEntry.ts'
import { expect, test } from 'vitest'
import type { Bus } from '../../src/bus/port.ts'
import { systemIds } from '../../src/clock.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import type { Entry } from '../../src/host/entry.ts'
import { openLedger } from '../../src/host/ledger.ts'
import { Outbox } from '../../src/host/outbox.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const entry = (n: number, number = 1): Entry => ledgerEntry(`slot-${n}`, number, { sent: false })
const open = async (publish: Bus['publish']) => {
  const [clock, log] = [handClock(), memoryLog()]
  const ledger = await openLedger({ boot: 1, disk: memoryDisk(), path: '/l', host: 'h1', clock, log })
  const boot = { bootId: systemIds.uuid(), bootNumber: 1 }
  return { clock, outbox: new Outbox({ host: 'h1', boot, ledger, bus: { publish }, clock, ids: systemIds, log }) }
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
