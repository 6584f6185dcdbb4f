/** The worker for passed deadlines: which entities it begins with, how many at once, and what it says of failures. */
import { describe, expect, test } from 'vitest'
import type { Read } from '../../src/actors/runtime/region.ts'
import { type Fault, type Outcome, refuse } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { deadlineWorker } from '../../src/services/due/lanes.ts'
import { AWAY, kernelOf } from '../support/kernelParts.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const HOLD = 120_000
const GONE: Fault = { kind: 'not_found', resource: 'instance', id: 'x' }
const key = (name: number | string): EntityKey => `instance/${name}`

const opened = () => {
  const [clock, log] = [handClock(), memoryLog()]
  const worker = deadlineWorker(kernelOf({ clock, log, options: { bindDeadlineMs: HOLD } }))
  const read: string[] = []
  const gate = Promise.withResolvers<Fault>()
  /** Instances that cannot be read until the gate opens. */
  const waiting = (async (_: unknown, one: EntityKey): Promise<Outcome<never>> => {
    read.push(one)
    return refuse(await gate.promise)
  }) as Read
  return { clock, log, worker, read, waiting, open: gate.resolve }
}

describe('an entity', () => {
  test.each([
    ['whose deadline has passed is begun with', 0, true],
    ['whose deadline is ahead is not', 1, false],
    ['whose deadline is as far ahead as a bind may take is not', HOLD, false],
    ['whose deadline is further ahead than that is not', HOLD + 1, false],
  ])('%s', async (_, ahead, isBegun) => {
    const { clock, worker, read, waiting } = opened()
    worker.begin(key(1), waiting, clock.now() + ahead)
    await quiet()
    expect([read, worker.isInHand(key(1))]).toEqual([isBegun ? [key(1)] : [], isBegun])
  })
  test('whose deadline lies too far ahead is begun with when it was seen for as long as a bind may take', async () => {
    const { clock, worker, read, waiting } = opened()
    const at = clock.now() + 3_600_000
    const begin = async () => {
      worker.begin(key(1), waiting, at)
      await quiet()
      return read
    }
    expect(await begin()).toEqual([])
    await clock.pass(HOLD - 1)
    expect(await begin()).toEqual([])
    await clock.pass(1)
    expect(await begin()).toEqual([key(1)])
  })
  test('is begun with once, and again when the work on it has ended', async () => {
    const { worker, read, waiting, open } = opened()
    for (let n = 0; n < 2; n++) worker.begin(key(1), waiting, 0)
    await quiet()
    expect(read).toHaveLength(1)
    open(AWAY)
    await worker.ended()
    expect(worker.isInHand(key(1))).toBe(false)
    worker.begin(key(1), waiting, 0)
    await worker.ended()
    expect(read).toHaveLength(2)
  })
  test('that cannot be worked on is named, unless the store is away', async () => {
    const { log, worker } = opened()
    worker.begin(key(1), async () => refuse(GONE), 0)
    worker.begin(key(2), async () => refuse(AWAY), 0)
    worker.begin(key(3), async () => Promise.reject(new Error('broken')), 0)
    worker.begin('profile/4', async () => refuse(GONE), 0)
    await worker.ended()
    const said = new Map(log.said.map(({ detail, ...rest }) => [detail['entity'], { ...rest, detail }]))
    const failed = (entity: EntityKey, error: string) =>
      ({ level: 'error', message: 'sweep.failed', detail: { entity, error } }) as const
    expect(said).toEqual(
      new Map<unknown, unknown>([
        [key(1), { level: 'warn', message: 'sweep.refused', detail: { entity: key(1), fault: GONE } }],
        [key(3), failed(key(3), 'broken')],
        ['profile/4', failed('profile/4', 'nobody attends to entities of the kind of profile/4')],
      ]),
    )
  })
})
test('two thousand are worked on at once, and a stop waits for all of them', async () => {
  const { worker, read, waiting, open } = opened()
  expect([worker.room(), worker.kinds]).toEqual([2000, ['instance', 'deployable']])
  for (let n = 0; n < 2001; n++) worker.begin(key(n), waiting, 0)
  expect([worker.room(), worker.isInHand(key(1999)), worker.isInHand(key(2000))]).toEqual([0, true, false])
  let stopped = false
  const stopping = worker.stop().then(() => (stopped = true))
  await quiet()
  expect(stopped).toBe(false)
  open(AWAY)
  await stopping
  worker.begin(key(2000), waiting, 0)
  await quiet()
  expect([read.length, worker.room()]).toEqual([2000, 2000])
})
