/** A device profile and its name, to the letter. */
import { describe, expect, it } from 'vitest'
import { profile, profileKey, profileName, profileNameKey } from '../../src/actors/profile/decider.ts'
import { VERSIONS_KEPT, shownOf } from '../../src/actors/profile/versions.ts'
import type { Fact } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after, decide, rows } = exactly(profile)
type Case = readonly [string, readonly Fact[], Fact, unknown]
const [ONE, TWO] = [[{ 'resources:FPGA': '1' }], [{ 'resources:FPGA': '1', 'trait:CUSTOM_A': 'required' }]]
const WORD = { by: 'op', reason: 'r' }
const facts = (groups: object = ONE, description: string | null = 'd') => ({
  uuid: 'u1',
  name: 'p',
  description,
  groups,
})
const made: Fact = { type: 'ProfileCreated', profile: facts() }
const second: Fact = { type: 'ProfileCreated', profile: facts(TWO, 'e'), version: 2 }
const regrouped: Fact = { type: 'ProfileRegrouped', ...WORD }
const set = (version: number, enabled: boolean): Fact => ({ type: 'ProfileVersionSet', version, enabled, ...WORD })
const shared = (projects: readonly string[] | null): Fact => ({ type: 'ProfileShared', projects, ...WORD })
const removed: Fact = { type: 'ProfileRemoved', name: 'p' }
const NEW = { facts: null, createdAt: 0, versions: [], projects: null }
const version = (number: number, more: object = {}) => ({
  version: number,
  description: 'd',
  groups: ONE,
  enabled: true,
  createdAt: 1000,
  ...more,
})
const MADE = { facts: facts(), createdAt: 1000, versions: [version(1)], projects: null }
const later = version(2, { description: 'e', groups: TWO, createdAt: 2000 })
const TWICE = { ...MADE, facts: facts(TWO, 'e'), versions: [version(1), later], updatedAt: 2000 }

describe('a device profile remembers', () => {
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['its first version', [made], MADE],
    ['its versions, and shows the newest', [made, second], TWICE],
    [
      'the content of its newest version, as releases without versions changed it',
      [made, { type: 'ProfileCreated', profile: facts(TWO, 'e') }],
      { ...MADE, facts: facts(TWO, 'e'), versions: [version(1, { description: 'e', groups: TWO })], updatedAt: 2000 },
    ],
    [
      'the content of its newest version where the number is known already',
      [made, second, { ...second, profile: facts(ONE, 'f'), version: 2 }],
      {
        ...MADE,
        facts: facts(ONE, 'f'),
        versions: [version(1), { ...later, description: 'f', groups: ONE }],
        updatedAt: 3000,
      },
    ],
    [
      'which version is disabled, and shows the newest that is not',
      [made, second, set(2, false)],
      { ...MADE, versions: [version(1), { ...later, enabled: false }], updatedAt: 3000 },
    ],
    [
      'that no version is enabled, and shows the newest',
      [made, second, set(1, false), set(2, false)],
      { ...TWICE, versions: [version(1, { enabled: false }), { ...later, enabled: false }], updatedAt: 4000 },
    ],
    ['whom it is for', [made, shared(['p1', 'p2'])], { ...MADE, projects: ['p1', 'p2'], updatedAt: 2000 }],
    ['that it is for all again', [made, shared(['p1']), shared(null)], { ...MADE, updatedAt: 3000 }],
    ['nothing when it is removed', [made, second, shared(['p1']), removed], NEW],
    [
      'nothing of its former life',
      [made, second, removed, made],
      { ...MADE, createdAt: 4000, versions: [version(1, { createdAt: 4000 })] },
    ],
    ['nothing that is said of it when it is removed', [made, removed, set(1, false), shared(['p1']), regrouped], NEW],
    ['who changed it in the journal only', [made, regrouped, { type: 'Polished' }], MADE],
  ])('%s', (_, past, state) => expect(after(...past)).toStrictEqual(state))
  it('its last versions', () => {
    const many = Array.from({ length: VERSIONS_KEPT + 1 }, (_, at): Fact => ({ ...second, version: at + 1 }))
    expect(after(...many).versions.map((one) => one.version)).toEqual(many.slice(1).map((_, at) => at + 2))
    expect(after(...many.slice(1)).versions).toHaveLength(VERSIONS_KEPT)
    expect(shownOf([])).toBe(null)
  })
})

