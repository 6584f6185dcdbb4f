/** Parts of the runtime of actors: memories, pages of views, who is woken, what is logged, what is latest. */
import { describe, expect, it } from 'vitest'
import { deciderOf } from '../../src/actors/entities.ts'
import { createLatest } from '../../src/actors/latest.ts'
import { createChanges } from '../../src/actors/runtime/changes.ts'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import {
  type Memory,
  absorb,
  blank,
  freeze,
  idOf,
  kindOf,
  lastRow,
  recallInto,
  unread,
  wishOf,
} from '../../src/actors/runtime/memory.ts'
import type { Append, JournalRow, Reads } from '../../src/actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { Unreadable, createGuard } from '../../src/actors/runtime/unreadable.ts'
import { type Cells, viewPage } from '../../src/actors/runtime/viewPage.ts'
import { memoryLog } from '../support/lab.ts'

/** Adds up what is said. */
const adder = {
  kind: 'sum',
  initial: 0,
  decide: () => ({ ok: true, events: [] }) as const,
  evolve: (sum: number, { by }: { readonly type: string; readonly by: number }, at: number) => sum + by * at,
  rows: () => [],
}
const row = (version: number, by: number, at = version): JournalRow => ({
  key: 'sum/1',
  version,
  commandId: `c${version}`,
  events: [{ type: 'Added', by } as never],
  at,
  cause: {},
})
const memory = (more: Partial<Memory> = {}): Memory => ({
  key: 'sum/1',
  state: 5,
  version: 2,
  recent: ['c1', 'c2'],
  at: 2,
  ...more,
})

describe('the memory of an actor', () => {
  const recall = (more: object, from = memory()) => recallInto(adder, from, { snapshot: null, rows: [], ...more })
  it('takes up a row once', () => {
    expect(absorb(adder, memory(), row(3, 2))).toEqual({
      ...memory(),
      state: 11,
      version: 3,
      recent: ['c1', 'c2', 'c3'],
      at: 3,
    })
    expect(absorb(adder, memory(), row(2, 2))).toEqual(memory())
    expect(absorb(adder, { ...memory(), unread: true }, row(3, 0))).not.toHaveProperty('unread')
  })
  it('remembers the last 32 commands', () => {
    const many = Array.from({ length: 40 }, (_, at) => row(at + 1, 0))
    const { recent, version } = recall({ rows: many }, blank('sum/1', adder))
    expect([recent, version]).toEqual([many.slice(8).map(({ commandId }) => commandId), 40])
  })
  it('begins with a snapshot that is newer, and goes on with the rows after it', () => {
    const snapshot = { version: 7, memory: { state: 100, recent: ['c7'], at: 70 } }
    expect(recall({ snapshot })).toEqual(memory({ state: 100, version: 7, recent: ['c7'], at: 70 }))
    expect(recall({ snapshot, rows: [row(8, 1)] })).toEqual(
      memory({ state: 108, version: 8, recent: ['c7', 'c8'], at: 8 }),
    )
    expect(recall({ snapshot: { ...snapshot, version: 2 } })).toEqual(memory())
    const older = { version: 7, memory: { state: 100, recent: ['c7'] } }
    expect(recall({ snapshot: older }).at).toBe(null)
  })
  it('is given up where the journal says that it is void', () => {
    expect(recall({ void: true })).toEqual({ key: 'sum/1', state: 0, version: 0, recent: [], at: null })
    expect(recall({ void: true, rows: [row(1, 3)] })).toEqual(memory({ state: 3, version: 1, recent: ['c1'], at: 1 }))
  })
  it('is trusted after a read, also one that found nothing', () => {
    const assumed = unread('sum/1', adder)
    expect(assumed).toEqual({ key: 'sum/1', state: 0, version: 0, recent: [], at: null, unread: true })
    expect(recallInto(adder, assumed, undefined)).toEqual(blank('sum/1', adder))
    expect(recall({}, assumed)).toEqual(blank('sum/1', adder))
  })
  it('asks for what comes after its last row, and names that row', () => {
    expect(wishOf(memory())).toEqual({ key: 'sum/1', after: 2, last: { commandId: 'c2', at: 2 } })
    expect(wishOf(blank('sum/1', adder))).toEqual({ key: 'sum/1', after: 0 })
    expect([lastRow(memory({ version: 0 })), lastRow(memory({ recent: [] }))]).toEqual([undefined, undefined])
    expect(lastRow(memory({ version: 1, recent: ['c1'], at: null }))).toEqual({ commandId: 'c1', at: null })
  })
  it('is kept with its state, its commands and its time', () => {
    expect(freeze({ ...memory(), unread: true })).toEqual({ state: 5, recent: ['c1', 'c2'], at: 2 })
    expect([kindOf('sum/a/b'), idOf('sum/a/b')]).toEqual(['sum', 'a/b'])
  })
  it('is of a kind that is listed, and of no other', () => {
    expect(deciderOf('arq/a1').kind).toBe('arq')
    expect(() => deciderOf('thing/a1')).toThrow('no entity is of the kind of thing/a1')
    expect(() => deciderOf('constructor/a1')).toThrow('no entity is of the kind of constructor/a1')
    expect([snapshotSchemaOf('thing/a1'), snapshotSchemaOf('arq/a1') > 0]).toEqual([0, true])
  })
})

