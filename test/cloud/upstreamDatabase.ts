/**
 * Databases of upstream Cyborg as it makes them itself, filled with given rows: on a real MariaDB, and on PostgreSQL.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
import type { Part } from '../support/needs.ts'
import { needs } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type Insert, insertsOf } from '../upstream/insert.ts'
import { START_MS } from './rig.ts'

const RIG = join(import.meta.dirname, '../../infra/rig/mariadb')
const run = promisify(execFile)

/** What the rig is made of: it brings MariaDB itself where the machine has none. */
export const UPSTREAM: Part = {
  name: 'Python with pip, and PostgreSQL',
  installable: true,
  find: () => {
    const lacking = [needs('pip'), needs('postgres')].find((part) => part.lacking !== undefined)?.lacking
    return lacking === undefined ? { at: needs('postgres').at! } : { lacking }
  },
}

export type UpstreamDatabase = {
  /** As upstream's configuration writes it. */
  readonly url: string
  /** All rows of all tables, as text. */
  readonly content: () => Promise<string>
  readonly end: () => Promise<void>
}

const onMariadb = async (url: string) =>
  createConnection({ uri: url.replace('mysql+pymysql:', 'mysql:'), multipleStatements: true })

const fillMariadb = async (url: string, inserts: readonly Insert[]): Promise<void> => {
  const connection = await onMariadb(url)
  await connection.query('set foreign_key_checks = 0')
  for (const { table, columns, rows } of inserts) {
    const names = columns.map((name) => `\`${name}\``).join(', ')
    if (rows.length > 0) await connection.query(`insert into \`${table}\` (${names}) values ?`, [rows])
  }
  await connection.end()
}

export const mariadbWith = async (tables: UpstreamTables): Promise<UpstreamDatabase> => {
  const data = mkdtempSync('/var/tmp/mariadb-')
  const port = String(await freePort())
  const env = { ...process.env, MARIADB_RIG_DATA: data, MARIADB_PORT: port }
  const script = (name: string, ...args: readonly string[]) => run(join(RIG, name), args, { env, timeout: START_MS })
  const end = async () => void (await script('stop', '--wipe'))
  const url = `mysql+pymysql://cyborg:rig-secret@127.0.0.1:${port}/cyborg?charset=utf8`
  const inserts = insertsOf(tables)
  try {
    await script('start')
    await script('schema', url)
    await fillMariadb(url, inserts)
  } catch (error) {
    await end().catch(() => undefined)
    throw error
  }
  const content = async () => {
    const connection = await onMariadb(url)
    const pages = await Promise.all(
      inserts.map(({ table }) => connection.query(`select * from \`${table}\` order by id`)),
    )
    await connection.end()
    return JSON.stringify(pages.map(([rows]) => rows))
  }
  return { url, content, end }
}

const fillPostgres = async (client: Client, inserts: readonly Insert[]): Promise<void> => {
  await client.query('set session_replication_role = replica')
  for (const { table, columns, rows } of inserts) {
    const names = columns.map((name) => `"${name}"`).join(', ')
    const places = columns.map((_, n) => `$${n + 1}`).join(', ')
    for (const row of rows) await client.query(`insert into "${table}" (${names}) values (${places})`, [...row])
  }
}

/** `bin`: programs of PostgreSQL. */
export const postgresWith = async (bin: string, tables: UpstreamTables): Promise<UpstreamDatabase> => {
  const { url, drop } = await freshDatabase(bin)
  const upstreamUrl = url.replace(/^postgres:/, 'postgresql+psycopg2:')
  await run(join(RIG, 'schema'), [upstreamUrl], { timeout: START_MS })
  const client = new Client({ connectionString: url })
  await client.connect()
  const inserts = insertsOf(tables)
  await fillPostgres(client, inserts)
  const content = async () => {
    const pages: unknown[] = []
    for (const { table } of inserts) pages.push((await client.query(`select * from "${table}" order by id`)).rows)
    return JSON.stringify(pages)
  }
  const end = async () => {
    await client.end()
    await drop()
  }
  return { url: upstreamUrl, content, end }
}
