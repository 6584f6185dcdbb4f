/** Refused answers about an earlier moment: what is too long, what is in the archive, and what runs already. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/actors/control.ts'
import type { FeedRow, Journal, Landmarks } from '../../src/actors/runtime/ports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { FPGA, openCloud } from '../actors/cloud.ts'
import { handClock, quiet } from '../support/lab.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'

const AT = 1_800_000_000_000
const PROFILE = '50000000-0000-4000-8000-000000000001'
const row = (at: number, key = 'numbers/x'): FeedRow => ({
  key,
  version: 1,
  commandId: '50000000-0000-4000-8000-000000000002',
  at,
  cause: {},
  events: [],
  position: '1',
})
const opened = async (more: Partial<Journal>, landmarks: Partial<Landmarks> | null = null) => {
  const store = memoryStore()
  const journal = { ...store.journal, ...more }
  const parts = { landmarks: landmarks && { ...store.landmarks, ...landmarks }, options: { sweepEveryMs: 86_400_000 } }
  return openPlane(parts, { ...store, journal })
}
const conflict = (reason: string) => ({ ok: false, fault: { kind: 'conflict', reason } })
const TOO_LONG = conflict(
  'the journal has more than 500000 rows up to that moment, which is too many for a list; ask for one object by its UUID',
)
const NOTHING = { ok: true, value: { items: [], next: null } }

describe('a list of an earlier moment', () => {
  test('is refused when the journal is too long', async () => {
    const [whole, rest] = [Array.from({ length: 1000 }, () => row(AT)), Array.from({ length: 999 }, () => row(AT))]
    const read = async (pages: number) => {
      let calls = 0
      const { control, plane } = await opened({ feed: async () => (++calls <= pages ? whole : rest) })
      calls = 0
      const answer = await control.asOf(AT).hosts.list({})
      await plane.stop()
      return [answer, calls]
    }
    expect(await read(500)).toEqual([NOTHING, 501])
    expect(await read(501)).toEqual([TOO_LONG, 501])
  })
  test('ends with the first rows that are so late that no earlier one can follow', async () => {
    const read = async (latest: number) => {
      let calls = 0
      const page = [...Array.from({ length: 999 }, () => row(AT + 700_000)), row(latest)]
      const { control, plane } = await opened({ feed: async () => (calls++ === 0 ? page : []) })
      calls = 0
      expect(await control.asOf(AT).hosts.list({})).toEqual(NOTHING)
      await plane.stop()
      return calls
    }
    expect(await read(AT + 600_000)).toBe(2)
    expect(await read(AT + 600_001)).toBe(1)
  })
  test('is given one after the other to a project, refused when many of it wait, and given to others beside it', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const { control, plane } = await opened({ feed: () => gate.then(() => []) })
    const listed = (projectId: string, more: Partial<Caller> = {}) => {
      const caller = { ...TENANT, projectId, ...more }
      return control.asOf(AT, caller).arqs.list(caller, {}, {})
    }
    const own = Array.from({ length: 5 }, () => listed('p1'))
    await quiet()
    const reason = 'The project has 1 of the 3 places for lists of the past, which is its share.'
    expect(await listed('p1')).toEqual({ ok: false, fault: { kind: 'crowded', reason, retryAfterSeconds: 2 } })
    const others = [listed('p2'), listed('p1', { isAdmin: true }), listed('p1', { isOver: () => true })]
    open()
    expect(await Promise.all(own)).toEqual(own.map(() => NOTHING))
    expect((await Promise.all(others)).map(({ ok }) => ok)).toEqual([true, true, false])
    await plane.stop()
  })
  test('is not folded further once nobody waits for it', async () => {
    let calls = 0
    const page = Array.from({ length: 1000 }, () => row(AT))
    const { control, plane } = await opened({ feed: async () => (calls++, page) })
    calls = 0
    const asked = control.asOf(AT, { ...NOVA, isOver: () => calls >= 3 }).hosts.list({})
    expect(await asked).toMatchObject({ ok: false, fault: { kind: 'unavailable' } })
    expect(calls).toBe(3)
    await plane.stop()
  })
  test('of requests is folded from those of the project that asks, also of one that came to it by a bind', async () => {
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, { options: { sweepEveryMs: 86_400_000 } })
    const [[arq], [kept]] = [await cloud.create(), await cloud.create()]
    const before = Date.now()
    await pause(2)
    const binding = cloud.bindingOf(arq!, randomUUID(), { projectId: 'p2' })
    value(await cloud.control.arqs.bind(NOVA, [binding]))
    const listed = async (at: number, projectId: string) => {
      const caller = { ...TENANT, projectId }
      return value(await cloud.control.asOf(at, caller).arqs.list(caller, {}, {})).items.map(({ uuid }) => uuid)
    }
    expect(await listed(before, 'p1')).toEqual([arq, kept])
    expect(await listed(before, 'p2')).toEqual([])
    const after = Date.now()
    expect(await listed(after, 'p1')).toEqual([kept])
    expect(await listed(after, 'p2')).toEqual([arq])
    await cloud.stop()
  })
  test('of requests is refused when some that existed then are in the archive', async () => {
    const asked: string[] = []
    const landmarks: Partial<Landmarks> = {
      horizon: async () => '7',
      at: async (position) => {
        asked.push(position)
        return row(AT)
      },
    }
    const { control, plane } = await opened({}, landmarks)
    const reason =
      'accelerator requests that were deleted before 2027-01-15T08:00:00.000Z are in the archive, so there are no lists of earlier moments; ask for one by its UUID'
    expect(await control.asOf(AT - 1).arqs.list(NOVA, {}, {})).toEqual(conflict(reason))
    expect(await control.asOf(AT).arqs.list(NOVA, {}, {})).toEqual(NOTHING)
    expect(asked).toEqual(['7', '7'])
    expect(await control.asOf(AT - 1).hosts.list({})).toEqual(NOTHING)
    expect(asked).toHaveLength(2)
    await plane.stop()
  })
  test('of requests is given where nothing was archived', async () => {
    const at = async () => Promise.reject(new Error('it is not asked'))
    const { control, plane } = await opened({}, { horizon: async () => '', at })
    expect(await control.asOf(AT).arqs.list(NOVA, {}, {})).toEqual(NOTHING)
    await plane.stop()
  })
})

test('one object of an earlier moment is refused when it has too many rows, unless the moment is among them', async () => {
  const read = async (count: number, last: number) => {
    const rows = Array.from({ length: count }, (_, n) => ({ ...row(AT, `profile/${PROFILE}`), version: n + 1 }))
    const { control, plane } = await opened({
      history: async () => [...rows.slice(1), row(last, `profile/${PROFILE}`)],
    })
    const answer = await control.asOf(AT).profiles.byUuid(PROFILE)
    await plane.stop()
    return answer
  }
  const missing = { ok: false, fault: { kind: 'not_found', resource: 'device profile', id: PROFILE } }
  expect(await read(20_000, AT)).toEqual(TOO_LONG)
  expect(await read(20_000, AT + 1)).toEqual(missing)
  expect(await read(19_999, AT)).toEqual(missing)
})

test('whether all requests of an instance were bound is answered as of then', async () => {
  const store = memoryStore()
  const clock = handClock()
  const options = { sweepEveryMs: 86_400_000 }
  const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, { clock, options }, store, 'when told')
  const { arqs, arq, instance } = await cloud.start()
  await cloud.pump()
  const [before, bound] = [clock.now(), clock.now() + 5000]
  await clock.pass(5000)
  await cloud.answer(cloud.orders[0]!)
  const resolved = (at: number) => cloud.control.asOf(at).arqs.list(NOVA, { instance, resolvedOnly: true }, {})
  expect(await resolved(before)).toEqual({ ok: false, fault: { kind: 'unresolved', instance } })
  expect(value(await resolved(bound)).items).toMatchObject([{ uuid: arq, state: 'Bound' }])
  // of a service that asks for an instance, a list is refused only if a bind had failed by then
  const listed = value(await cloud.control.asOf(before).arqs.list(NOVA, { instance }, {}))
  expect(listed.items.map(({ uuid, state }) => [uuid, state])).toEqual(arqs.map((uuid) => [uuid, 'BindStarted']))
  await Promise.all([cloud.stop(), clock.pass(10_000)])
})

test('what the feed does not show yet is added from the entities themselves', async () => {
  const store = memoryStore()
  const world = await openPlane({ options: { sweepEveryMs: 86_400_000 } }, store)
  const made = value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: [] }))
  const at = Date.now()
  await world.plane.stop()
  const list = async (more: Partial<Journal>) => {
    const journal = { ...store.journal, ...more }
    const { control, plane } = await openPlane({ options: { sweepEveryMs: 86_400_000 } }, { ...store, journal })
    const { items } = value(await control.asOf(at).profiles.list(null, {}))
    await plane.stop()
    return items
  }
  expect(await list({ feed: async () => [] })).toEqual([made])
  // an entity that is recalled from a snapshot is folded from its whole history
  const recall: Journal['recall'] = async (wishes) =>
    new Map(wishes.map(({ key }) => [key, { snapshot: { version: 1, memory: null }, rows: [] }]))
  expect(await list({ recall })).toEqual([made])
  const lost: Journal['recall'] = async (wishes) =>
    new Map(wishes.map(({ key }) => [key, { void: true, snapshot: null, rows: [] }]))
  expect(await list({ recall: lost })).toEqual([made])
})