it('counts nothing at first', () => {
  const { refusedReports, ...counts } = noCounts()
  expect(counts).toEqual({
    appends: 0,
    fences: 0,
    retries: 0,
    refusedAfterFence: 0,
    refusedAfterLook: 0,
    savedByLook: 0,
    unknown: 0,
    givenUp: 0,
    viewsChecked: 0,
    viewsDiffer: 0,
    orphans: 0,
    unboundDeleted: 0,
    orphansDeleted: 0,
    slotDifferences: { unexplained: 0, lost: 0, in_use: 0 },
    imagesRead: 0,
    lastAt: { viewsDiffer: null, orphans: null, slotDifferences: null, refusedReports: null },
  })
  expect(new Set(Object.values(refusedReports))).toEqual(new Set([0]))
})

describe('a page of a view', () => {
  const rows = new Map<string, Cells>(
    [
      ['a', 2, 'up'],
      ['b', 1, 'up'],
      ['c', 2, 'down'],
      ['d', 1, 'stale'],
      ['e', 3, 'up'],
    ].map(([name, created_at, liveness]) => [String(name), { name, created_at, liveness }]),
  )
  const page = (more: object) =>
    viewPage(rows, { view: 'hosts', where: {}, sort: 'created_at', limit: 9, ...more } as never)?.map(
      ({ name }) => name,
    ) ?? null
  it.each<[string, object, readonly string[] | null]>([
    ['is in the order that is asked for, and then of its keys', {}, ['b', 'd', 'a', 'c', 'e']],
    ['is in the other order', { descending: true }, ['e', 'c', 'a', 'd', 'b']],
    ['is as long as is asked for', { limit: 2 }, ['b', 'd']],
    ['is as long as is asked for, in the other order', { limit: 3, descending: true }, ['e', 'c', 'a']],
    ['has the rows of a value', { where: { liveness: 'up' } }, ['b', 'a', 'e']],
    ['has the rows of several values', { where: { liveness: ['stale', 'down'] } }, ['d', 'c']],
    ['has the rows that fulfil all conditions', { where: { liveness: 'up', created_at: 2 } }, ['a']],
    ['leaves out a condition that is not set', { where: { liveness: undefined } }, ['b', 'd', 'a', 'c', 'e']],
    ['has what is visible only', { visible: { created_at: 1 }, where: { liveness: 'up' } }, ['b']],
    ['begins after the marker', { marker: 'a' }, ['c', 'e']],
    ['begins after the marker in the other order', { marker: 'a', descending: true }, ['d', 'b']],
    ['is not found after a marker that is not there', { marker: 'z' }, null],
    ['is not found after a marker that is not visible', { marker: 'c', visible: { liveness: 'up' } }, null],
    ['begins after a visible marker', { marker: 'b', visible: { liveness: 'up' } }, ['a', 'e']],
    ['begins after a place where a row was', { after: { value: 2, key: 'b' } }, ['c', 'e']],
    ['begins before a place in the other order', { after: { value: 2, key: 'b' }, descending: true }, ['a', 'd', 'b']],
  ])('%s', (_, more, names) => expect(page(more)).toEqual(names))
})

describe('whoever waits for an entity', () => {
  const opened = () => {
    const listeners: ((appends: readonly Append[] | null) => void)[] = []
    const timers = new Set<number>()
    const after = (ms: number) => (timers.add(ms), () => void timers.delete(ms))
    let stopped = 0
    const onAppended = (listener: (typeof listeners)[number]) => (listeners.push(listener), () => void stopped++)
    const changes = createChanges({ onAppended } as never, { after })
    const woken: string[] = []
    const wait = (key: 'arq/a1' | 'arq/a2') => changes.next(key, 700).then(() => void woken.push(key))
    const appended = async (...keys: readonly string[]) => {
      listeners[0]!(keys.length === 0 ? null : keys.map((key) => ({ rows: [{ key }], changes: [] }) as never))
      await Promise.resolve().then(() => {})
      await Promise.resolve()
      return woken.splice(0)
    }
    return { changes, wait, appended, woken, timers, stops: () => stopped }
  }
  it('is woken by an append to it, all of them and once', async () => {
    const { wait, appended } = opened()
    const waiting = [wait('arq/a1'), wait('arq/a1'), wait('arq/a2')]
    expect(await appended('arq/a9')).toEqual([])
    expect(await appended('arq/a9', 'arq/a1')).toEqual(['arq/a1', 'arq/a1'])
    expect(await appended('arq/a1')).toEqual([])
    expect(await appended('arq/a2')).toEqual(['arq/a2'])
    await Promise.all(waiting)
  })
  it('waits for no clock any more as soon as it is woken', async () => {
    const { wait, appended, timers } = opened()
    const waiting = wait('arq/a1')
    expect([...timers]).toEqual([700])
    await appended('arq/a1')
    await waiting
    expect([...timers]).toEqual([])
  })
  it('is woken by appends of which it is not known what they wrote, and when the waiting ends', async () => {
    const { changes, wait, appended, stops } = opened()
    const waiting = [wait('arq/a1'), wait('arq/a2')]
    expect(await appended()).toEqual(['arq/a1', 'arq/a2'])
    const last = wait('arq/a1')
    changes.stop()
    await Promise.all([...waiting, last])
    expect(stops()).toBe(1)
  })
})

