/** Questions about the views: how many run at once. */
import { describe, expect, it } from 'vitest'
import { createGuard } from '../../src/actors/runtime/unreadable.ts'
import type { Reads } from '../../src/actors/runtime/ports.ts'
import { openReaders } from '../../src/services/kernel/readers.ts'
import { silent } from '../../src/log.ts'

const AT_ONCE = 2048
const NOT_ASKED = () => Promise.reject(new Error('nobody asks this'))

describe('readers', () => {
  it('name the columns by which a view can be sorted', async () => {
    const readers = openReaders({ page: NOT_ASKED, dueBefore: NOT_ASKED, tally: NOT_ASKED }, createGuard(silent))
    const fault = { kind: 'invalid', field: 'sort_key', rule: 'one of entity, kind, at' }
    expect(await readers.list('due', {}, { sort: 'nothing' })).toMatchObject({ ok: false, fault })
  })
  it('ask the store for one row more than is wanted, which says whether others follow', async () => {
    const asked: number[] = []
    const rows = Array.from({ length: 9 }, (_, n) => ({ uuid: `u${n}`, created_at: n }))
    const page: Reads['page'] = async ({ limit }) => {
      asked.push(limit)
      return rows.slice(0, limit) as never
    }
    const readers = openReaders({ page, dueBefore: NOT_ASKED, tally: NOT_ASKED }, createGuard(silent))
    expect(await readers.list('arqs', {}, { limit: 3 })).toMatchObject({ value: { items: rows.slice(0, 3) } })
    expect(await readers.first('arqs', {})).toMatchObject({ value: rows[0] })
    expect(asked).toEqual([4, 2])
  })
  it('refuse a question about a view of which too many run, and take the next when one has ended', async () => {
    const waiting: (() => void)[] = []
    const page = () => new Promise<readonly never[]>((resolve) => void waiting.push(() => resolve([])))
    const reads: Reads = { page, dueBefore: NOT_ASKED, tally: NOT_ASKED }
    const readers = openReaders(reads, createGuard(silent))
    const running = Array.from({ length: AT_ONCE }, () => readers.list('arqs', {}, {}))
    const refused = { ok: false, fault: { kind: 'unavailable', reason: 'too many lists are being read' } }
    expect(await readers.list('arqs', {}, {})).toMatchObject(refused)
    expect(await readers.first('arqs', {})).toMatchObject(refused)
    expect(waiting).toHaveLength(AT_ONCE)

    const ofAnother = readers.first('hosts', {})
    expect(waiting).toHaveLength(AT_ONCE + 1)
    waiting.shift()!()
    expect(await running[0]).toEqual({ ok: true, value: { items: [], next: null } })
    const next = readers.first('arqs', {})
    for (const answer of waiting) answer()
    expect(await Promise.all([next, ofAnother])).toEqual([1, 2].map(() => ({ ok: true, value: null })))
  })
})
