/**
 * Which view rows each fact of a deployable changes, to the letter, and that those which stay the same are not written
 * again: `-u` where a change is meant.
 */
import { expect, it } from 'vitest'
import { deployable } from '../../src/actors/deployable/decider.ts'
import { described, done, type Fact, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { rows } = exactly(deployable)
const RC = { uuid: 'rc', key: 'rc', value: 'FPGA', origin: 'driver', createdAt: 0 }
const TRAIT = { uuid: 't', key: 'trait1', value: 'T', origin: 'driver', createdAt: 0 }
const made = recorded()
const prepare = order('h1', 1, { type: 'PrepareSlot' })
const describes = (handles: readonly (string | object)[], more: object = {}): Fact => ({
  type: 'DeployableDescribed',
  description: described(handles, more),
})
const attributes = (...all: readonly object[]) => describes(['h1', 'h2'], { attributes: all })
const presence = (to: string): Fact => ({ type: 'PresenceSet', presence: to })
const worked = [made, granted('h1', 'a1', prepare), done()] as const
const stuck: readonly Fact[] = [
  ...worked,
  released('h1', 'a1', order('h1', 2)),
  { type: 'OrderFailed', slot: 'h1', number: 2, reason: 'r', again: null },
]
const programs: Fact = { type: 'ProgramStarted', image: 'image', order: order('d1', 4) }

const SCENES: readonly (readonly [string, ...Fact[]])[] = [
  ['recorded', made],
  [
    'recorded as a node below another',
    recorded({}, { tree: { parentId: 1, parentUuid: 'p', rootId: 1, rootUuid: 'p' } }),
  ],
  ['described as it was', made, describes(['h1', 'h2'])],
  ['an attribute more', made, attributes(RC, TRAIT)],
  ['an attribute with another value', made, attributes(RC, TRAIT), attributes(RC, { ...TRAIT, value: 'U' })],
  ['an attribute with another key', made, attributes(RC, TRAIT), attributes(RC, { ...TRAIT, key: 'trait2' })],
  ['an attribute below another', made, attributes(RC, TRAIT), attributes(RC, { ...TRAIT, parent: 'rc' })],
  ['an attribute less', made, attributes(RC, TRAIT), attributes(RC)],
  ['a handle more', made, describes(['h1', 'h2', 'h3'])],
  ['a handle less', made, describes(['h2'])],
  ['a handle granted without work', made, granted()],
  ['a handle granted with work', made, granted('h1', 'a1', prepare)],
  ['its host has answered', ...worked],
  ['a release ordered', ...worked, released('h1', 'a1', order('h1', 2))],
  ['a release that failed', ...stuck],
  ['a programming begins', made, programs],
  [
    'a handle is quarantined',
    made,
    { type: 'HandleQuarantined', handle: 'h1', until: 'released', by: 'op', reason: 'r' },
  ],
  ['retired', made, attributes(RC, TRAIT), presence('retired')],
  ['retired while a release failed and a programming runs', ...stuck, programs, presence('retired')],
  ['retired once more', made, presence('retired'), presence('retired')],
  ['back after it was retired', made, presence('retired'), presence('present')],
]

it('each fact changes these rows', async () => {
  const text = SCENES.map(([name, ...facts]) =>
    [name, ...rows(...facts).map((change) => `  ${JSON.stringify(change)}`), ''].join('\n'),
  ).join('\n')
  await expect(text).toMatchFileSnapshot('deployableRows.txt')
})
