/**
 * `npm run bench:console [-- REQUESTS]`: what the questions of the console cost where so many bound requests (100,000)
 * are present, on PostgreSQL with the real program. Processor time of program and database, as a multiple of that of
 * one GET of a request in the same run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openServer, findPostgres } from './postgres.ts'
import { digits, ratio } from './figures.ts'
import { type Connection, connection } from './http.ts'
import { cpuMs, load, machine, quiet } from './proc.ts'
import { openStand } from './stand.ts'

const ROUNDS = 20
/** Longer than any answer is kept. */
const KEPT_MS = 8000
const PLAIN = 400

const present = Number(process.argv[2] ?? 100_000)
const bin = findPostgres()
if (bin === null) throw new Error('there is no PostgreSQL with its programs on this machine')
const server = await openServer(bin)
const stand = await openStand('postgres', present, server)
const program = await stand.startPlain()
await quiet(program.pid)
const { ask, close }: Connection = await connection(program.port)
const got = async (path: string): Promise<string> => {
  const { status, body } = await ask('GET', path)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.slice(0, 200)}`)
  return body
}

type Cost = { readonly program: number; readonly database: number }
/** Per call. What the program does by itself in the same time is taken off. */
const idleOf = async (): Promise<Cost> => {
  const [own, base, began] = [cpuMs(program.pid), server.cpuMs(), performance.now()]
  await sleep(KEPT_MS)
  const ms = performance.now() - began
  return { program: (cpuMs(program.pid) - own) / ms, database: (server.cpuMs() - base) / ms }
}
const costOf = async (path: string, times: number, idle: Cost, pauseMs = 0): Promise<Cost> => {
  let [own, base, ms] = [0, 0, 0]
  for (let at = 0; at < times; at++) {
    await sleep(pauseMs)
    const [before, there, began] = [cpuMs(program.pid), server.cpuMs(), performance.now()]
    for (let again = 0; again < (pauseMs === 0 ? PLAIN : 1); again++) await got(path)
    ms += performance.now() - began
    own += cpuMs(program.pid) - before
    base += server.cpuMs() - there
  }
  const calls = times * (pauseMs === 0 ? PLAIN : 1)
  return { program: (own - idle.program * ms) / calls, database: (base - idle.database * ms) / calls }
}

try {
  const { arqs } = JSON.parse(await got('/v2/accelerator_requests?limit=1')) as {
    readonly arqs: readonly [{ readonly uuid: string }]
  }
  const idle = await idleOf()
  const plain = await costOf(`/v2/accelerator_requests/${arqs[0].uuid}`, 5, idle)
  console.log(
    `${machine()}; PostgreSQL ${server.version}; load ${load()}; ${present.toLocaleString('en')} requests present`,
  )
  console.log('| GET | of one request | program, ms | database, ms |\n|---|---|---|---|')
  const tell = (what: string, cost: Cost): void =>
    console.log(
      `| ${what} | ${ratio(cost.program + cost.database, plain.program + plain.database)} | ${digits(cost.program)} | ${digits(cost.database)} |`,
    )
  tell('one request', plain)
  const list = '/v2/accelerator_requests?limit=51&sort_key=created_at&sort_dir=desc'
  tell('51 requests, the newest', await costOf(list, 1, idle))
  tell('51 bound ones', await costOf(`${list}&state=Bound`, 1, idle))
  tell('51 bound ones after a marker', await costOf(`${list}&state=Bound&marker=${arqs[0].uuid}`, 1, idle))
  tell('the overview, counted', await costOf('/v2/overview', ROUNDS, idle, KEPT_MS))
  tell('the overview, asked without a pause', await costOf('/v2/overview', 5, idle))
  tell('the capacity, counted', await costOf('/v2/capacity', 5, idle, KEPT_MS * 2))
  tell('the capacity, asked without a pause', await costOf('/v2/capacity', 2, idle))
} finally {
  close()
  await program.end('SIGTERM')
  await stand.drop()
}
