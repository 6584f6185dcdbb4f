/** Reads all of an upstream database: page by page, in one snapshot, with a limit for each table. */
import * as v from 'valibot'
import type { UpstreamTables } from '../../actors/upstream/rows.ts'
import { codeOf, textOf } from '../../vocabulary/errorText.ts'
import type { UpstreamAddress } from './address.ts'
import type { TextRow, UpstreamSource } from './source.ts'
import { TABLES } from './tables.ts'

const PAGE = 1000
const ROWS_MAX = 1_000_000

/** Why a row does not have the form of its table; the text does not contain values of the row. */
const problemOf = (table: string, row: TextRow, issue: v.BaseIssue<unknown>): string => {
  const column = v.getDotPath(issue) ?? ''
  return Object.hasOwn(row, column)
    ? `table ${table}: row ${row['id'] ?? ''}: ${column} cannot be read`
    : `table ${table} has no column ${column}: bring the schema up to date first (cyborg-dbsync upgrade)`
}
const parsed = <Schema extends v.GenericSchema>(table: string, schema: Schema, row: TextRow): v.InferOutput<Schema> => {
  const reading = v.safeParse(schema, row)
  if (!reading.success) throw new Error(problemOf(table, row, reading.issues[0]))
  return reading.output
}

const readTable = async <Name extends keyof typeof TABLES>(
  { page }: UpstreamSource,
  table: Name,
  max: number,
): Promise<v.InferOutput<(typeof TABLES)[Name]>[]> => {
  const rows: v.InferOutput<(typeof TABLES)[Name]>[] = []
  for (let after = -1; ;) {
    const found = await page(table, after, PAGE).catch((error: unknown) => {
      throw new Error(`table ${table} cannot be read: ${textOf(error)}`, { cause: error })
    })
    for (const row of found) rows.push(parsed(table, TABLES[table], row))
    if (rows.length > max)
      throw new Error(`table ${table} has more than ${max} rows, which is more than an import takes`)
    if (found.length < PAGE) return rows
    after = rows.at(-1)!.id
  }
}

export const readTables = async (source: UpstreamSource, max = ROWS_MAX): Promise<UpstreamTables> => ({
  devices: await readTable(source, 'devices', max),
  controlpath_ids: await readTable(source, 'controlpath_ids', max),
  deployables: await readTable(source, 'deployables', max),
  attributes: await readTable(source, 'attributes', max),
  attach_handles: await readTable(source, 'attach_handles', max),
  device_profiles: await readTable(source, 'device_profiles', max),
  extended_accelerator_requests: await readTable(source, 'extended_accelerator_requests', max),
})

/** When Node has tried several addresses of a name, its error has a code but no message. */
const wordsOf = (error: unknown): string => textOf(error) || (codeOf(error) ?? 'it does not answer')

const openSource = async (address: UpstreamAddress): Promise<UpstreamSource> => {
  if (address.kind === 'postgres') return (await import('./postgres.ts')).openPostgres(address.url)
  return (await import('./mysql.ts')).openMysql(address.at)
}

/** Rejects with a text for the operator. */
export const readUpstream = async (address: UpstreamAddress): Promise<UpstreamTables> => {
  const source = await openSource(address).catch((error: unknown) => {
    throw new Error(`upstream's database cannot be opened: ${wordsOf(error)}`, { cause: error })
  })
  try {
    return await readTables(source)
  } finally {
    await source.close()
  }
}
