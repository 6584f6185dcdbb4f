/** What an import writes into the journal, word for word: `appends.txt`, and the times of what it takes over. */
import { expect, test } from 'vitest'
import { recordsOf } from '../../src/actors/upstream/appends.ts'
import { type Plan, type PlannedArq, planImport } from '../../src/actors/upstream/plan.ts'
import type { Append } from '../../src/actors/runtime/ports.ts'
import { bond } from '../audit/cases/scene.ts'
import { NOW } from './recorded.ts'
import { WHOLE } from './whole.ts'

/** Ids in the order in which they are made. */
const counted = () => {
  let made = 0
  const next = () => `id-${++made}`
  return { uuid: next, ordered: next }
}
const linesOf = ({ rows, changes }: Append): readonly string[] => [
  `append, with changes of ${[...new Set(changes.map(({ view }) => view))].toSorted().join(', ') || 'nothing'}`,
  ...rows.map(({ key, version, commandId, at, cause, events }) =>
    [`  ${key}`, version, commandId, at - NOW, JSON.stringify(cause), JSON.stringify(events)].join(' '),
  ),
]
test('every append, in the order in which they have to be written', async () => {
  const lines = [...recordsOf(planImport(WHOLE), counted(), NOW)].flatMap(linesOf)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('appends.txt')
})

const EMPTY: Plan = { profiles: [], devices: [], arqs: [], withheld: [], notes: [] }
const timesOf = (more: Partial<Plan>) =>
  [...recordsOf({ ...EMPTY, ...more }, counted(), 100)].flatMap(({ rows }) => rows.map(({ key, at }) => [key, at]))
test('nothing is written where nothing is taken over', () => expect(timesOf({})).toEqual([]))
test('what is taken over is as old as it is upstream, and not younger than the import', () => {
  const profile = (name: string, createdAt: number | null) => ({
    facts: { uuid: `of ${name}`, name, description: null, groups: [] },
    createdAt,
  })
  const of = (name: string, at: number) => [
    [`profile-name/${name}`, at],
    [`profile/of ${name}`, at],
  ]
  const times = timesOf({ profiles: [profile('old', 5), profile('unknown', null), profile('ahead', 900)] })
  expect(times.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))).toEqual(
    [of('ahead', 100), of('old', 5), of('unknown', 100)].flat().toSorted(([one], [other]) => (one! < other! ? -1 : 1)),
  )
})
test('a bind is as old as the last change of its requests', () => {
  const arq = (uuid: string, instanceUuid: string, createdAt: number | null, updatedAt: number | null): PlannedArq => ({
    uuid,
    projectId: null,
    profileUuid: 'pr1',
    profileName: 'p',
    groupId: 0,
    group: {},
    createdAt,
    updatedAt,
    fate: { is: 'failed', bond: bond('h1', { instanceUuid }), reason: 'it failed' },
  })
  const arqs = [
    arq('a1', 'i1', 10, 50),
    arq('a2', 'i1', 60, null),
    arq('a3', 'i2', null, null),
    arq('a4', 'i3', 20, 30),
    { ...arq('a5', 'i4', 40, 41), fate: { is: 'unbound' } as const },
    { ...arq('a6', 'i4', 42, 43), fate: { is: 'initial' } as const },
  ]
  const times = new Map<string, readonly number[]>()
  for (const [key, at] of timesOf({ arqs }) as [string, number][]) times.set(key, [...(times.get(key) ?? []), at])
  expect(Object.fromEntries(times)).toEqual({
    'arq/a1': [10, 60],
    'arq/a2': [60, 60],
    'arq/a3': [100, 100],
    'arq/a4': [20, 30],
    'arq/a5': [40],
    'arq/a6': [42],
    'instance/i1': [60],
    'instance/i2': [100],
    'instance/i3': [30],
  })
})
