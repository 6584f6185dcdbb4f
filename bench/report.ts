/**
 * How many unchanged pictures of a host the control side takes: real bytes through the in-process bus and the inbox, a
 * host of 8 devices with 16 handles each.
 */
import { openSystem } from '../src/cli/programs/system.ts'
import { systemIds } from '../src/vocabulary/clock.ts'
import { realHostIo } from '../src/drivers/hostIo.ts'
import { simulatedDriver } from '../src/drivers/simulated/simulated.ts'
import { sizedCloud } from '../src/drivers/simulated/cloud.ts'
import { silent } from '../src/vocabulary/log.ts'
import { memoryStore } from '../test/support/memoryStore/memory.ts'
import { reportRecord } from '../src/wire/message.ts'
import { newPrivateKey, signerFrom } from '../src/wire/signature.ts'
import type { InventoryReport } from '../src/wire/reports.ts'
import { noCatalogue } from '../test/support/images.ts'

const SIZE = { hosts: 16, devices: 8, handles: 16 }
const AT_ONCE = 512
const TAKEN_MS = 20_000

export type Unchanged = {
  readonly bytes: number
  /** Published and taken. */
  readonly takenPerSecond: number
  /** The host's own part, digest included. */
  readonly madePerSecond: number
}

const picture = async (at: number): Promise<Omit<InventoryReport, 'number'>> => {
  const { hostname, plan } = sizedCloud('bench', SIZE)[at]!
  const io = realHostIo({ hostname, stateDir: '/nonexistent', warn: () => {} })
  const devices = await simulatedDriver(plan).discover(io)
  const drivers: InventoryReport['drivers'] = [{ driver: 'simulated_driver', status: 'ok', devices }]
  const head = { host: hostname, bootId: systemIds.uuid(), observedAt: Date.now(), version: 'bench', aliases: [] }
  return { type: 'Inventory', ...head, drivers }
}

export const measureReports = async (seconds: number): Promise<Unchanged> => {
  const store = memoryStore()
  const system = await openSystem({ store, images: noCatalogue(), nova: null, log: silent })
  const pictures = await Promise.all(Array.from({ length: SIZE.hosts }, (_, at) => picture(at)))
  const signers = pictures.map(() => signerFrom(newPrivateKey()))
  let told = 0
  const batch = (count: number) =>
    Array.from({ length: count }, () => {
      // each host counts its own reports
      const number = 1 + Math.floor(told / SIZE.hosts)
      const at = told++ % SIZE.hosts
      const report = { ...pictures[at]!, number }
      return signers[at]!.signed(reportRecord(report, `${report.bootId}/${number}`, Date.now()))
    })
  const until = async (count: () => number, wanted: number) => {
    const end = performance.now() + TAKEN_MS
    while (count() < wanted) {
      if (performance.now() > end) throw new Error(`only ${count()} of ${wanted} reports were taken as expected`)
      await new Promise((turn) => setImmediate(turn))
    }
  }
  await system.bus.publish(batch(SIZE.hosts))
  await until(() => system.inbox.counts().taken, SIZE.hosts)
  let [taken, makingMs, takingMs] = [0, 0, 0]
  while (makingMs + takingMs < seconds * 1000) {
    const began = performance.now()
    const records = batch(AT_ONCE)
    const made = performance.now()
    await system.bus.publish(records)
    await until(() => system.inbox.counts().unchanged, (taken += AT_ONCE))
    makingMs += made - began
    takingMs += performance.now() - made
  }
  const bytes = Buffer.byteLength(batch(1)[0]!.value)
  await system.stop()
  await store.close()
  return { bytes, takenPerSecond: (taken * 1000) / takingMs, madePerSecond: (taken * 1000) / makingMs }
}
