/**
 * Reports of usage equal what the journal's events say, whatever happened, also after the archive and a rebuild: on
 * every store.
 */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { expectRebuilt } from '../actors/rebuilt.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import type { Source } from '../support/stores.ts'

type Usage = Extract<Awaited<ReturnType<Control['usage']>>, { readonly ok: true }>['value']
type UsageLine = Usage['lines'][number]
type UsagePeriod = Parameters<Control['usage']>[1]['period']
const PERIODS: readonly UsagePeriod[] = ['total', 'day', 'month']

const DAY = 86_400_000
const NEVER = 100 * 365 * DAY
const ADMIN = { ...NOVA, projectId: 'admins' }
const PROJECTS = ['p1', 'p2']
const PROFILES = {
  gpu: { 'resources:PGPU': '1' },
  card: { 'resources:FPGA': '1' },
  pair: { 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_XILINX': 'required' },
} as const
type Profile = keyof typeof PROFILES
const step = fc.record({
  do: fc.constantFrom('bind', 'bind', 'bind', 'unbind', 'remove', 'leave', 'force', 'again'),
  profile: fc.constantFrom<Profile>('gpu', 'card', 'pair'),
  project: fc.constantFrom(...PROJECTS),
  at: fc.nat({ max: 20 }),
  pause: fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 40 * DAY })),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const openWorld = async (stores: Source) => {
  const clock = handClock()
  const store = await stores(clock.now)
  const options = { sweepEveryMs: NEVER, staleAfterMs: NEVER, downAfterMs: NEVER }
  const world = await openPlane({ clock, options }, store)
  await world.shows('h1', {
    seed: 3,
    devices: [
      { kind: 'gpu', handles: 3 },
      { kind: 'fpga', handles: 3, hostWork: false },
      { kind: 'fpga', handles: 2, functions: 2, hostWork: false },
    ],
  })
  for (const [name, group] of Object.entries(PROFILES))
    value(await world.control.profiles.create(NOVA, { name, description: null, groups: [group] }))
  const deployables = value(await world.control.deployables.list({}, {})).items.map(({ rp_uuid: uuid }) => uuid!)
  return { ...world, clock, deployables }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** On the first device that takes them. */
const bindSomewhere = async ({ control, deployables }: World, arqs: readonly string[]) => {
  const instanceUuid = randomUUID()
  for (const deviceRpUuid of deployables) {
    const bindings = arqs.map((arq) => ({ arq, hostname: 'h1', deviceRpUuid, instanceUuid }))
    if ((await control.arqs.bind(NOVA, bindings)).ok) return
  }
}
const play = async (world: World, { do: what, profile, project, at, pause }: Step) => {
  const { control, clock, pump } = world
  const all = value(await control.arqs.list(ADMIN, {}, {})).items
  const [one, bound] = [all[at % Math.max(1, all.length)], all.filter(({ state }) => state === 'Bound')]
  const chosen = bound[at % Math.max(1, bound.length)]
  if (what === 'bind') {
    const made = value(await control.arqs.create({ ...TENANT, projectId: project }, profile))
    await bindSomewhere(
      world,
      made.map(({ uuid }) => uuid),
    )
  }
  // what is refused leaves everything as it is
  if (what === 'unbind' && chosen) await control.arqs.unbind(NOVA, [chosen.uuid])
  if (what === 'again' && one) await bindSomewhere(world, [one.uuid])
  if (what === 'remove' && one) await control.arqs.remove(NOVA, [one.uuid])
  if (what === 'leave' && chosen) await control.arqs.removeByInstance(NOVA, chosen.instance_uuid!)
  if (what === 'force' && chosen) await control.arqs.forceUnbind(NOVA, chosen.uuid, { by: 'kim', reason: 'a test' })
  await pump()
  await clock.pass(pause)
}

type Span = {
  readonly project: string
  readonly rc: string
  readonly parts: number
  readonly from: number
  readonly until: number
}
/** By the events alone, without a view and without a decider. */
const spansIn = (rows: readonly FeedRow[], now: number): readonly Span[] =>
  [...Map.groupBy(rows, ({ key }) => key)].flatMap(([key, own]) => {
    if (!key.startsWith('arq/')) return []
    const spans: Span[] = []
    let [project, profile, from]: [string, Profile, number | null] = ['', 'gpu', null]
    const end = (until: number) => {
      const rc = profile === 'gpu' ? 'PGPU' : 'FPGA'
      if (from !== null) spans.push({ project, rc, parts: profile === 'pair' ? 2 : 1, from, until })
      from = null
    }
    for (const row of own)
      for (const event of row.events as readonly { type: string; projectId?: string; profileName?: Profile }[]) {
        if (event.type === 'ArqCreated') [project, profile] = [event.projectId!, event.profileName!]
        if (event.type === 'Bound') from = row.at
        if (event.type === 'Unbound' || event.type === 'ArqRemoved') end(row.at)
      }
    end(now)
    return spans
  })
const nameOf = (at: number, period: UsagePeriod): string =>
  period === 'total' ? '' : new Date(at).toISOString().slice(0, period === 'day' ? 10 : 7)
/** Day by day, so that it shares nothing with the sums of the report. */
const expected = (
  spans: readonly Span[],
  from: number,
  until: number,
  period: UsagePeriod,
): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const span of spans) {
    const end = Math.min(span.until, until)
    for (let at = Math.max(span.from, from); at < end;) {
      const next = Math.min(end, (Math.floor(at / DAY) + 1) * DAY)
      const key = `${nameOf(at, period)} ${span.project} ${span.rc}`
      sums.set(key, (sums.get(key) ?? 0) + (next - at) / span.parts)
      at = next
    }
  }
  return sums
}
const shown = (lines: readonly UsageLine[], period: UsagePeriod): ReadonlyMap<string, number> =>
  new Map(
    lines.map(({ project, resourceClass, from, deviceSeconds }) => [
      `${nameOf(from, period)} ${project} ${resourceClass}`,
      // the report divides by 2000 last: what it has counted are halves of a millisecond
      Math.round(deviceSeconds * 2000) / 2,
    ]),
  )

