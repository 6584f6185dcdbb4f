/**
 * Many hosts' consumers in one process, as `hostGroups.ts` asks: joins, rests, and tells what it cost. Lines of JSON on
 * standard output.
 */
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { kafkaBus } from '../src/bus/kafka/bus.ts'
import { systemClock } from '../src/vocabulary/clock.ts'
import { silent } from '../src/vocabulary/log.ts'
import { CATALOGUE } from '../src/wire/catalogue.ts'
import { cpuMs, memoryOf } from './proc.ts'

export type Joined = { readonly joinMs: readonly number[]; readonly residentMb: readonly [number, number] }
export type Rested = {
  readonly requestsPerSecond: number
  readonly cpuMsPerSecond: number
  readonly residentMb: number
}

const AT_ONCE = 20
const [broker = '', prefix = '', count = '0', restSeconds = '20'] = process.argv.slice(2)
const tell = (found: object): void => void process.stdout.write(`${JSON.stringify(found)}\n`)

let writes = 0
const write = Reflect.get(Socket.prototype, 'write') as (...given: unknown[]) => unknown
Reflect.set(Socket.prototype, 'write', function counted(this: Socket, ...given: unknown[]) {
  if (this.remotePort !== undefined) writes++
  return write.apply(this, given)
})

const opened = async (index: number) => {
  const name = `compute-${index}`
  const options = { brokers: [broker], prefix, clientId: name, tls: null, sasl: null }
  const bus = kafkaBus({ options, clock: systemClock, log: silent, joinWaitMs: 60_000 })
  const place = { from: null, moved: () => {} }
  const at = performance.now()
  const { topic } = CATALOGUE.hostOrders
  await bus.consume({
    topic,
    group: `host-${name}-boot`,
    onlyKey: name,
    from: 'earliest',
    offsetStore: place,
    take: async () => {},
  })
  return { bus, ms: performance.now() - at }
}

const before = memoryOf(process.pid).residentMb
const hosts: Awaited<ReturnType<typeof opened>>[] = []
for (let from = 0; from < Number(count); from += AT_ONCE) {
  const these = Array.from({ length: Math.min(AT_ONCE, Number(count) - from) }, (_, index) => opened(from + index))
  hosts.push(...(await Promise.all(these)))
}
const joined: Joined = {
  joinMs: hosts.map(({ ms }) => ms),
  residentMb: [before, memoryOf(process.pid).residentMb],
}
tell(joined)

// the first metadata, and what is left of the joins
await sleep(3000)
const [from, cpuBefore, writesBefore] = [performance.now(), cpuMs(process.pid), writes]
await sleep(Number(restSeconds) * 1000)
const seconds = (performance.now() - from) / 1000
const rested: Rested = {
  requestsPerSecond: (writes - writesBefore) / seconds,
  cpuMsPerSecond: (cpuMs(process.pid) - cpuBefore) / seconds,
  residentMb: memoryOf(process.pid).residentMb,
}
tell(rested)

/** How long until every host is a member again, after the parent said that the broker is there again. */
process.stdin.once('data', () => {
  const at = performance.now()
  const look = (): void => {
    const alive = hosts.filter(({ bus }) => bus.state().connected).length
    if (alive < hosts.length && performance.now() - at < 120_000) return void setTimeout(look, 100)
    tell({ alive, backMs: performance.now() - at })
    process.exit()
  }
  look()
})