describe('a read that fails', () => {
  it('is logged once, and answered with whether it may succeed later', async () => {
    const log = memoryLog()
    const guard = createGuard(log)
    const [soon, never] = [new Unreadable('no connection'), new Unreadable('no such table', { permanent: true })]
    const unavailable = (reason: string) => ({
      ok: false,
      fault: { kind: 'unavailable', reason, retryAfterSeconds: 1 },
    })
    expect(await guard(Promise.reject(soon), 'views', { view: 'arqs' })).toEqual(
      unavailable('the views cannot be read'),
    )
    expect(await guard(Promise.reject(soon), 'journal')).toEqual(unavailable('the journal does not answer'))
    expect(await guard(Promise.reject(never), 'measurements')).toEqual({
      ok: false,
      fault: { kind: 'broken', reason: 'no such table' },
    })
    expect(await guard(Promise.reject(new Unreadable('x')), 'measurements')).toEqual(
      unavailable('the measurements cannot be read'),
    )
    expect(log.said).toEqual([
      {
        level: 'warn',
        detail: { view: 'arqs', permanent: false, error: 'no connection' },
        message: 'views.unreadable',
      },
      { level: 'error', detail: { permanent: true, error: 'no such table' }, message: 'measurements.unreadable' },
      { level: 'warn', detail: { permanent: false, error: 'x' }, message: 'measurements.unreadable' },
    ])
    await expect(guard(Promise.reject(new Error('a bug')), 'views')).rejects.toThrow('a bug')
    expect(await guard(Promise.resolve({ ok: true, value: 7 }), 'views')).toEqual({ ok: true, value: 7 })
  })
})

describe('the latest states', () => {
  const asked: object[] = []
  const answers: Readonly<Record<string, readonly object[] | null>> = {
    arqs: [{ uuid: 'a1', state: 'Bound' }],
    devices: [
      { uuid: 'd1', presence: 'present' },
      { uuid: 'd2', presence: 'retired' },
    ],
    hosts: [
      { name: 'h1', liveness: 'down' },
      { name: 'h2', liveness: 'removed' },
    ],
  }
  const page = async (query: { readonly view: string }) => (asked.push(query), answers[query.view])
  const latest = createLatest({ page } as unknown as Pick<Reads, 'page'>)
  it('are read by one query for each view; what is gone or not there has none', async () => {
    const keys = ['device/d1', 'arq/a1', 'device/d2', 'host/h1', 'arq/a2', 'host/h2'] as const
    expect([...(await latest.read(keys))]).toEqual([
      ['device/d1', '{"uuid":"d1","presence":"present"}'],
      ['device/d2', null],
      ['arq/a1', '{"uuid":"a1","state":"Bound"}'],
      ['arq/a2', null],
      ['host/h1', '{"name":"h1","liveness":"down"}'],
      ['host/h2', null],
    ])
    expect(asked).toEqual([
      { view: 'devices', where: { uuid: ['d1', 'd2'] }, sort: 'uuid', limit: 2 },
      { view: 'arqs', where: { uuid: ['a1', 'a2'] }, sort: 'uuid', limit: 2 },
      { view: 'hosts', where: { name: ['h1', 'h2'] }, sort: 'name', limit: 2 },
    ])
    const nothing = createLatest({ page: async () => null })
    expect([...(await nothing.read(['arq/a1']))]).toEqual([['arq/a1', null]])
  })
  it('are read of a thousand entities at once', async () => {
    const many = (count: number) => latest.read(Array.from({ length: count }, (_, at) => `arq/a${at}` as const))
    expect((await many(1000)).size).toBe(1000)
    await expect(many(1001)).rejects.toThrow('1001 states at once, more than 1000')
  })
  it('are those of requests, devices and hosts', () => {
    const kinds = ['arq', 'device', 'host', 'deployable', 'instance', 'profile'] as const
    expect(kinds.map((kind) => latest.tells(`${kind}/1`))).toEqual([true, true, true, false, false, false])
  })
})