const report = async ({ control }: World, from: number, until: number, period: UsagePeriod, caller = ADMIN) =>
  value(await control.usage(caller, { from, until, period, project: null })).lines

/** All of this, by events, and by the report. */
const compare = async (world: World, rows: readonly FeedRow[], began: number) => {
  const now = world.clock.now()
  const spans = spansIn(rows, now)
  for (const [from, until] of [
    [began, now + 1],
    [began + Math.floor((now - began) / 3), began + Math.floor((2 * (now - began)) / 3) + 1],
  ] as const)
    for (const period of PERIODS) {
      const days = (until - from) / DAY
      if (period === 'day' && days > 400) continue
      const lines = await report(world, from, until, period)
      expect(shown(lines, period)).toEqual(expected(spans, from, until, period))
    }
  const own = await report(world, began, now + 1, 'total', { ...TENANT, projectId: 'p1' })
  expect(shown(own, 'total')).toEqual(
    expected(
      spans.filter(({ project }) => project === 'p1'),
      began,
      now + 1,
      'total',
    ),
  )
}

export const usageContract = (stores: Source, runs: number): void => {
  test('the totals are those of the events, while things go on, after the archive, and after a rebuild', async () => {
    let seen = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const world = await openWorld(stores)
        const began = world.clock.now()
        for (const each of steps) await play(world, each)
        const rows = await world.store.journal.feed('', 10_000)
        seen += spansIn(rows, world.clock.now()).length
        await compare(world, rows, began)
        await world.store.journal.saveCheckpoint('relay', await world.store.journalEnd())
        await world.store.archiveEnded({ before: 8_000_000_000_000, limit: 1000 })
        await compare(world, rows, began)
        await world.plane.stop()
        await expectRebuilt(world.store)
        await world.store.close()
      }),
      { numRuns: runs },
    )
    // the steps are random, and few where a store is slow: what matters is that there was something to add up
    expect(seen).toBeGreaterThan(0)
  })
  test('nobody but an administrator sees another project', async () => {
    const world = await openWorld(stores)
    const began = world.clock.now()
    await play(world, { do: 'bind', profile: 'gpu', project: 'p2', at: 0, pause: 1500 })
    const asked = { from: began, until: null, period: 'total', project: 'p2' } as const
    const own = { project: 'p2', resourceClass: 'PGPU', deviceSeconds: 1.5, bindings: 1 }
    expect(value(await world.control.usage(ADMIN, asked)).lines).toMatchObject([own])
    expect(value(await world.control.usage({ ...TENANT, projectId: 'p2' }, asked)).lines).toMatchObject([own])
    expect(value(await world.control.usage({ ...TENANT, projectId: 'p1' }, asked)).lines).toEqual([])
    expect(value(await world.control.usage({ ...TENANT, projectId: 'p1' }, { ...asked, project: null })).lines).toEqual(
      [],
    )
    await world.plane.stop()
    await world.store.close()
  })
}
