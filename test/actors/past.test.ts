/** What is answered of an earlier moment is what was answered then: over a random history, on each store. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Past } from '../../src/actors/control.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { type Pool, ownPostgresPool, pglitePool } from '../support/storePools.ts'

const CARDS = {
  seed: 1,
  devices: [
    { kind: 'gpu' as const, handles: 3 },
    { kind: 'nic' as const, handles: 2, hostWork: false },
  ],
}
const NOTE = { by: 'kim', reason: 'a test' }
const ADMIN: Caller = { ...NOVA, isService: false }
const STRANGER: Caller = { ...TENANT, projectId: 'another-project' }
const CALLERS = { admin: ADMIN, tenant: TENANT, stranger: STRANGER }
type Plane = Awaited<ReturnType<typeof openPlane>>

/** Everything that can be asked of the past, as it is answered. */
const answersOf = async (past: Past) => {
  const rows = {
    profiles: value(await past.profiles.list(null, {})).items,
    devices: value(await past.devices.list({}, { sort: 'uuid' })).items,
    deployables: value(await past.deployables.list({}, { sort: 'uuid', descending: true })).items,
    hosts: value(await past.hosts.list({})).items.map((row) => ({ ...row, last_seen_at: null })),
  }
  const lists = await Promise.all(
    Object.entries(CALLERS).map(async ([name, caller]) => [name, value(await past.arqs.list(caller, {}, {})).items]),
  )
  const ones = await Promise.all([
    ...rows.profiles.map(({ name }) => past.profiles.byName(name)),
    ...rows.devices.map(({ uuid }) => past.devices.get(uuid)),
    ...rows.deployables.map(({ uuid }) => past.deployables.get(uuid)),
  ])
  const shown = await Promise.all(rows.hosts.map(({ name }) => past.hosts.get(TENANT, name)))
  return {
    ...rows,
    ...Object.fromEntries(lists),
    ones,
    shown: shown.map((one) => ({ ...value(one), last_seen_at: null })),
  }
}

/** A life with all kinds of changes, one after the other. */
const STEPS: readonly ((plane: Plane, bound: string[]) => Promise<unknown>)[] = [
  ({ shows }) => shows('h0', CARDS),
  ({ control }) =>
    control.profiles.create(NOVA, { name: 'gpu', description: null, groups: [{ 'resources:PGPU': '1' }] }),
  async ({ control }, bound) => {
    const [arq] = value(await control.arqs.create(TENANT, 'gpu'))
    const place = value(await control.deployables.list({}, {})).items.find(({ name }) => name.includes('00:00.0'))!
    const instanceUuid = randomUUID()
    bound.push(arq!.uuid)
    const binding = { arq: arq!.uuid, hostname: 'h0', deviceRpUuid: place.rp_uuid!, instanceUuid }
    value(await control.arqs.bind(NOVA, [binding]))
  },
  async ({ control }) => control.arqs.create(STRANGER, 'gpu'),
  async ({ control }) => {
    const [device] = value(await control.devices.list({}, {})).items
    return control.devices.setStatus(NOVA, device!.uuid, 'maintaining')
  },
  ({ shows }) => shows('h0', { ...CARDS, devices: CARDS.devices.slice(1) }),
  ({ control }, bound) => control.arqs.unbind(NOVA, [bound[0]!]),
  ({ control }, bound) => control.arqs.remove(NOVA, [bound[0]!]),
  ({ control }) => control.hosts.retire(NOVA, 'h0', NOTE),
  ({ control }) => control.hosts.restore(NOVA, 'h0', NOTE),
  ({ shows }) => shows('h0', CARDS),
  async ({ control }) => {
    const others = value(await control.arqs.list(ADMIN, {}, {})).items.map(({ uuid }) => uuid)
    await control.arqs.remove(NOVA, others)
    return control.profiles.remove(NOVA, ['gpu'])
  },
]

