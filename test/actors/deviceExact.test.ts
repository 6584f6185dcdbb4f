/** A device, a device profile and its name, to the letter. */
import { describe, expect, it } from 'vitest'
import { device, deviceKey } from '../../src/actors/device/decider.ts'
import { profile, profileKey, profileName, profileNameKey } from '../../src/actors/profile/decider.ts'
import { type Fact, FPGA, PGPU, card, profile as profileOf } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

type Decisions = readonly [string, readonly Fact[], Fact, unknown]
const [made] = card.events as readonly [Fact]
const FACTS = made['facts'] as Readonly<Record<string, unknown>>
const NO_FACTS = {
  driver: '',
  type: '',
  vendor: '',
  model: '',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: '',
}
const NEW = {
  exists: false,
  uuid: '',
  id: 0,
  host: '',
  facts: NO_FACTS,
  status: 'enabled',
  presence: 'present',
  createdAt: 0,
  updatedAt: null,
}
const MADE = { ...NEW, exists: true, uuid: 'c1', id: 1, host: 'host1', facts: FACTS, createdAt: 1000 }
const described: Fact = { type: 'DeviceDescribed', facts: { ...FACTS, model: 'n' } }
const status = (to: string): Fact => ({ type: 'StatusSet', status: to })
const presence = (to: string): Fact => ({ type: 'PresenceSet', presence: to })

describe('a device', () => {
  const { after, decide, rows } = exactly(device)
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['what it was recorded with', [made], MADE],
    ['what it is described as', [made, described], { ...MADE, facts: { ...FACTS, model: 'n' }, updatedAt: 2000 }],
    ['its status', [made, status('maintaining')], { ...MADE, status: 'maintaining', updatedAt: 2000 }],
    ['its presence', [made, presence('missing')], { ...MADE, presence: 'missing', updatedAt: 2000 }],
    ['nothing of an event of a later release', [made, { type: 'Polished' }], MADE],
  ])('remembers %s', (_, facts, state) => expect(after(...facts)).toEqual(state))

  const gone = (id: string) => ({ kind: 'not_found', resource: 'device', id })
  const describing = (facts: object, grown: boolean): Fact => ({ type: 'Describe', facts, grown })
  const setStatus = (to: string): Fact => ({ type: 'SetStatus', status: to })
  const setPresence = (to: string): Fact => ({ type: 'SetPresence', presence: to })
  it.each<Decisions>([
    ['is recorded', [], { ...made, type: 'Record' }, [made]],
    ['is recorded once', [made], { ...made, type: 'Record' }, []],
    ['that is not there is not found', [], setStatus('maintaining'), gone('')],
    ['that is retired is not found', [made, presence('retired')], setStatus('maintaining'), gone('c1')],
    ['that is retired comes back', [made, presence('retired')], setPresence('present'), [presence('present')]],
    ['that is missing is found', [made, presence('missing')], setStatus('maintaining'), [status('maintaining')]],
    ['is disabled once', [made, status('maintaining')], setStatus('maintaining'), []],
    ['is missing', [made], setPresence('missing'), [presence('missing')]],
    ['is missing once', [made, presence('missing')], setPresence('missing'), []],
    ['is not described anew when nothing changed', [made], describing(FACTS, false), []],
    [
      'is described anew when it has grown',
      [made],
      describing(FACTS, true),
      [{ type: 'DeviceDescribed', facts: FACTS }],
    ],
    ...Object.keys(NO_FACTS).map((fact): Decisions => [
      `is described anew with another ${fact}`,
      [made],
      describing({ ...FACTS, [fact]: 'new' }, false),
      [{ type: 'DeviceDescribed', facts: { ...FACTS, [fact]: 'new' } }],
    ]),
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  const ROW = {
    uuid: 'c1',
    id: 1,
    type: 'FPGA',
    vendor: '1bf2',
    model: 'm',
    std_board_info: 'std',
    vendor_board_info: 'own',
    hostname: 'host1',
    status: 'enabled',
    presence: 'present',
    driver: 'simulated_driver',
    failing: null,
    created_at: 1000,
    updated_at: null,
  }
  const boards: Fact = { ...made, facts: { ...FACTS, stdBoardInfo: 'std', vendorBoardInfo: 'own' } }
  const put = (row: object) => [{ view: 'devices', key: 'c1', row }]
  it.each<[string, readonly Fact[], unknown]>([
    ['with all its facts', [boards], put(ROW)],
    ['while it is missing', [boards, presence('missing')], put({ ...ROW, presence: 'missing', updated_at: 2000 })],
    ['no more when it is retired', [boards, presence('retired')], [{ view: 'devices', key: 'c1', row: null }]],
    ['no more once', [boards, presence('retired'), status('maintaining')], []],
    ['again when it is back', [boards, presence('retired'), presence('present')], put({ ...ROW, updated_at: 3000 })],
    ['not at all before it is recorded', [status('maintaining')], []],
    ['not at all when it never was', [presence('retired')], []],
    ['not anew when nothing changed', [boards, { type: 'Polished' }], []],
  ])('is shown %s', (_, facts, changes) => expect(rows(...facts)).toEqual(changes))
  it('is kept under its key', () => expect([device.kind, deviceKey('c1')]).toEqual(['device', 'device/c1']))
})

