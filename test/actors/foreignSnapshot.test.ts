/** A snapshot that another release wrote is in the database: every entity is as its journal says. */
import { afterAll, describe, expect, it } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { freshDatabase } from '../support/postgres.ts'
import { pglitePool } from '../support/storePools.ts'

/** Binds, plants, and goes on with a control that remembers nothing. */
const lives = async (store: Store, by: number): Promise<void> => {
  const before = await openPlane({}, store)
  await before.shows('h', { seed: 1, devices: [{ kind: 'fpga', handles: 2, hostWork: false }] })
  const groups = [{ 'resources:FPGA': '1' }]
  value(await before.control.profiles.create(NOVA, { name: 'f', description: null, groups }))
  const [deployable] = value(await before.control.deployables.list({}, {})).items
  const arq = value(await before.control.arqs.create(NOVA, 'f'))[0]!.uuid
  const where = { hostname: 'h', deviceRpUuid: deployable!.rp_uuid!, instanceUuid: systemIds.uuid() }
  value(await before.control.arqs.bind(NOVA, [{ arq, ...where }]))
  const bound = value(await before.control.arqs.get(NOVA, arq))
  await before.plane.stop()

  const foreign = (entity: string) =>
    put('snapshots', { entity, version: 1, memory: { of: 'another' }, schema: snapshotSchemaOf(entity) + by })
  const changes = [`arq/${arq}`, `deployable/${deployable!.uuid}`].map(foreign)
  expect(await store.journal.append({ rows: [], changes })).toBe('appended')

  const after = await openPlane({}, store)
  expect(value(await after.control.arqs.get(NOVA, arq))).toEqual(bound)
  const other = value(await after.control.arqs.create(NOVA, 'f'))[0]!.uuid
  value(await after.control.arqs.bind(NOVA, [{ arq: other, ...where, instanceUuid: systemIds.uuid() }]))
  const handles = [bound, value(await after.control.arqs.get(NOVA, other))].map(({ handle_uuid }) => handle_uuid)
  expect(new Set(handles).size).toBe(2)
  value(await after.control.arqs.remove(NOVA, [arq]))
  await after.plane.stop()
}
const HERS = [
  ['an older release', -1],
  ['a newer release', 1],
] as const

describe('a snapshot of another release is not read: memory', () => {
  it.each(HERS)('%s', (_, by) => lives(memoryStore(), by))
})
describe('a snapshot of another release is not read: embedded', () => {
  const pool = pglitePool()
  afterAll(pool.end)
  it.each(HERS)(
    '%s',
    async (_, by) => {
      const store = await pool.take(Date.now)
      await lives(store, by)
      await store.close()
    },
    60_000,
  )
})
describeWith('postgres', 'a snapshot of another release is not read: PostgreSQL', (bin) => {
  it.each(HERS)(
    '%s',
    async (_, by) => {
      const database = await freshDatabase(bin)
      const store = await openStore({ kind: 'postgres', url: database.url })
      await lives(store, by)
      await store.close()
      await database.drop()
    },
    60_000,
  )
})
