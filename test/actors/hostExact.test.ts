/** A host, to the letter. */
import { describe, expect, it } from 'vitest'
import { bootAge } from '../../src/actors/host/boots.ts'
import { LIVENESS, STANDINGS, host, hostKey, isNews } from '../../src/actors/host/decider.ts'
import { lastReportOf } from '../../src/actors/host/lastReport.ts'
import type { Fact } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

type Decisions = readonly [string, readonly Fact[], Fact, unknown]

describe('a host', () => {
  const { after, decide, rows } = exactly(host)
  const shot = (bootId: string, number: number) => ({ bootId, number, digest: 'd', aliases: ['x'], drivers: { f: 1 } })
  const held = (uuid: string) => ({ uuid, id: 1, driver: 'f', digest: 'x', missing: 0, deployables: {} })
  const picture = (bootId = 'b1', number = 1, devices: object = {}): Fact => ({
    type: 'PictureRecorded',
    name: 'h1',
    picture: shot(bootId, number),
    devices,
  })
  const liveness = (to: string, more: object = {}): Fact => ({ type: 'LivenessSet', liveness: to, by: 'op', ...more })
  const NEW = {
    exists: false,
    name: '',
    bootId: '',
    number: 0,
    digest: '',
    aliases: [],
    drivers: {},
    liveness: 'up',
    formerBoots: [],
    devices: {},
    departed: [],
    createdAt: 0,
    updatedAt: null,
  }
  const KNOWN = { ...NEW, ...shot('b1', 1), exists: true, name: 'h1', createdAt: 1000, reportedAt: 1000 }
  const two = picture('b1', 1, { c1: held('u1'), c2: held('u2') })
  const retired = liveness('up', { care: 'retired', reason: 'r' })
  const RETIRED = { ...KNOWN, retired: { by: 'op', reason: 'r', at: 2000 }, updatedAt: 2000 }
  const away = { canonical: 'c1', device: held('u1') }
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['its first picture', [picture()], KNOWN],
    ['its latest picture', [picture(), picture('b1', 2)], { ...KNOWN, number: 2, reportedAt: 2000, updatedAt: 2000 }],
    [
      'its former boots',
      [picture(), picture('b2', 1), picture('b2', 2)],
      { ...KNOWN, ...shot('b2', 2), formerBoots: ['b1'], reportedAt: 3000, updatedAt: 3000 },
    ],
    ['its devices', [two], { ...KNOWN, devices: { c1: held('u1'), c2: held('u2') } }],
    [
      'devices that left, and for how long it had the others',
      [two, picture('b1', 2, { c1: null, c9: null })],
      { ...KNOWN, number: 2, devices: { c2: held('u2') }, departed: [away], reportedAt: 2000, updatedAt: 2000 },
    ],
    [
      'no device as away that is back, by whatever path',
      [two, picture('b1', 2, { c1: null }), picture('b1', 3, { c3: held('u1') })],
      { ...KNOWN, number: 3, devices: { c2: held('u2'), c3: held('u1') }, reportedAt: 3000, updatedAt: 3000 },
    ],
    [
      'no device as away that only changed',
      [two, picture('b1', 2, { c1: { ...held('u1'), digest: 'y' } })],
      {
        ...KNOWN,
        number: 2,
        devices: { c1: { ...held('u1'), digest: 'y' }, c2: held('u2') },
        reportedAt: 2000,
        updatedAt: 2000,
      },
    ],
    [
      'that it is silent, and since when',
      [picture(), liveness('stale'), liveness('down')],
      { ...KNOWN, liveness: 'down', silentSince: 2000, updatedAt: 3000 },
    ],
    [
      'that it is heard of again',
      [picture(), liveness('stale'), picture('b1', 2)],
      { ...KNOWN, number: 2, reportedAt: 3000, updatedAt: 3000 },
    ],
    [
      'that it is removed, whatever it shows',
      [picture(), liveness('removed'), picture('b1', 2)],
      { ...KNOWN, number: 2, liveness: 'removed', reportedAt: 3000, updatedAt: 3000 },
    ],
    ['who retired it', [picture(), retired], RETIRED],
    [
      'who retired it while its liveness changes',
      [picture(), retired, liveness('stale')],
      { ...RETIRED, liveness: 'stale', silentSince: 3000, updatedAt: 3000 },
    ],
    [
      'who retired it without a reason',
      [picture(), liveness('up', { care: 'removed' })],
      { ...RETIRED, retired: { by: 'op', reason: '', at: 2000 } },
    ],
    [
      'nobody when it is restored',
      [picture(), retired, liveness('down', { care: 'restored' })],
      { ...KNOWN, liveness: 'down', silentSince: 3000, updatedAt: 3000 },
    ],
    [
      'devices that an operator took out',
      [two, liveness('up', { care: 'retired', reason: 'r', devices: { c1: null } })],
      { ...RETIRED, devices: { c2: held('u2') }, departed: [away] },
    ],
    ['nothing of an event of a later release', [picture(), { type: 'Polished' }], KNOWN],
  ])('remembers %s', (_, facts, state) => expect(after(...facts)).toStrictEqual(state))
  it('remembers its last 256 boots', () => {
    const boots = Array.from({ length: 258 }, (_, n) => picture(`b${n}`))
    expect(after(...boots).formerBoots).toEqual(boots.slice(1, 257).map((_, n) => `b${n + 1}`))
  })
  it('remembers the last thousand devices that left', () => {
    const all = Array.from({ length: 1001 }, (_, n) => [`c${n}`, held(`u${n}`)] as const)
    const left = (count: number) => {
      const names = all.slice(0, count).map(([name]) => [name, null])
      const { departed } = after(
        picture('b1', 1, Object.fromEntries(all)),
        picture('b1', 2, { c1000: null }),
        picture('b1', 3, Object.fromEntries(names)),
      )
      return [departed.length, departed[0]!.canonical]
    }
    expect([left(999), left(1000)]).toEqual([
      [1000, 'c1000'],
      [1000, 'c0'],
    ])
  })
  it('says when it last reported, or answered a question of its present start', () => {
    const asked = liveness('up', { probe: { did: 'asked', id: 'q', bootId: 'b1' } })
    const answered = (number: number) =>
      liveness('up', { probe: { did: 'answered', id: 'q', number, devices: 0, failed: [] } })
    const last = (...facts: readonly Fact[]) => lastReportOf(after(...facts))
    expect(last(picture('b1', 5))).toEqual({ number: 5, at: 1000 })
    expect(last(picture('b1', 5), asked)).toEqual({ number: 5, at: 1000 })
    expect(last(picture('b1', 5), asked, answered(6))).toEqual({ number: 6, at: 3000 })
    expect(last(picture('b1', 5), asked, answered(5))).toEqual({ number: 5, at: 1000 })
    expect(last(picture('b1', 5), asked, answered(6), picture('b2', 1))).toEqual({ number: 1, at: 4000 })
    expect(last()).toBe(null)
    const { reportedAt: _, ...older } = after(picture())
    expect([lastReportOf(older), lastReportOf({ ...older, exists: false, reportedAt: 7 })]).toEqual([null, null])
  })
  it('knows a former boot by its number, however many there were', () => {
    const numbered = (n: number): Fact => ({
      ...picture(),
      picture: { ...shot(`b${n}`, 1), bootNumber: 1000 + n },
    })
    const known = after(...Array.from({ length: 300 }, (_, n) => numbered(n)))
    const age = (n: number, bootNumber?: number) =>
      bootAge(known, { bootId: `b${n}`, ...(bootNumber === undefined ? {} : { bootNumber }) })
    expect([age(0, 1000), age(299, 1299), age(299), age(300, 1300)]).toEqual(['former', 'present', 'present', 'newer'])
    // a host that numbers its starts since an update, by its id
    const before = after(picture('b1'), picture('b2'))
    const numbers = ['b1', 'b2', 'b3'].map((bootId) => bootAge(before, { bootId, bootNumber: 1 }))
    expect(numbers).toEqual(['former', 'present', 'newer'])
    expect(bootAge(known, { bootId: 'other', bootNumber: 1299 })).toBe('former')
    // without its number, by its id, if that is remembered
    expect([age(298), age(300)]).toEqual(['former', 'newer'])
    expect(isNews(known, { bootId: 'b0', bootNumber: 1000, number: 1 })).toBe(false)
  })
  it('records a refused report once for each reason and hour', () => {
    const refusing = (at: number) => ({ type: 'RefuseReport', reason: 'foreign_host', detail: 'd', at })
    const refused = { type: 'ReportRefused', reason: 'foreign_host', detail: 'd' }
    expect(decide([], refusing(1))).toEqual([])
    expect(decide([picture()], refusing(1))).toEqual([refused])
    expect(decide([picture(), refused], refusing(3_600_000))).toEqual([])
    expect(decide([picture(), refused], { ...refusing(1), reason: 'former_boot' })).toHaveLength(1)
    expect(decide([picture(), refused], refusing(3_602_000))).toEqual([refused])
    expect(after(picture(), refused)).toStrictEqual({ ...KNOWN, refusals: { foreign_host: 2000 } })
    const both = { foreign_host: 2000, former_boot: 3000 }
    expect(after(picture(), refused, { ...refused, reason: 'former_boot' }).refusals).toEqual(both)
  })
  it('is news of an unknown host, in a new boot or with a higher number', () => {
    const known = after(picture('b1', 5), picture('b2', 5))
    const news = (bootId: string, number: number) => isNews(known, { bootId, number })
    expect([news('b2', 6), news('b2', 5), news('b3', 1), news('b1', 9)]).toEqual([true, false, true, false])
    expect(isNews(after(), { bootId: '', number: 0 })).toBe(true)
  })

  const gone = { c1: null }
  const word = { by: 'op', reason: 'r' }
  const unknown = { kind: 'not_found', resource: 'host', id: '' }
  const recording: Fact = { ...picture('b1', 2), type: 'RecordInventory' }
  const removed = liveness('removed', { care: 'removed', reason: 'r' })
  it.each<Decisions>([
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
    ['that serves is not restored', [picture()], { type: 'Restore', ...word }, []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toStrictEqual(decision))

  const row = (more: object = {}) => [
    {
      view: 'hosts',
      key: 'h1',
      row: {
        name: 'h1',
        liveness: 'up',
        out_of_service: null,
        boot_id: 'b1',
        drivers: { f: 1 },
        aliases: ['x'],
        created_at: 1000,
        updated_at: null,
        ...more,
      },
    },
  ]
  it('is shown with its liveness, its boot and its drivers', () => {
    expect(rows(picture())).toEqual(row())
    expect(rows(picture(), liveness('stale'))).toEqual(row({ liveness: 'stale', updated_at: 2000 }))
    const away = { out_of_service: true, updated_at: 2000 }
    expect(rows(picture(), liveness('down', { care: 'retired', reason: 'r' }))).toEqual(
      row({ ...away, liveness: 'down' }),
    )
    const gone = { liveness: 'removed', updated_at: 2000 }
    expect(rows(picture(), liveness('removed', { care: 'removed', reason: 'r' }))).toEqual(row(gone))
    expect(rows(picture(''))).toEqual(row({ boot_id: null }))
    expect(rows(liveness('stale'))).toEqual([])
    expect(rows(picture(), { type: 'Polished' })).toEqual([])
    expect([host.kind, hostKey('h1')]).toEqual(['host', 'host/h1'])
    expect(LIVENESS).toEqual(['up', 'stale', 'down', 'removed'])
    expect(STANDINGS).toEqual(['up', 'stale', 'down', 'removed', 'pending'])
  })
})