describe('a device profile', () => {
  const { after, decide, rows } = exactly(profile)
  const [first] = profileOf(FPGA).events as readonly [Fact]
  const [second] = profileOf(PGPU).events as readonly [Fact]
  const facts = (groups: readonly object[]) => ({ uuid: 'pr1', name: 'p', description: null, groups })
  const gone: Fact = { type: 'ProfileRemoved', name: 'p' }
  const regrouped: Fact = { type: 'ProfileRegrouped', by: 'op', reason: 'r' }
  const NOTHING = { facts: null, createdAt: 0, versions: [], projects: null }
  const version = (groups: readonly object[], createdAt: number, number = 1) => ({
    version: number,
    description: null,
    groups,
    enabled: true,
    createdAt,
  })
  const secondVersion: Fact = { ...second, version: 2 }
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NOTHING],
    [
      'what it was made with',
      [first],
      { ...NOTHING, facts: facts([FPGA]), createdAt: 1000, versions: [version([FPGA], 1000)] },
    ],
    [
      'what a release without versions changed, as the same version',
      [first, second],
      { ...NOTHING, facts: facts([PGPU]), createdAt: 1000, updatedAt: 2000, versions: [version([PGPU], 1000)] },
    ],
    [
      'each version',
      [first, secondVersion],
      {
        ...NOTHING,
        facts: facts([PGPU]),
        createdAt: 1000,
        updatedAt: 2000,
        versions: [version([FPGA], 1000), version([PGPU], 2000, 2)],
      },
    ],
    ['nothing when it is removed', [first, gone], NOTHING],
    [
      'nothing of who changed it',
      [first, regrouped],
      { ...NOTHING, facts: facts([FPGA]), createdAt: 1000, versions: [version([FPGA], 1000)] },
    ],
    [
      'nothing of its former life',
      [first, gone, second],
      { ...NOTHING, facts: facts([PGPU]), createdAt: 3000, versions: [version([PGPU], 3000)] },
    ],
  ])('remembers %s', (_, events, state) => expect(after(...events)).toStrictEqual(state))

  const regroup = (was: object, groups: object): Fact => ({ type: 'Regroup', was, groups, by: 'op', reason: 'r' })
  const changed = (name: string) => ({
    kind: 'conflict',
    reason: `device profile ${name} was changed or deleted meanwhile: ask again`,
  })
  it.each<Decisions>([
    ['is made', [], { type: 'Create', profile: facts([FPGA]) }, [first]],
    [
      'is made once',
      [first],
      { type: 'Create', profile: facts([FPGA]) },
      { kind: 'exists', resource: 'device profile', field: 'uuid', value: 'pr1' },
    ],
    ['is removed', [first], { type: 'Remove' }, [gone]],
    [
      'that is not there is not removed',
      [],
      { type: 'Remove' },
      { kind: 'not_found', resource: 'device profile', id: '' },
    ],
    ['gets other groups', [first], regroup([FPGA], [PGPU]), [regrouped, secondVersion]],
    ['keeps the same groups', [first], regroup([FPGA], [FPGA]), []],
    ['that has other groups by now keeps them', [first], regroup([PGPU], [FPGA]), changed('p')],
    ['that is not there gets no groups', [], regroup([PGPU], [FPGA]), changed('')],
  ])('%s', (_, events, command, decision) => expect(decide(events, command)).toEqual(decision))

  const row = (groups: readonly object[], more: object = {}) => [
    {
      view: 'profiles',
      key: 'pr1',
      row: { ...facts(groups), version: 1, enabled: true, projects: null, created_at: 1000, updated_at: null, ...more },
    },
  ]
  it.each<[string, readonly Fact[], unknown]>([
    ['with its groups', [first], row([FPGA])],
    ['with when it was changed', [first, secondVersion], row([PGPU], { version: 2, updated_at: 2000 })],
    ['no more when it is removed', [first, gone], [{ view: 'profiles', key: 'pr1', row: null }]],
    ['not at all when it never was', [gone], []],
    ['not anew when nothing changed', [first, regrouped], []],
  ])('is shown %s', (_, events, changes) => expect(rows(...events)).toEqual(changes))
  it('is kept under its key', () => expect([profile.kind, profileKey('pr1')]).toEqual(['profile', 'profile/pr1']))
})

describe('the name of a device profile', () => {
  const { after, decide, rows } = exactly(profileName)
  const taken: Fact = { type: 'NameTaken', holder: 'pr1' }
  it('is held, and free again', () => {
    expect(after()).toEqual({ holder: null })
    expect(after(taken)).toEqual({ holder: 'pr1' })
    expect(after(taken, { type: 'NameFreed' })).toEqual({ holder: null })
    expect(after(taken, { type: 'Polished' })).toEqual({ holder: 'pr1' })
  })
  it('is taken by one', () => {
    const take: Fact = { type: 'Take', name: 'p', holder: 'pr1' }
    expect(decide([], take)).toEqual([taken])
    expect(decide([taken], take)).toEqual({ kind: 'exists', resource: 'device profile', field: 'name', value: 'p' })
    expect(decide([taken], { type: 'Free' })).toEqual([{ type: 'NameFreed' }])
  })
  it('is not shown, and kept under its key', () => {
    expect(rows(taken)).toEqual([])
    expect([profileName.kind, profileNameKey('p')]).toEqual(['profile-name', 'profile-name/p'])
  })
})
