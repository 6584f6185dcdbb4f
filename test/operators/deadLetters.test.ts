import { describe, expect, test } from 'vitest'
import { type Letter, letterBox } from '../../src/delivery/deadLetters/box.ts'
import { refusalOf, retryLetters } from '../../src/delivery/deadLetters/handle.ts'
import { choose, letterLines, pick } from '../../src/cli/operators/deadLetters.ts'
import { deadLetterRecord, readDeadLetter } from '../../src/wire/message.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'

const AT = Date.UTC(2026, 10, 21, 12)
const REPORT: BusRecord = {
  topic: 'host.reports.v1',
  key: 'compute-1',
  value: '{"not": "ours"}',
  headers: { kind: 'x' },
}
const letterOf = (of: BusRecord, id: string, time = AT): Letter => {
  const box = letterBox({ now: () => AT + 60_000 })
  const { topic, key, value } = deadLetterRecord(of, 'message: must be JSON', { id, time })
  box.take({ topic, key, value, time })
  return box.all()[0]!
}

describe('a dead letter', () => {
  test('that is whole can be sent again', () => {
    const letter = letterOf(REPORT, 'a')
    expect(letter).toMatchObject({ ...REPORT, id: 'a', cut: false, retriedAt: null, time: AT })
    expect(refusalOf(letter)).toBe(null)
  })
  test.each([
    ['a value above 64 KiB', { value: 'ä'.repeat(40_000) }],
    ['a long key', { key: 'k'.repeat(1001) }],
    ['a long header', { headers: { name: 'v'.repeat(1001) } }],
    ['many headers', { headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`h${n}`, ''])) }],
  ])('that lost something is known as cut and refused: %s', (_, more) => {
    const letter = letterOf({ ...REPORT, ...more }, 'a')
    expect(letter.cut).toBe(true)
    expect(refusalOf(letter)).toContain('too long to be kept whole')
  })
  test.each(['arq.state.v1', 'host.events.v1'])('for %s is refused: facts and states are in the journal', (topic) => {
    const letter = letterOf({ ...REPORT, topic }, 'a')
    expect(refusalOf(letter)).toBe(
      `only reports and orders of hosts are sent again: what ${topic} says is in the journal`,
    )
    expect(letterLines(letter)[2]).toContain('(cannot be retried: only reports and orders')
    expect(choose([letter], { ids: [], all: true, topic: null }).letters).toEqual([])
  })
  test('whose topic is none of ours, or the dead letters themselves, is refused', () => {
    expect(refusalOf(letterOf({ ...REPORT, topic: 'other.v1' }, 'a'))).toContain('not a topic of accelerando')
    expect(refusalOf(letterOf({ ...REPORT, topic: 'dead-letters.v1' }, 'a'))).toContain('a dead letter itself')
  })
})

describe('the letters that are read', () => {
  const told = (record: BusRecord, time: number) => ({ ...record, time })
  test('a follow-up marks the letter of the same id, and is none itself', () => {
    const box = letterBox({ now: () => AT + 60_000 })
    const letter = deadLetterRecord(REPORT, 'r', { id: 'a', time: AT })
    const body = readDeadLetter(letter)
    const follow = handledRecord(body.ok ? body.value.body : expect.fail(), { id: 'a', time: AT + 5000 })
    expect(follow.key).toBe(letter.key)
    box.take(told(letter, AT))
    box.take(told(follow, AT + 5000))
    box.take(told(handledRecord({ topic: 't', key: 'k', reason: '' }, { id: 'gone', time: 1 }), 1))
    expect(box.all()).toMatchObject([{ id: 'a', value: REPORT.value, retriedAt: '2026-11-21T12:00:05.000Z', time: AT }])
  })
  test('are bounded: the oldest is forgotten; what is no letter is passed over', () => {
    const box = letterBox({ now: () => AT + 60_000 }, 2)
    for (const id of ['a', 'b', 'c']) box.take(told(deadLetterRecord(REPORT, 'r', { id, time: AT }), AT))
    box.take({ topic: 'dead-letters.v1', key: 'k', value: 'no JSON', time: AT })
    box.take({ topic: 'dead-letters.v1', key: 'k', value: null, time: AT })
    expect(box.all().map(({ id }) => id)).toEqual(['b', 'c'])
  })
})