const gone = { kind: 'not_found', resource: 'device profile', id: '' }
const update = (more: object = {}): Fact => ({
  type: 'Update',
  ifVersion: null,
  enabled: true,
  versions: [],
  ...WORD,
  ...more,
})
const regroup = (was: object, groups: object): Fact => ({ type: 'Regroup', was, groups, ...WORD })
const changed = (name: string) => ({
  kind: 'conflict',
  reason: `device profile ${name} was changed or deleted meanwhile: ask again`,
})
const next = (number: number, groups: object, description: string | null = 'd') => [
  regrouped,
  { type: 'ProfileCreated', profile: facts(groups, description), version: number },
]
describe('of a device profile is decided', () => {
  it.each<Case>([
    ['that it is made', [], { type: 'Create', profile: facts() }, [made]],
    [
      'that it is made once',
      [made],
      { type: 'Create', profile: { ...facts(), uuid: 'other' } },
      { kind: 'exists', resource: 'device profile', field: 'uuid', value: 'u1' },
    ],
    ['that it is removed', [made], { type: 'Remove' }, [removed]],
    ['that none is removed', [], { type: 'Remove' }, gone],
    ['that none is changed', [], update({ description: 'x' }), gone],
    ['another description', [made], update({ description: 'x' }), next(2, ONE, 'x')],
    ['no description any more', [made], update({ description: null }), next(2, ONE, null)],
    ['other groups', [made, second], update({ groups: ONE }), next(3, ONE, 'e')],
    [
      'a version that is not enabled yet',
      [made],
      update({ groups: TWO, enabled: false }),
      [...next(2, TWO), set(2, false)],
    ],
    ['nothing for the same content', [made], update({ groups: ONE, description: 'd' }), []],
    [
      'the same content as a disabled version',
      [made],
      update({ groups: ONE, enabled: false }),
      [...next(2, ONE), set(2, false)],
    ],
    ['nothing where nothing is asked', [made], update(), []],
    [
      'a change of the version that was seen',
      [made, second],
      update({ ifVersion: 2, description: 'x' }),
      next(3, TWO, 'x'),
    ],
    [
      'no change where a newer version has come',
      [made, second],
      update({ ifVersion: 1, description: 'x' }),
      changed('p'),
    ],
    [
      'which versions are enabled, as far as that changes',
      [made, second, set(1, false)],
      update({
        versions: [
          { version: 1, enabled: true },
          { version: 2, enabled: true },
        ],
      }),
      [set(1, true)],
    ],
    [
      'several versions at once',
      [made, second],
      update({
        versions: [
          { version: 2, enabled: false },
          { version: 1, enabled: false },
        ],
      }),
      [set(2, false), set(1, false)],
    ],
    [
      'nothing of a version that is not there',
      [made, second],
      update({
        versions: [
          { version: 1, enabled: false },
          { version: 3, enabled: false },
        ],
      }),
      { kind: 'invalid', field: 'versions.3', rule: 'the versions of p are 1 to 2' },
    ],
    ['whom it is for, in one order', [made], update({ projects: ['p2', 'p1'] }), [shared(['p1', 'p2'])]],
    ['nothing for the same projects', [made, shared(['p1', 'p2'])], update({ projects: ['p2', 'p1'] }), []],
    ['that it is for all', [made, shared(['p1'])], update({ projects: null }), [shared(null)]],
    ['nothing where it is for all already', [made], update({ projects: null }), []],
    [
      'everything at once',
      [made],
      update({ description: 'x', versions: [{ version: 1, enabled: false }], projects: ['p1'] }),
      [...next(2, ONE, 'x'), set(1, false), shared(['p1'])],
    ],
    ['other groups where they are as they were read', [made], regroup(ONE, TWO), next(2, TWO)],
    [
      'other groups, disabled as what is shown',
      [made, set(1, false)],
      regroup(ONE, TWO),
      [...next(2, TWO), set(2, false)],
    ],
    ['nothing for the same groups', [made], regroup(ONE, ONE), []],
    ['no other groups where they have changed', [made], regroup(TWO, ONE), changed('p')],
    ['no other groups where there are none', [], regroup(ONE, TWO), changed('')],
  ])('%s', (_, past, command, decision) => expect(decide(past, command)).toEqual(decision))
})

describe('a device profile is shown', () => {
  const row = (more: object = {}) => [
    {
      view: 'profiles',
      key: 'u1',
      row: {
        uuid: 'u1',
        name: 'p',
        description: 'd',
        groups: ONE,
        version: 1,
        enabled: true,
        projects: null,
        created_at: 1000,
        updated_at: null,
        ...more,
      },
    },
  ]
  it.each<[string, readonly Fact[], unknown]>([
    ['as it was made', [made], row()],
    ['with its newest version', [made, second], row({ description: 'e', groups: TWO, version: 2, updated_at: 2000 })],
    ['with a former version', [made, second, set(2, false)], row({ updated_at: 3000 })],
    ['as disabled where no version is enabled', [made, set(1, false)], row({ enabled: false, updated_at: 2000 })],
    ['to projects', [made, shared(['p1'])], row({ projects: ['p1'], updated_at: 2000 })],
    ['no more when it is removed', [made, removed], [{ view: 'profiles', key: 'u1', row: null }]],
    ['not at all when it was not there', [removed], []],
    ['as before where nothing changes', [made, regrouped], []],
  ])('%s', (_, past, changes) => expect(rows(...past)).toEqual(changes))
  it('under its key', () => expect([profile.kind, profileKey('u1')]).toEqual(['profile', 'profile/u1']))
})

describe('the name of a device profile', () => {
  const name = exactly(profileName)
  const taken: Fact = { type: 'NameTaken', holder: 'u1' }
  const take: Fact = { type: 'Take', name: 'p', holder: 'u2' }
  const freed: Fact = { type: 'NameFreed' }
  it('has one holder until it is given up', () => {
    expect([
      name.after(),
      name.after(taken),
      name.after(taken, freed),
      name.after(taken, { type: 'Polished' }),
    ]).toEqual([{ holder: null }, { holder: 'u1' }, { holder: null }, { holder: 'u1' }])
    expect(name.decide([], take)).toEqual([{ type: 'NameTaken', holder: 'u2' }])
    const exists = { kind: 'exists', resource: 'device profile', field: 'name', value: 'p' }
    expect(name.decide([taken], take)).toEqual(exists)
    expect(name.decide([taken], { type: 'Free' })).toEqual([freed])
    expect(name.rows(taken)).toEqual([])
    expect([profileName.kind, profileNameKey('p')]).toEqual(['profile-name', 'profile-name/p'])
  })
})
