/** What is decided of a host, and which of its devices are remembered when they leave. */
import { describe, expect, it } from 'vitest'
import type { Fact } from '../audit/cases/scene.ts'
import { type Case, deciding } from './decided.ts'

describe('a host', () => {
  const { after, decide } = deciding('host')
  const shot = (bootId: string, number: number) => ({ bootId, number, digest: 'd', aliases: ['x'], drivers: { f: 1 } })
  const held = (uuid: string) => ({ uuid, id: 1, driver: 'f', digest: 'x', missing: 0, deployables: {} })
  const picture = (bootId = 'b1', number = 1, devices: object = {}): Fact => ({
    type: 'PictureRecorded',
    name: 'h1',
    picture: shot(bootId, number),
    devices,
  })
  const liveness = (to: string, more: object = {}): Fact => ({ type: 'LivenessSet', liveness: to, by: 'op', ...more })
  const retired = liveness('up', { care: 'retired', reason: 'r' })
  const refusing = (at: number): Fact => ({ type: 'RefuseReport', reason: 'foreign_host', detail: 'd', at })
  const refused: Fact = { type: 'ReportRefused', reason: 'foreign_host', detail: 'd' }
  const gone = { c1: null }
  const word = { by: 'op', reason: 'r' }
  const unknown = { kind: 'not_found', resource: 'host', id: '' }
  const recording: Fact = { ...picture('b1', 2), type: 'RecordInventory' }
  const removed = liveness('removed', { care: 'removed', reason: 'r' })
  it.each<Case>([
    ['is recorded', [], { ...picture(), type: 'RecordInventory' }, [picture()]],
    ['shows something new', [picture()], recording, [picture('b1', 2)]],
    ['shows something old', [picture('b1', 3)], recording, []],
    ['that nobody knows is not retired', [], { type: 'Retire', devices: {}, ...word }, unknown],
    ['is silent', [picture()], { type: 'SetLiveness', liveness: 'stale', by: 'op' }, [liveness('stale')]],
    ['is silent once', [picture(), liveness('stale')], { type: 'SetLiveness', liveness: 'stale', by: 'op' }, []],
    ['that was removed stays removed', [picture(), removed], { type: 'SetLiveness', liveness: 'up', by: 'op' }, []],
    ['is retired', [picture()], { type: 'Retire', devices: gone, ...word }, [{ ...retired, devices: gone }]],
    [
      'is retired with its liveness',
      [picture(), liveness('stale')],
      { type: 'Retire', devices: {}, ...word },
      [liveness('stale', { care: 'retired', devices: {}, reason: 'r' })],
    ],
    ['is retired once', [picture(), retired], { type: 'Retire', devices: {}, ...word }, []],
    [
      'that is retired is retired of more',
      [picture(), retired],
      { type: 'Retire', devices: gone, ...word },
      [liveness('up', { devices: gone })],
    ],
    ['is removed', [picture()], { type: 'Remove', devices: {}, ...word }, [{ ...removed, devices: {} }]],
    ['is removed once', [picture(), removed], { type: 'Remove', devices: {}, ...word }, []],
    [
      'that is removed is removed of more',
      [picture(), removed],
      { type: 'Remove', devices: gone, ...word },
      [{ ...removed, devices: gone }],
    ],
    [
      'that is retired loses devices',
      [picture(), retired],
      { type: 'Shed', devices: gone, by: 'op' },
      [liveness('up', { devices: gone })],
    ],
    ['that is retired loses nothing', [picture(), retired], { type: 'Shed', devices: {}, by: 'op' }, []],
    [
      'is to be compared in full',
      [picture()],
      { type: 'LookAgain', devices: gone, by: 'op' },
      [liveness('up', { devices: gone })],
    ],
    [
      'that is silent is to be compared in full',
      [picture(), liveness('stale')],
      { type: 'LookAgain', devices: gone, by: 'op' },
      [liveness('stale', { devices: gone })],
    ],
    ['without devices is not to be compared', [picture()], { type: 'LookAgain', devices: {}, by: 'op' }, []],
    ['that serves loses nothing', [picture()], { type: 'Shed', devices: gone, by: 'op' }, []],
    [
      'is restored',
      [picture(), retired],
      { type: 'Restore', ...word },
      [liveness('up', { care: 'restored', reason: 'r' })],
    ],
    [
      'that was removed is restored and counts as silent',
      [picture(), removed],
      { type: 'Restore', ...word },
      [liveness('down', { care: 'restored', reason: 'r' })],
    ],
    ['is refused a report', [picture()], refusing(1), [refused]],
    ['is refused a report once for each reason and hour', [picture(), refused], refusing(3_600_000), []],
    [
      'is refused a report for another reason',
      [picture(), refused],
      { ...refusing(1), reason: 'former_boot' },
      [{ ...refused, reason: 'former_boot' }],
    ],
    ['is refused a report again after an hour', [picture(), refused], refusing(3_602_000), [refused]],
    ['that nobody knows is refused nothing', [], refusing(1), []],
    ['that serves is not restored', [picture()], { type: 'Restore', ...word }, []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  it('takes newer pictures of its start and any of a new one, but none of a former one any more (Q1, I10)', () => {
    const known = [picture('b1', 5), picture('b2', 5)]
    const news = (bootId: string, number: number) =>
      decide(known, { ...picture(bootId, number), type: 'RecordInventory' })
    expect([news('b2', 6), news('b2', 5), news('b3', 1), news('b1', 9)]).toEqual([
      [picture('b2', 6)],
      [],
      [picture('b3', 1)],
      [],
    ])
  })
  it('knows a former start by its number, however many there were', () => {
    const numbered = (n: number, number = 1): Fact => {
      const one = picture(`b${n}`, number)
      return { ...one, picture: { ...(one['picture'] as object), bootNumber: 1000 + n } }
    }
    const known = Array.from({ length: 300 }, (_, n) => numbered(n))
    const news = (n: number, number: number) => decide(known, { ...numbered(n, number), type: 'RecordInventory' })
    expect([news(0, 9), news(298, 9), news(299, 1)]).toEqual([[], [], []])
    expect([news(299, 2), news(300, 1)]).toEqual([[numbered(299, 2)], [numbered(300)]])
  })
  it('remembers the thousand devices that left last, and of those that left together always the same', () => {
    const names = Array.from({ length: 1000 }, (_, n) => `c${String(n).padStart(4, '0')}`)
    const of = (value: (name: string) => unknown, all: readonly string[]) =>
      Object.fromEntries(all.map((name) => [name, value(name)]))
    const leave = (all: readonly string[]) => {
      const gone = of(() => null, all)
      const both = { first: held('first'), ...of(held, names) }
      const facts = [picture('b1', 1, both), picture('b1', 2, { first: null }), picture('b1', 3, gone)]
      return after(...facts).departed.map(({ canonical }: { readonly canonical: string }) => canonical)
    }
    expect(leave(names.slice(1))).toEqual(['first', ...names.slice(1)])
    expect(leave(names)).toEqual(names)
    expect(leave(names.toReversed())).toEqual(names)
  })
  it('remembers no device as away that is back, by whatever path', () => {
    const two = picture('b1', 1, { c1: held('u1'), c2: held('u2') })
    const left = after(two, picture('b1', 2, { c1: null }))
    expect(left).toMatchObject({ devices: { c2: held('u2') }, departed: [{ canonical: 'c1', device: held('u1') }] })
    const back = after(two, picture('b1', 2, { c1: null }), picture('b1', 3, { c3: held('u1') }))
    expect(back).toMatchObject({ devices: { c2: held('u2'), c3: held('u1') }, departed: [] })
  })
})
