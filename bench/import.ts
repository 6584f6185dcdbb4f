/**
 * `npm run bench:import [-- REQUESTS]`: how long `accelerando import` takes for a database of upstream with so many
 * bound requests (20,000), ten to a host, and how much memory: shown only, and written to PostgreSQL.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { UpstreamTables } from '../src/actors/upstream/rows.ts'
import { ownServer } from '../test/support/postgresOwn.ts'
import { boundRow, nameOf, profiles, simple, tablesOf } from '../test/upstream/scenario.ts'
import { fillTextTables } from '../test/upstream/textTables.ts'
import { findPostgres } from './postgres.ts'
import { load, machine, memoryOf } from './proc.ts'

const LAUNCHER = fileURLToPath(new URL('../bin/accelerando.js', import.meta.url))
const A_HOST = 10
const LOOK_MS = 20

const requests = Number(process.argv[2] ?? 20_000)
const cloudOf = (count: number): UpstreamTables => {
  const ids = Array.from({ length: count }, (_, at) => at + 1)
  const at = (id: number) => ({
    host: `compute-${Math.ceil(id / A_HOST)}`,
    bus: (id % A_HOST).toString(16).padStart(2, '0'),
  })
  return tablesOf(profiles, ...ids.map((id) => simple(id, at(id), true)), {
    extended_accelerator_requests: ids.map((id) => boundRow(id, id, nameOf(at(id)))),
  })
}

type Ran = { readonly seconds: number; readonly peakMb: number; readonly said: string }
const ran = async (...args: readonly string[]): Promise<Ran> => {
  const began = performance.now()
  const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let [said, peakMb] = ['', 0]
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
  const looking = setInterval(() => {
    try {
      peakMb = memoryOf(child.pid!).peakMb
    } catch {
      // it has just ended
    }
  }, LOOK_MS)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(looking)
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${said}`)
  return { seconds: (performance.now() - began) / 1000, peakMb, said: said.trim().split('\n').at(-1)! }
}

const bin = findPostgres()
if (bin === null) throw new Error('there is no PostgreSQL with its programs on this machine')
const server = await ownServer(bin)
try {
  const [upstream, target] = [await server.freshDatabase(), await server.freshDatabase()]
  await fillTextTables(upstream.url, cloudOf(requests))
  await ran('migrate', '--database', target.url)
  const import_ = ['import', '--from', upstream.url, '--database', target.url]
  console.log(`${machine()}; load ${load()}`)
  for (const [what, run] of [
    ['shown', await ran(...import_)],
    ['written', await ran(...import_, '--apply')],
    ['audited', await ran('audit', '--stopped', '--database', target.url)],
  ] as const)
    console.log(`${requests} requests, ${what}: ${run.seconds.toFixed(1)} s, peak ${run.peakMb} MB (${run.said})`)
} finally {
  await server.end()
}
