/** What is decided of device profiles, of their names and of the integer ids of the inventory. */
import { describe, expect, it } from 'vitest'
import type { Fact } from '../audit/cases/scene.ts'
import { type Case, deciding } from './decided.ts'

const { decide } = deciding('profile')
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
    ['that it is made anew after it was removed', [made, removed], { type: 'Create', profile: facts() }, [made]],
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

describe('beside profiles', () => {
  const [name, numbers] = [deciding('profile-name'), deciding('numbers')]
  const taken: Fact = { type: 'NameTaken', holder: 'u1' }
  const take: Fact = { type: 'Take', name: 'p', holder: 'u2' }
  it('a name has one holder until it is given up', () => {
    expect(name.decide([], take)).toEqual([{ type: 'NameTaken', holder: 'u2' }])
    const exists = { kind: 'exists', resource: 'device profile', field: 'name', value: 'p' }
    expect(name.decide([taken], take)).toEqual(exists)
    expect(name.decide([taken], { type: 'Free' })).toEqual([{ type: 'NameFreed' }])
    expect(name.decide([taken, { type: 'NameFreed' }], take)).toEqual([{ type: 'NameTaken', holder: 'u2' }])
  })
  it('integer ids are taken in blocks and never twice; none taken is nothing recorded', () => {
    const three: Fact = { type: 'NumbersTaken', count: 3 }
    expect(numbers.decide([], { type: 'Take', count: 3 })).toEqual([three])
    expect(numbers.decide([three], { type: 'Take', count: 0 })).toEqual([])
    expect(numbers.after(three, { type: 'NumbersTaken', count: 2 }).last).toBe(5)
  })
})
