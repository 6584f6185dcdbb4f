import { beforeEach, describe, expect, it } from 'vitest'
import { PACES } from '../../src/services/kernel/kernel.ts'
import { type Worker, createLane } from '../../src/services/due/lanes.ts'
import { put } from '../../src/actors/runtime/views.ts'
import type { EntityKey } from '../../src/vocabulary/identifiers.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { openCounters } from './counters.ts'

const KIND = 'instance'
const entity = (name: string) => `counter/${name}` as EntityKey

describe('a lane', () => {
  const opened = () => {
    const clock = handClock()
    const open = memoryStores({ exclusive: false, now: clock.now })
    const [store, other] = [open(clock.monotonic), open(clock.monotonic)]
    const begun: EntityKey[] = []
    const inHand = new Set<EntityKey>()
    let stopped: () => Promise<void> = async () => {}
    const worker: Worker = {
      kinds: [KIND],
      moment: clock.now,
      aheadMs: () => Infinity,
      room: () => 1,
      begin: (one) => void begun.push(one),
      isInHand: (one) => inHand.has(one),
      ended: async () => {},
      stop: () => stopped(),
    }
    const { region } = openCounters()
    const { journal, sharing } = store
    const lane = createLane({ region, sharing, clock, options: PACES, log: silent }, worker)
    const due = (name: string, at: number) =>
      journal.append({ rows: [], changes: [put('due', { entity: entity(name), kind: KIND, at })] })
    const claimedByOthers = () => other.sharing.claimDue([KIND], clock.now(), 10, PACES.claimMs)
    return {
      lane,
      clock,
      begun,
      inHand,
      due,
      claimedByOthers,
      onStop: (work: typeof stopped) => void (stopped = work),
    }
  }
  let one: ReturnType<typeof opened>
  beforeEach(() => void (one = opened()))

  it('LANE-4 leaves what is still due after three tries to its claim, and goes on with those behind it', async () => {
    await one.due('first', 1)
    await one.due('second', 2)
    for (let n = 0; n < 4; n++) await one.lane.round()
    const [first, second] = [entity('first'), entity('second')]
    expect(one.begun).toEqual([first, first, first, second])
    // when its claim is over it is tried again
    for (let n = 0; n < 2; n++) await one.lane.round()
    expect(one.begun.slice(4)).toEqual([second, second])
    // the claim has to be seen before it can be seen to be over
    await one.lane.round()
    await one.clock.pass(PACES.claimMs + 1)
    await one.lane.round()
    expect(one.begun.at(-1)).toBe(first)
  })
  it('LANE-4 counts anew when it is due at another moment', async () => {
    await one.due('first', 1)
    for (let n = 0; n < 2; n++) await one.lane.round()
    await one.due('first', 3)
    for (let n = 0; n < 3; n++) await one.lane.round()
    expect(one.begun).toHaveLength(5)
  })
  it('LANE-2 claims no more than its worker has room for, and at most 500 at once', async () => {
    const clock = handClock()
    const store = memoryStores({ exclusive: false, now: clock.now })()
    const { region } = openCounters()
    const asked: unknown[] = []
    const sharing: typeof store.sharing = {
      ...store.sharing,
      claimDue: async (...call) => {
        asked.push(call)
        return []
      },
    }
    let room = 0
    const idle = { begin: () => {}, isInHand: () => false, ended: async () => {}, stop: async () => {} }
    const worker: Worker = { kinds: [KIND], moment: () => 5, aheadMs: () => 100, room: () => room, ...idle }
    const lane = createLane({ region, sharing, clock, options: PACES, log: silent }, worker)
    const rounds: unknown[] = []
    for (room of [0, 1, 500, 501]) {
      asked.length = 0
      await lane.round()
      rounds.push([...asked])
      await clock.pass(4000)
    }
    const start = clock.now() - 16_000
    const due = (limit: number) => [[KIND], 5, limit, PACES.claimMs]
    // what lies too far ahead is looked for every ten seconds (LANE-5)
    const far = (afterMs: number, limit: number) => [[KIND], { after: start + afterMs + 100 }, limit, PACES.claimMs]
    expect(rounds).toEqual([[], [due(1)], [due(500)], [due(500), far(12_000, 500)]])
  })
  it('LANE-3 ends its claims when it stops, also on what was in hand until then', async () => {
    await one.due('first', 1)
    await one.lane.round()
    one.inHand.add(entity('first'))
    one.onStop(async () => {
      await Promise.resolve()
      one.inHand.clear()
    })
    expect(await one.claimedByOthers()).toEqual([])
    await one.lane.stop()
    expect(await one.claimedByOthers()).toMatchObject([{ entity: entity('first') }])
  })
})
