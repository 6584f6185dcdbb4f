/**
 * `npm run bench:tenants [-- REQUESTS]`: what one project does to others. The latency of a plain GET of an
 * administrator beside each kind of costly request of one project, as a multiple of that alone in the same run, on the
 * embedded database with so many bound requests (6,000) and the program as an operator starts it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { freePort } from '../test/support/port.ts'
import { digits, quantile, ratio } from './figures.ts'
import { type Connection, connection } from './http.ts'
import { load, machine, quiet } from './proc.ts'
import { start } from './program.ts'
import { openStand } from './stand.ts'
import { ATTACKS, type Attack, type Called } from './tenantsAttacks.ts'

const ATTACK_MS = 4000
const BETWEEN_MS = 3
/** The goal: the slow ones beside an attack, as a multiple of those alone, and in ms. */
const GOAL = { times: 10, ms: 100 }

const present = Number(process.argv[2] ?? 6000)
const stand = await openStand('pglite', present, null)
const uiPort = await freePort()
const program = await start({ place: stand.place, args: ['--ui-listen', `127.0.0.1:${uiPort}`] })
await quiet(program.pid)
const plain: Connection = await connection(program.port)

const list = await plain.ask('GET', '/v2/accelerator_requests?limit=1')
const { arqs } = JSON.parse(list.body) as {
  readonly arqs: readonly [{ readonly uuid: string; readonly project_id: string }]
}
const { uuid, project_id: project } = arqs[0]
const { body: profiles } = await plain.ask('GET', '/v2/device_profiles')
const [profile] = (JSON.parse(profiles) as { readonly device_profiles: readonly { readonly name: string }[] })
  .device_profiles

type Seen = { readonly p50: number; readonly p95: number; readonly most: number }
/** The latencies of plain GETs, one after the other, until the work has ended. */
const latencies = async (work: Promise<unknown>): Promise<Seen> => {
  const seen: number[] = []
  let on = true
  void work.then(() => (on = false))
  while (on) {
    const began = performance.now()
    const { status } = await plain.ask('GET', `/v2/accelerator_requests/${uuid}`)
    if (status !== 200) throw new Error(`a plain GET was answered ${status}`)
    seen.push(performance.now() - began)
    await sleep(BETWEEN_MS)
  }
  const sorted = seen.toSorted((a, b) => a - b)
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), most: sorted.at(-1)! }
}

/** What the clients of the attack were answered: how often each status. In a thread of its own. */
const attacked = ({ name, clients }: Attack): Promise<Called> => {
  const workerData = { name, clients, ms: ATTACK_MS, port: program.port, uiPort, uuid, project, profile: profile!.name }
  const worker = new Worker(new URL('tenantsAttacks.ts', import.meta.url), { workerData })
  return new Promise((resolve, reject) => {
    worker.once('message', (called: Called) => {
      void worker.terminate()
      resolve(called)
    })
    worker.once('error', reject)
  })
}

const answersOf = (called: Called): string =>
  Object.entries(called)
    .map(([status, count]) => `${count} x ${status}`)
    .join(', ')

try {
  console.log(`${machine()}; load ${load()}; ${present.toLocaleString('en')} requests present`)
  const alone = await latencies(sleep(ATTACK_MS))
  console.log(
    '| beside | p50 | p95 | p95, ms | longest, ms | goal | what it was answered |\n|---|---|---|---|---|---|---|',
  )
  const tell = (name: string, { p50, p95, most }: Seen, answers: string): void => {
    const isMet = p95 <= GOAL.times * alone.p95 && p95 < GOAL.ms
    console.log(
      `| ${name} | ${ratio(p50, alone.p50)} | ${ratio(p95, alone.p95)} | ${digits(p95)} | ${digits(most)} | ${isMet ? 'met' : 'missed'} | ${answers} |`,
    )
  }
  tell('nothing', alone, '')
  for (const attack of ATTACKS) {
    const work = attacked(attack)
    const seen = await latencies(work)
    tell(`${attack.clients} x ${attack.name}`, seen, answersOf(await work))
    // the service ends what it has begun
    await sleep(1000)
  }
} finally {
  plain.close()
  await program.end('SIGTERM')
  await stand.drop()
}