describe('the command', () => {
  const letters = [letterOf(REPORT, 'a', AT), letterOf({ ...REPORT, topic: 'host.orders.v1' }, 'b', AT + 1)]
  const retried: Letter = { ...letterOf(REPORT, 'c', AT + 2), retriedAt: '2026-11-21T13:00:00.000Z' }
  const cut: Letter = { ...letterOf(REPORT, 'd', AT + 3), cut: true }
  const all = [...letters, retried, cut]
  test('lists the newest, from a moment on, of a topic', () => {
    const ids = (listed: Parameters<typeof pick>[1]) => pick(all, listed).map(({ id }) => id)
    expect(ids({ since: null, limit: 2, topic: null })).toEqual(['c', 'd'])
    expect(ids({ since: AT + 1, limit: 9, topic: null })).toEqual(['b', 'c', 'd'])
    expect(ids({ since: null, limit: 9, topic: 'host.orders.v1' })).toEqual(['b'])
  })
  test('shows a letter in three lines, whatever is in it', () => {
    const lines = letterLines({ ...cut, value: '\u001b[31mred\n' + 'x'.repeat(500), retriedAt: 'then' })
    expect(lines[0]).toBe('d  2026-11-21T12:00:00.003Z  host.reports.v1  key compute-1  retried then')
    expect(lines[1]).toBe('  message: must be JSON')
    expect(lines[2]).toMatch(/^ {3}\[31mred x+\.\.\. \(cut: cannot be retried\)$/)
  })
  test('says of a letter that was looked after what was done, by whom and why', () => {
    const handled = { how: 'dropped', by: 'kim', reason: `known\n${'x'.repeat(100)}`, requestId: 'r' } as const
    const of = (more: Partial<Letter>) => letterLines({ ...letters[0]!, retriedAt: 'then', ...more })[0]
    const head = 'a  2026-11-21T12:00:00.000Z  host.reports.v1  key compute-1'
    expect(of({ retriedAt: null })).toBe(head)
    expect(of({})).toBe(`${head}  retried then`)
    expect(of({ handled })).toBe(`${head}  dropped then by kim: known ${'x'.repeat(94)}...`)
    expect(of({ handled: { ...handled, how: 'replayed', reason: 'mended' } })).toBe(
      `${head}  retried then by kim: mended`,
    )
  })
  test('sends again all that were not yet and can be, or whatever is named', () => {
    const ids = (wanted: Parameters<typeof choose>[1]) => choose(all, wanted).letters.map(({ id }) => id)
    expect(ids({ ids: [], all: true, topic: null })).toEqual(['a', 'b'])
    expect(ids({ ids: [], all: true, topic: 'host.orders.v1' })).toEqual(['b'])
    expect(ids({ ids: ['c', 'd'], all: false, topic: null })).toEqual(['c', 'd'])
    expect(choose(all, { ids: ['nobody'], all: false, topic: null }).unknown).toEqual(['nobody'])
  })
  test('marks a letter only after its message is stored; a refused one is told and nothing is sent', async () => {
    const sent: BusRecord[] = []
    const publish = async (batch: readonly BusRecord[]) => {
      if (batch.some(({ topic }) => topic === 'host.orders.v1')) throw new Error('away')
      sent.push(...batch)
    }
    const said: (string | null)[] = []
    const sending = retryLetters({ publish }, { now: () => AT }, [letters[0]!, cut, letters[1]!], ({ refused }) => {
      said.push(refused)
    })
    await expect(sending).rejects.toThrow('away')
    expect(said).toEqual([null, expect.stringContaining('too long')])
    expect(sent.map(({ topic }) => topic)).toEqual(['host.reports.v1', 'dead-letters.v1'])
    expect(sent[0]).toEqual(REPORT)
  })
  test('a letter whose mark cannot be stored is not told as sent', async () => {
    const publish = async ([record]: readonly BusRecord[]): Promise<void> => {
      if (record!.topic === 'dead-letters.v1') throw new Error('away')
    }
    const told: unknown[] = []
    const sending = retryLetters({ publish }, { now: () => AT }, [letterOf(REPORT, 'a')], (one) => told.push(one))
    await expect(sending).rejects.toThrow('away')
    expect(told).toEqual([])
  })
})
