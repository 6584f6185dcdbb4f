/**
 * What many hosts cost one broker: each has a group of its own, reads one partition, and keeps its own place.
 *
 *   node bench/hostGroups.ts [GROUPS] [PROCESSES]
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ownBroker, freshPrefix, makeTopics } from '../test/support/kafka.ts'
import type { Joined, Rested } from './hostGroupsClient.ts'
import { cpuMs, load, machine, memoryOf } from './proc.ts'

const [groups = '1000', processes = '2'] = process.argv.slice(2)
const REST_SECONDS = 20
const PARTITIONS = 12
const rig = join(import.meta.dirname, '../infra/rig/kafka/kafka')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const share = (sorted: readonly number[], at: number): number => sorted[Math.floor((sorted.length - 1) * at)] ?? 0
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const broker = await ownBroker(rig)
const prefix = freshPrefix()
await makeTopics({ ...broker.options, prefix }, PARTITIONS)
say(`${machine()}; load ${load()}`)
say(`${groups} groups, clients in ${processes} processes, ${PARTITIONS} partitions`)
say(`broker before: ${memoryOf(broker.pid()).residentMb} MB`)

const each = String(Math.floor(Number(groups) / Number(processes)))
const clients = Array.from({ length: Number(processes) }, () => {
  const args = [
    fileURLToPath(new URL('hostGroupsClient.ts', import.meta.url)),
    broker.options.brokers[0]!,
    prefix,
    each,
    String(REST_SECONDS),
  ]
  const client = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]()
  const next = async <Found>(): Promise<Found> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error('a client ended early')
    return JSON.parse(value) as Found
  }
  return { next, back: () => client.stdin.end('back\n') }
})
const all = <Found>(): Promise<readonly Found[]> => Promise.all(clients.map(({ next }) => next<Found>()))

const began = performance.now()
const joined = await all<Joined>()
const times = joined.flatMap(({ joinMs }) => joinMs).toSorted((a, b) => a - b)
say(`all joined after ${Math.round((performance.now() - began) / 1000)} s, ${Number(processes) * 20} at a time`)
say(
  `join p50 ${Math.round(share(times, 0.5))} ms, p99 ${Math.round(share(times, 0.99))} ms, most ${Math.round(times.at(-1) ?? 0)} ms`,
)
const grown = sum(joined.map(({ residentMb: [before, after] }) => after - before))
say(`client: ${Math.round((grown / times.length) * 1000)} kB a host`)

const [pid, cpuFrom, from] = [broker.pid(), cpuMs(broker.pid()), performance.now()]
const rested = await all<Rested>()
const seconds = (performance.now() - from) / 1000
say(`at rest: ${Math.round(sum(rested.map(({ requestsPerSecond }) => requestsPerSecond)))} requests/s`)
say(`at rest: broker ${Math.round((cpuMs(pid) - cpuFrom) / seconds)} ms CPU/s, ${memoryOf(pid).residentMb} MB`)
say(`at rest: clients ${Math.round(sum(rested.map(({ cpuMsPerSecond }) => cpuMsPerSecond)))} ms CPU/s`)

await broker.kill()
await broker.start()
for (const { back } of clients) back()
const back = await all<{ readonly alive: number; readonly backMs: number }>()
say(
  `after a SIGKILL of the broker: ${sum(back.map(({ alive }) => alive))} members again ${Math.round(Math.max(...back.map(({ backMs }) => backMs)))} ms after it was there`,
)
await broker.stop()
