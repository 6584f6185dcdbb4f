/**
 * A memory that changes its shape gets another number, so that no program reads a snapshot that it does not understand.
 */
import { describe, expect, test } from 'vitest'
import { ENTITIES, deciderOf } from '../../src/actors/entities.ts'
import { absorb, blank, kindOf } from '../../src/actors/runtime/memory.ts'
import { SNAPSHOT_SCHEMAS } from '../../src/actors/runtime/snapshots.ts'
import { golden } from './releases.ts'
import { playScenario } from './scenario.ts'

/** The keys of these are content. */
const RECORDS =
  /\.(arqs|away|deployables|devices|drivers|group|groups\.\*|handles|ignored|info|of|providers|refusals|statuses|unallocated)$/
/** Each field with its type, however deep. What may be empty says nothing while it is. */
const fieldsOf = (value: unknown, path: string, found: Set<string>): void => {
  if (value === null || value === undefined) return
  if (typeof value !== 'object') return void found.add(`${path.slice(1)}: ${typeof value}`)
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((one) => ['*', one] as const)
    : Object.entries(value)
  for (const [key, one] of entries) fieldsOf(one, `${path}.${RECORDS.test(path) ? '*' : key}`, found)
}

const shapes = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const found = new Map(Object.keys(ENTITIES).map((kind) => [kind, new Set<string>()]))
  for (const [key, rows] of Map.groupBy(await playScenario(), (row) => row.key)) {
    let memory = blank(key, deciderOf(key))
    for (const row of rows) {
      memory = absorb(deciderOf(key), memory, row)
      fieldsOf(memory.state, '', found.get(kindOf(key))!)
    }
  }
  return new Map([...found].map(([kind, fields]) => [kind, [...fields].toSorted()]))
}

describe('the number of snapshots', () => {
  test('is there for every kind of entity, and for no other', () =>
    expect(Object.keys(SNAPSHOT_SCHEMAS).toSorted()).toEqual(Object.keys(ENTITIES).toSorted()))

  test('stands for the fields that such a memory has', async () => {
    const lines = golden('snapshots.txt').trim().split('\n')
    const recorded = new Map(
      lines
        .map((line) => line.split(': ', 1)[0]!)
        .map((name, n) => [name, lines[n]!.slice(name.length + 2).split('; ')]),
    )
    for (const [kind, fields] of await shapes()) {
      const name = `${kind} ${SNAPSHOT_SCHEMAS[kind]}`
      const hint =
        `the memory of a ${kind} has other fields than those recorded as "${name}": if a release wrote these, raise its number in ` +
        `SNAPSHOT_SCHEMAS; then record in test/golden/snapshots.txt: ${kind} N: ${fields.join('; ')}`
      expect(fields, hint).toEqual(recorded.get(name))
    }
  })
})