const over = (pool: Pool): void => {
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)

  test('every answer of every moment is given again', async () => {
    const clock = handClock()
    const store = await pool.take(clock.now)
    const options = { sweepEveryMs: 24 * 3_600_000 }
    const plane = await openPlane({ clock, options, landmarks: store.landmarks }, store)
    const { control } = plane
    const seen: { readonly at: number; readonly answers: unknown }[] = []
    const bound: string[] = []
    for (const step of STEPS) {
      await step(plane, bound)
      await clock.pass(1000)
      seen.push({ at: clock.now(), answers: await answersOf(control) })
      await clock.pass(1000)
    }
    for (const { at, answers } of seen) expect(await answersOf(control.asOf(at))).toEqual(answers)
    const nothing = { profiles: [], devices: [], deployables: [], hosts: [], admin: [], ones: [], shown: [] }
    expect(await answersOf(control.asOf(seen[0]!.at - 3_600_000))).toMatchObject(nothing)
    const gone = { ok: false, fault: { kind: 'not_found' } }
    expect(await control.arqs.get(ADMIN, bound[0]!)).toMatchObject(gone)
    expect(await control.asOf(seen[4]!.at).arqs.get(TENANT, bound[0]!)).toMatchObject({ value: { state: 'Bound' } })
    expect(await control.asOf(seen[4]!.at).arqs.get(STRANGER, bound[0]!)).toMatchObject(gone)
    const stepsAt = async (at: number, caller: Caller = TENANT) => {
      const timeline = await control.asOf(at).arqs.timeline(caller, bound[0]!)
      return timeline.ok ? timeline.value.steps.map(({ step }) => step) : timeline.fault.kind
    }
    const whole = value(await control.arqs.timeline(TENANT, bound[0]!)).steps
    expect([whole[0]?.step, whole.at(-1)?.step]).toEqual(['created', 'deleted'])
    for (const { at } of seen) {
      const until = whole.filter((step) => step.at <= at).map(({ step }) => step)
      expect(await stepsAt(at)).toEqual(until.length === 0 ? 'not_found' : until)
      expect(await stepsAt(at, STRANGER)).toBe('not_found')
    }
    await plane.plane.stop()
    await store.close()
  })
}

test('the timeline of a deleted request cannot be read for longer by asking for an earlier moment', async () => {
  const clock = handClock()
  const options = { sweepEveryMs: 24 * 3_600_000, timelineKeptMs: 60_000 }
  const plane = await openPlane({ clock, options }, memoryStore({ now: clock.now }))
  const { control } = plane
  value(await control.profiles.create(NOVA, { name: 'gpu', description: null, groups: [{ 'resources:PGPU': '1' }] }))
  const [arq] = value(await control.arqs.create(TENANT, 'gpu'))
  const [at] = [clock.now(), await clock.pass(1000)]
  value(await control.arqs.remove(TENANT, [arq!.uuid]))
  await clock.pass(60_000)
  const then = value(await control.asOf(at).arqs.timeline(TENANT, arq!.uuid))
  expect([then.deleted, then.steps.map(({ step }) => step)]).toEqual([false, ['created']])
  await clock.pass(1)
  const gone = { ok: false, fault: { kind: 'not_found' } }
  expect(await control.arqs.timeline(TENANT, arq!.uuid)).toMatchObject(gone)
  expect(await control.asOf(at).arqs.timeline(TENANT, arq!.uuid)).toMatchObject(gone)
  await plane.plane.stop()
})

test('a list of an earlier moment is whole where the journal has more rows than are read at once', async () => {
  const clock = handClock()
  const plane = await openPlane({ clock, options: { sweepEveryMs: 24 * 3_600_000 } }, memoryStore({ now: clock.now }))
  const { control } = plane
  const names = Array.from({ length: 1100 }, (_, n) => `profile-${n}`)
  for (const name of names)
    value(await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:PGPU': '1' }] }))
  const [at] = [clock.now(), await clock.pass(1000)]
  value(await control.profiles.remove(NOVA, names.slice(500)))
  const before = value(await control.asOf(at).profiles.list(null, {})).items.map(({ name }) => name)
  expect(before.toSorted()).toEqual(names.toSorted())
  await plane.plane.stop()
})

describe('memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(ownPostgresPool(bin)))
