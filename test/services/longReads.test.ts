/** Lists that are read in pages: what is asked of the store, and where they end. */
import { describe, expect, test } from 'vitest'
import { type Row, type ViewName, put } from '../../src/actors/runtime/views.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { arqRow, profileRow } from '../persistence/samples.ts'
import { handClock, quiet } from '../support/lab.ts'
import { KNOWN, novaServersOf } from '../support/novaServers.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { settled } from './settled.ts'

const DAY = 86_400_000
const uuid = (n: number) => `40000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const filled = async <N extends ViewName>(view: N, rows: readonly Row<N>[], options = {}) => {
  const store = memoryStore(options)
  expect(await store.journal.append({ rows: [], changes: rows.map((row) => put(view, row)) })).toBe('appended')
  return store
}
const arqsAt = (count: number, more: Partial<Row<'arqs'>> = {}) =>
  Array.from({ length: count }, (_, n) => arqRow({ uuid: uuid(n), created_at: n, updated_at: null, ...more }))

test('a list without a limit is whole, also of more rows than a page has', async () => {
  const { control, plane } = await openPlane({}, await filled('arqs', arqsAt(2001)))
  const { items, next } = value(await control.arqs.list(NOVA, {}, {}))
  expect([items.length, new Set(items.map((row) => row.uuid)).size, next]).toEqual([2001, 2001, null])
  const page = async (more: object) => {
    const answer = await control.arqs.list(NOVA, {}, more)
    return answer.ok ? [answer.value.items.map((row) => row.created_at), answer.value.next?.key ?? null] : answer.fault
  }
  expect(await page({ limit: 2 })).toEqual([[0, 1], uuid(1)])
  expect(await page({ limit: 2, marker: uuid(1998) })).toEqual([[1999, 2000], null])
  expect(await page({ limit: 1, marker: uuid(3), descending: true })).toEqual([[2], uuid(2)])
  expect(await page({ marker: uuid(9999) })).toEqual({ kind: 'not_found', resource: 'marker', id: uuid(9999) })
  for (const sort of ['updated_at', 'group', 'toString', ''])
    expect(await page({ sort })).toMatchObject({
      rule: 'one of uuid, state, profile_uuid, profile_name, group_id, created_at',
    })
  await plane.stop()
})

describe('usage', () => {
  const used = (n: number, from: number, until: number, more: Partial<Row<'usage'>> = {}): Row<'usage'> => ({
    id: `u${n}`,
    arq_uuid: uuid(n),
    project_id: 'p1',
    resource_class: 'GPU',
    parts: 1,
    from_at: from,
    until_at: until,
    ...more,
  })
  const opened = async (rows: readonly Row<'usage'>[]) => {
    const clock = handClock()
    const store = await filled('usage', rows, { now: clock.now })
    const { plane, control } = await openPlane({ clock, options: { sweepEveryMs: DAY } }, store)
    return { control, now: clock.now(), stop: () => settled(clock, plane.stop()) }
  }
  test('of more bindings than one page has is whole', async () => {
    const rows = Array.from({ length: 1001 }, (_, n) => used(n, n * 1000, n * 1000 + 2000))
    const { control, stop } = await opened(rows)
    const asked = { from: 0, until: 10_000_000, period: 'total', project: null } as const
    expect(value(await control.usage(NOVA, asked)).lines).toEqual([
      { project: 'p1', resourceClass: 'GPU', from: 0, until: 10_000_000, deviceSeconds: 2002, bindings: 1001 },
    ])
    await stop()
  })
  test('is of all projects for an administrator, and of the own one for others', async () => {
    const { control, stop } = await opened([used(1, 0, 1000), used(2, 0, 3000, { project_id: 'p2', parts: 2 })])
    const asked = { from: 0, until: 5000, period: 'total', project: null } as const
    const of = async (...[caller, more]: [typeof NOVA, object]) =>
      value(await control.usage(caller, { ...asked, ...more })).lines.map((line) => [line.project, line.bindings])
    expect(await of(NOVA, {})).toEqual([
      ['p1', 1],
      ['p2', 1],
    ])
    expect(await of(NOVA, { project: 'p2' })).toEqual([['p2', 1]])
    expect(await of(TENANT, {})).toEqual([['p1', 1]])
    expect(await of(TENANT, { project: 'p1' })).toEqual([['p1', 1]])
    expect(await of(TENANT, { project: 'p2' })).toEqual([])
    await stop()
  })
  test('has ten thousand lines and four hundred periods at most', async () => {
    const days = 400
    const long = Array.from({ length: 26 }, (_, n) => used(n, 0, days * DAY, { project_id: `p${n}` }))
    const [enough, more] = [await opened(long.slice(0, 25)), await opened(long)]
    const asked = { from: 0, until: days * DAY, period: 'day', project: null } as const
    const tooMany = (what: string) => ({
      ok: false,
      fault: {
        kind: 'conflict',
        reason: `The answer would have more than ${what}: ask for a longer period, or for less time.`,
      },
    })
    expect(value(await enough.control.usage(NOVA, asked)).lines).toHaveLength(10_000)
    expect(await more.control.usage(NOVA, asked)).toEqual(tooMany('10000 lines'))
    const periods = tooMany('400 periods')
    expect(await enough.control.usage(NOVA, { ...asked, until: days * DAY + 1 })).toEqual(periods)
    const months = { ...asked, period: 'month', until: days * 31 * DAY } as const
    expect(await enough.control.usage(NOVA, months)).toMatchObject({ ok: true })
    expect(await enough.control.usage(NOVA, { ...months, until: days * 31 * DAY + 1 })).toEqual(periods)
    const total = { ...asked, period: 'total', until: 1000 * 31 * DAY } as const
    expect(value(await enough.control.usage(NOVA, total)).lines).toHaveLength(25)
    await enough.stop()
    await more.stop()
  })
  test('without a beginning and an end is that of this month until now', async () => {
    const { control, now, stop } = await opened([])
    const asked = { from: null, until: null, period: 'total', project: null } as const
    expect(value(await control.usage(NOVA, asked))).toEqual({ from: now - 31 * DAY, until: now, asOf: now, lines: [] })
    const same = { kind: 'conflict', reason: 'The end, until, must be after from.' }
    expect(await control.usage(NOVA, { ...asked, from: now })).toEqual({ ok: false, fault: same })
    expect(await control.usage(NOVA, { ...asked, from: now - 1 })).toMatchObject({ ok: true })
    await stop()
  })
})

describe('servers', () => {
  const opened = async (collectOrphansMs: number) => {
    const clock = handClock()
    const now = clock.now()
    const rows = arqsAt(202, { state: 'Bound', project_id: 'p1' }).map((row, n) => ({ ...row, instance_uuid: uuid(n) }))
    // one was bound a moment too late
    const late = rows.map((row, n) => (n === 5 ? { ...row, updated_at: now - 599_999 } : row))
    const store = await filled('arqs', late, { now: clock.now })
    let [open, most] = [0, 0]
    const { servers, asked } = novaServersOf()
    const server = async (one: string) => {
      most = Math.max(most, ++open)
      await new Promise<void>((resolve) => setImmediate(resolve))
      open--
      asked.push(one)
      return KNOWN
    }
    const parts = { clock, novaServers: { ...servers, server }, options: { sweepEveryMs: DAY, collectOrphansMs } }
    const { plane, control } = await openPlane(parts, store)
    const sweep = async () => {
      asked.length = 0
      // a slow round is one in eight
      for (let n = 0; n < 8; n++) await settled(clock, plane.sweeper.round())
      return asked.length
    }
    const stop = () => settled(clock, plane.stop())
    return { clock, control, asked, most: () => most, sweep, stop }
  }
  test('are asked about page by page, and eight at once', async () => {
    const { control, asked, most, stop } = await opened(0)
    const first = value(await control.orphans.list(null))
    expect(first).toEqual({ orphans: [], unclear: [], asked: 199, next: uuid(199) })
    expect(value(await control.orphans.list(first.next))).toEqual({ orphans: [], unclear: [], asked: 2, next: null })
    expect([asked.length, most()]).toEqual([201, 8])
    await stop()
  })
  test('are asked about by a round page by page, and again after a while', async () => {
    const { clock, sweep, stop } = await opened(60_000)
    await quiet(400)
    expect([await sweep(), await sweep()]).toEqual([2, 0])
    await clock.pass(59_999)
    expect(await sweep()).toBe(0)
    await clock.pass(1)
    expect([await sweep(), await sweep(), await sweep()]).toEqual([200, 2, 0])
    await stop()
  })
})

test('names of profiles are one page for a caller who sees some of them only', async () => {
  const rows = Array.from({ length: 4 }, (_, n) => ({
    ...profileRow(`n${n}`, uuid(n)),
    created_at: n,
    projects: n % 2 === 0 ? ['p1'] : ['p2'],
  }))
  const { control, plane } = await openPlane({}, await filled('profiles', rows))
  const seen = async (caller: typeof NOVA, limit: number) => {
    const { items, next } = value(await control.profiles.list(null, { limit }, { caller, disabled: false }))
    return [items.map(({ name }) => name), next?.key ?? null]
  }
  expect(await seen(TENANT, 1)).toEqual([['n0'], uuid(0)])
  expect(await seen(TENANT, 2)).toEqual([['n0', 'n2'], null])
  expect(await seen(NOVA, 3)).toEqual([['n0', 'n1', 'n2'], uuid(2)])
  await plane.stop()
})
