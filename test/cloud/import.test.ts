/**
 * `accelerando import` on databases that upstream made itself, with the damage it leaves: into a folder, and into
 * PostgreSQL.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { planImport } from '../../src/actors/upstream/plan.ts'
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
import { openStore } from '../../src/persistence/open.ts'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runProgram, tempFolder } from '../support/program.ts'
import { uuidOf } from '../upstream/scenario.ts'
import { ARQS, WHOLE } from '../upstream/whole.ts'
import { START_MS } from './rig.ts'
import { UPSTREAM, type UpstreamDatabase, mariadbWith, postgresWith } from './upstreamDatabase.ts'

type Told = { readonly notes: unknown; readonly written: number | null; readonly devices: number }
const told = (out: string) => JSON.parse(out) as Told
/** Embedded databases start slowly on a machine that is busy. */
const SLOW_MS = 180_000
vi.setConfig({ testTimeout: 2 * SLOW_MS })
const folder = tempFolder('import')
afterAll(() => folder.remove())

const KINDS = {
  'MariaDB, by its own migrations': (_: string, tables: UpstreamTables) => mariadbWith(tables),
  'PostgreSQL, by its own models': postgresWith,
}

describeWith(UPSTREAM, 'an upstream database', (bin) => {
  describe.each(Object.entries(KINDS))('on %s', (kind, made) => {
    const [file, data] = [join(folder.path, kind.slice(0, 5)), join(folder.path, `${kind.slice(0, 5)}-data`)]
    const into = ['import', '--from-file', file, '--data', data]
    let upstream: UpstreamDatabase
    beforeAll(async () => {
      upstream = await made(bin, WHOLE)
      writeFileSync(file, `[database]\nmysql_engine = InnoDB\nconnection = ${upstream.url}\n`)
    }, START_MS)
    afterAll(() => upstream?.end())

    test('is read as it is, and every repair is printed', async () => {
      const { code, out, err } = await commandHere([...into, '--json'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(told(out)).toMatchObject({ notes: planImport(WHOLE).notes, written: null })
      const lines = await commandHere(into)
      for (const { rule, table, id, uuid } of planImport(WHOLE).notes)
        expect(lines.out).toMatch(new RegExp(`^(repaired|left out) +${rule} +${table} ${id} \\(${uuid}\\): `, 'm'))
      expect(lines.out).toMatch(/^nothing was written: --apply writes it$/m)
    })
    test('is found by the variable too, where no option names it', async () => {
      const env = { ACCELERANDO_IMPORT_FROM: upstream.url }
      const { code, out, err } = await commandHere(['import', '--data', data, '--json'], env)
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(told(out).notes).toEqual(planImport(WHOLE).notes)
    })
    test('is taken over with --apply, is left as it was, and the audit finds nothing', async () => {
      const before = await upstream.content()
      const { code, out, err } = await commandHere([...into, '--apply', '--json'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(told(out).written).toBeGreaterThan(50)
      expect(await upstream.content()).toBe(before)
      const audited = await commandHere(['audit', '--data', data])
      expect(audited.out + audited.err).toMatch(/no violation|0 violations|clean/)
      expect(audited.code).toBe(0)
    })
    test('is not taken over twice', async () => {
      const { code, err } = await commandHere([...into, '--apply'])
      expect(code).toBe(1)
      expect(err).toMatch(
        /^the target was used before: it holds 24 devices and 25 accelerator requests now\. Nothing was written/,
      )
    })
    test('shows the same objects as before, with their parents and their states', async () => {
      const store = await openStore({ kind: 'pglite', dir: join(data, 'store') })
      const { plane, control } = await openPlane({}, store)
      const arqs = value(await control.arqs.list(NOVA, {}, {})).items
      expect(Object.fromEntries(arqs.map(({ uuid, state }) => [Number(uuid.slice(-12)), state]))).toEqual(ARQS)
      const deployables = value(await control.deployables.list({}, {})).items
      expect(deployables.find(({ id }) => id === 19)).toMatchObject({
        uuid: uuidOf('deployable', 19),
        parent_id: 18,
        root_id: 17,
        rp_uuid: null,
      })
      const profile = value(await control.profiles.byName('gpu'))
      expect(profile).toMatchObject({ uuid: uuidOf('profile', 1), name: 'gpu', description: 'ein Gerät' })
      value(await control.arqs.removeByInstance(NOVA, uuidOf('instance', 1)))
      await plane.stop()
      await store.close()
    })
    test('is not written to a database when the process is killed in the middle; then it is', async () => {
      const target = await freshDatabase(bin)
      const args = ['--from-file', file, '--database', target.url]
      expect((await runProgram({ args: ['migrate', '--database', target.url] }).exited).code).toBe(0)
      const [one, other] = [new Client({ connectionString: target.url }), new Client({ connectionString: target.url })]
      await one.connect()
      await other.connect()
      // it waits for the views of requests when it has written the journal
      await one.query('begin')
      await one.query('lock table arqs in access exclusive mode')
      const killed = runProgram({ args: ['import', '--apply', ...args] })
      const waits = `select 1 from pg_locks where not granted and relation = 'arqs'::regclass`
      await expect.poll(async () => (await other.query(waits)).rowCount, { timeout: SLOW_MS }).toBe(1)
      await killed.end('SIGKILL')
      await one.query('rollback')
      const count = async () => (await other.query('select count(*)::int n from journal')).rows[0].n as number
      expect(await count()).toBe(0)
      // the server notices the end of the killed process with its next step
      const again = async () => (await runProgram({ args: ['import', '--apply', ...args] }).exited).code
      await expect.poll(again, { timeout: SLOW_MS, interval: 1000 }).toBe(0)
      expect(await count()).toBeGreaterThan(50)
      await one.end()
      await other.end()
      await target.drop()
    })
  })

  test('that cannot be reached, or is none, is said so without its password', async () => {
    const refused = await commandHere(['import', '--from', 'mysql://cyborg:secret@127.0.0.1:1/cyborg'])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toMatch(/^upstream's database cannot be opened: connect ECONNREFUSED 127\.0\.0\.1:1$/m)
    const { url, drop } = await freshDatabase(bin)
    const none = await commandHere(['import', '--from', url])
    expect(none.err).toBe('table devices cannot be read: relation "devices" does not exist\n')
    await drop()
  })
})
