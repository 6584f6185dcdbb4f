/** CPU of one message: of all while they are worked off, what is used at rest taken off. */
import { setTimeout as sleep } from 'node:timers/promises'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { type Scene, calm } from '../cluster/measure.ts'
import { type Cpu, cpuBetween, cpuOf } from '../cluster/stand.ts'
import type { Unit } from './results.ts'

const REST_MS = 5000
const PARTS = ['controls', 'hosts', 'broker', 'database'] as const
const each = (of: (part: (typeof PARTS)[number]) => number): Cpu =>
  Object.fromEntries(PARTS.map((part) => [part, of(part)])) as Cpu

/** CPU of a millisecond in which nothing is asked. */
export const restOf = async ({ stand, rig }: Scene): Promise<Cpu> => {
  await calm(stand)
  const [from, began] = [cpuOf(stand, rig), performance.now()]
  await sleep(REST_MS)
  const [used, ms] = [cpuBetween(from, cpuOf(stand, rig)), performance.now() - began]
  return each((part) => used[part] / ms)
}
export type Done = { readonly count: number; readonly bytes: number; readonly what: string }
export const unitOf = async ({ stand, rig }: Scene, rest: Cpu, work: () => Promise<Done>): Promise<Unit> => {
  const [from, began] = [cpuOf(stand, rig), performance.now()]
  const { count, ...done } = await work()
  const [used, ms] = [cpuBetween(from, cpuOf(stand, rig)), performance.now() - began]
  const cpu = each((part) => Math.max(0, used[part] - rest[part] * ms) / count)
  return { ...done, count, perSecond: (count * 1000) / ms, cpu }
}

const AT_ONCE = 500
const LIMIT_MS = 120_000
export const sizeOf = ({ key, value, headers }: BusRecord): number =>
  Buffer.byteLength(key + value + Object.entries(headers).flat().join(''))

/** Publishes them, so many a second at most, and waits until `done` says that they are worked off. */
export const published = async (
  { stand }: Scene,
  records: readonly BusRecord[],
  perSecond: number,
  done: () => Promise<boolean>,
): Promise<void> => {
  const bus = kafkaBus({ options: { ...stand.kafka, clientId: 'bench' }, clock: systemClock, log: silent })
  const began = performance.now()
  for (let at = 0; at < records.length; at += AT_ONCE) {
    await sleep(Math.max(0, began + (at * 1000) / perSecond - performance.now()))
    await bus.publish(records.slice(at, at + AT_ONCE))
  }
  await bus.stop()
  for (const end = performance.now() + LIMIT_MS; !(await done());) {
    if (performance.now() > end) throw new Error(`${records.length} messages were not worked off within ${LIMIT_MS} ms`)
    await sleep(50)
  }
}
