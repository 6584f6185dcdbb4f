/** `npm run bench`: the real program against the floor, in one run on one machine. */
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { measureCluster } from './cluster/part.ts'
import { measureTraces, traceTables } from './cluster/trace.ts'
import { clusterFailures, clusterTables } from './cluster/tables.ts'
import { type Table, markdown } from './figures.ts'
import { openGenerator } from './generator.ts'
import { OF_THEIR_OWN, type Options, PARTS, type Part, type StoreKind, readOptions } from './options.ts'
import { type Floor, type Server, between, findPostgres, openServer } from './postgres.ts'
import { type Memory, load, machine } from './proc.ts'
import { measureReports } from './report.ts'
import { noResults } from './results.ts'
import { type Scripts, measureStand } from './script.ts'
import { measureScale } from './scale/part.ts'
import { scaleTables } from './scale/tables.ts'
import { openStand } from './stand.ts'
import { tables } from './tables.ts'

const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)

const floorOf = async (server: Server | null, { concurrency, seconds, parts }: Options): Promise<Floor | null> => {
  if (server === null || !parts.includes('binds')) return null
  const floor = await server.floor(concurrency, Math.min(5, seconds))
  const told = [...floor.binds].map(([clients, { perSecond }]) => `${clients}: ${Math.round(perSecond)}/s`)
  say(`floor ${told.join(', ')}, batch ${Math.round(floor.batch)}/s`)
  return floor
}

const hostAlone = (): Memory => {
  const script = fileURLToPath(new URL('hostAlone.ts', import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as Memory
}

/** Each number of ARQs between two measurements of the floor. */
const measureStore = async (kind: StoreKind, parts: Scripts): Promise<void> => {
  const { options, results, server } = parts
  const base = kind === 'postgres' ? server : null
  let before = await floorOf(base, options)
  for (const arqs of options.arqs) {
    const stand = await openStand(kind, arqs, server)
    say(`${kind}, ${arqs} ARQs: ${stand.seeded}`)
    results.seeds.push({ store: kind, arqs, said: stand.seeded })
    const from = results.binds.length
    try {
      await measureStand(stand, parts)
    } finally {
      await stand.drop()
    }
    const after = await floorOf(base, options)
    const floor = before && after ? between(before, after) : null
    for (let at = from; at < results.binds.length; at++) results.binds[at] = { ...results.binds[at]!, floor }
    before = after
  }
}

const report = (found: readonly Table[], server: Server | null, before: string, after: string): string =>
  [
    `Machine: ${machine()}${server === null ? '' : `, PostgreSQL ${server.version}`}. Load average before ${before}, after ${after}.`,
    '',
    ...found.map(markdown),
  ].join('\n')

const tell = (options: Options, text: string): void => {
  process.stdout.write(`${text}\n`)
  if (options.write !== null) appendFileSync(options.write, `${text}\n`)
}

/** One program with all in it; the number of failures. */
const measureProgram = async (options: Options, server: Server | null): Promise<number> => {
  const began = load()
  const results = noResults()
  const generator = openGenerator()
  if (options.parts.includes('reports')) results.unchanged = await measureReports(options.seconds)
  if (options.parts.includes('memory')) results.memory.push({ what: 'host program alone', found: hostAlone() })
  for (const kind of options.stores)
    if (kind === 'pglite' || server !== null) await measureStore(kind, { options, results, server, generator, say })
  generator.close()
  tell(options, report(tables(results), server, began, load()))
  return results.binds.reduce((sum, { found }) => sum + found.failures.length, 0)
}

const onCluster = async (options: Options, server: Server): Promise<number> => {
  const began = load()
  const results = await measureCluster(server, options, say)
  tell(options, report(clusterTables(results), server, began, load()))
  return clusterFailures(results)
}

const onScale = async (options: Options, server: Server): Promise<void> => {
  const began = load()
  const results = await measureScale(server, options, say)
  tell(options, report(scaleTables(results), server, began, load()))
}

const onTraces = async (options: Options, server: Server): Promise<void> => {
  const began = load()
  const found = await measureTraces(server, options, say)
  tell(options, report(traceTables(found), server, began, load()))
}

const run = async (options: Options): Promise<void> => {
  const bin = options.stores.includes('postgres') ? findPostgres() : null
  const server = bin === null ? null : await openServer(bin)
  if (server === null && options.stores.includes('postgres')) say('no PostgreSQL with pgbench was found: left out')
  const wants = (some: readonly Part[]): boolean => some.some((part) => options.parts.includes(part))
  let failures = 0
  if (wants(PARTS.filter((part) => !OF_THEIR_OWN.includes(part)))) failures += await measureProgram(options, server)
  if (wants(['cluster']) && server !== null) failures += await onCluster(options, server)
  if (wants(['trace']) && server !== null) await onTraces(options, server)
  if (wants(['scale']) && server !== null) await onScale(options, server)
  process.exit(failures > 0 ? 1 : 0)
}

try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
