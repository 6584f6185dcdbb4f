/**
 * `--parts trace`: where the time of one bind in a cluster goes, step by step, from the traces that the programs
 * export.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Collected, openCollector } from '../../test/telemetry/collector.ts'
import { ownBroker } from '../../test/support/kafka.ts'
import { ARQS } from '../calls.ts'
import { type Spread, type Table, digits, spread } from '../figures.ts'
import { openGenerator } from '../generator.ts'
import type { Options } from '../options.ts'
import type { Server } from '../postgres.ts'
import { calm, measureWhole, warmUp } from './measure.ts'
import { BROKER_RIG, type ClusterRig, openClusterStand } from './stand.ts'
import type { ClusterTask } from './tasks.ts'

const CONTROLS = [1, 3]
/** The programs export what they have recorded this often. */
const EXPORT_MS = 200

type Found = ReadonlyMap<string, { readonly from: number; readonly to: number }>
type End = readonly [span: string, end: 'from' | 'to']
type Step = { readonly what: string; readonly from: End; readonly to: End }

const POST: Step = { what: 'POST: create the request', from: ['POST', 'from'], to: ['POST', 'to'] }
const GET: Step = { what: 'GET: what was resolved of the instance', from: ['GET', 'from'], to: ['GET', 'to'] }
const PATCH: readonly Step[] = [
  { what: 'PATCH: until the bind begins', from: ['PATCH', 'from'], to: ['bind', 'from'] },
  { what: 'bind: read, decide, append', from: ['bind', 'from'], to: ['bind', 'to'] },
  { what: 'answer 202', from: ['bind', 'to'], to: ['PATCH', 'to'] },
]
const HOST_WORK: readonly Step[] = [
  POST,
  ...PATCH,
  { what: 'until the relay publishes the order', from: ['bind', 'to'], to: ['order sent', 'from'] },
  { what: 'order over the broker', from: ['order sent', 'from'], to: ['order', 'from'] },
  { what: 'host: until the driver prepares', from: ['order', 'from'], to: ['prepare', 'from'] },
  { what: 'driver prepares (simulated device)', from: ['prepare', 'from'], to: ['prepare', 'to'] },
  { what: 'host: result to its disk', from: ['prepare', 'to'], to: ['order', 'to'] },
  { what: 'until the host publishes the result', from: ['order', 'to'], to: ['result sent', 'from'] },
  { what: 'result over the broker', from: ['result sent', 'from'], to: ['taken', 'from'] },
  { what: 'result: read, decide, append', from: ['taken', 'from'], to: ['taken', 'to'] },
  { what: 'until Nova is notified', from: ['taken', 'to'], to: ['nova', 'from'] },
  { what: 'Nova answers', from: ['nova', 'from'], to: ['nova', 'to'] },
  { what: 'from the answer 202 until Nova has answered', from: ['PATCH', 'to'], to: ['nova', 'to'] },
  GET,
]
const WITHOUT: readonly Step[] = [
  POST,
  ...PATCH,
  { what: 'until Nova is notified', from: ['bind', 'to'], to: ['nova', 'from'] },
  { what: 'Nova answers', from: ['nova', 'from'], to: ['nova', 'to'] },
  GET,
]

/** The caller sends the three requests of a bind as one trace; nothing else it asks belongs to that. */
const REQUESTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['POST', 'PATCH', 'GET'].map((method) => [`${method} ${ARQS}`, method]),
)
const topicOf = ({ attributes }: Collected): string => {
  const topic = attributes.find(({ key }) => key === 'messaging.destination.name')?.value['stringValue']
  return typeof topic === 'string' ? topic : ''
}
const nameOf = (span: Collected): string | null => {
  const { name } = span
  if (name === 'publish') {
    if (topicOf(span).includes('host.orders')) return 'order sent'
    return topicOf(span).includes('host.reports') ? 'result sent' : null
  }
  const known: Readonly<Record<string, string>> = {
    bind: 'bind',
    'order PrepareSlot': 'order',
    'driver prepare': 'prepare',
    'result taken': 'taken',
    'nova notify': 'nova',
  }
  return REQUESTS[name] ?? known[name] ?? null
}
const ms = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1000n) / 1000

const tracesOf = (spans: readonly Collected[]): readonly Found[] => {
  const traces = Map.groupBy(spans, ({ traceId }) => traceId)
  return [...traces.values()].map(
    (all) =>
      new Map(
        all.flatMap((span) => {
          const name = nameOf(span)
          return name === null
            ? []
            : [[name, { from: ms(span.startTimeUnixNano), to: ms(span.endTimeUnixNano) }] as const]
        }),
      ),
  )
}

export type TraceResult = {
  readonly controls: number
  readonly hostWork: boolean
  readonly binds: number
  readonly whole: Spread
  readonly steps: readonly (readonly [string, Spread])[]
}
const stepsOf = (steps: readonly Step[], traces: readonly Found[]): TraceResult['steps'] =>
  steps.map(({ what, from, to }) => {
    const times = traces.flatMap((trace) => {
      const [begin, end] = [trace.get(from[0]), trace.get(to[0])]
      return begin && end ? [end[to[1]] - begin[from[1]]] : []
    })
    return [what, spread(times)] as const
  })

/** One caller, so that a bind waits for no other. The tracing itself costs time: compare with the part `cluster`. */
export const measureTraces = async (
  server: Server,
  options: Options,
  say: (line: string) => void,
): Promise<readonly TraceResult[]> => {
  const broker = await ownBroker(BROKER_RIG)
  const callers = openGenerator<ClusterTask>(new URL('load.ts', import.meta.url))
  const collector = await openCollector()
  const rig: ClusterRig = { server, broker, callers, nova: await callers.greeting() }
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: String(EXPORT_MS) }
  const stand = await openClusterStand(rig, 0, 1, { env, profile: options.profile })
  const results: TraceResult[] = []
  try {
    await stand.startControl()
    await stand.startHosts()
    const scene = { stand, rig }
    for (const controls of CONTROLS)
      for (const hostWork of options.hostWork) {
        while (stand.controls.length < controls) await stand.startControl()
        const targets = await stand.targets(hostWork)
        await warmUp(scene, targets)
        await calm(stand)
        await sleep(2 * EXPORT_MS)
        const before = collector.spans.length
        const { found } = await measureWhole(scene, targets, 1, options.seconds)
        await sleep(2 * EXPORT_MS)
        const traces = tracesOf(collector.spans.slice(before)).filter((trace) => trace.has('bind'))
        const steps = stepsOf(hostWork ? HOST_WORK : WITHOUT, traces)
        results.push({ controls, hostWork, binds: traces.length, whole: found.stages['whole']!, steps })
        say(`${controls} controls, ${hostWork ? 'host work' : 'no host work'}: ${traces.length} binds traced`)
      }
  } finally {
    await stand.drop()
    callers.close()
    await collector.close()
    await broker.kill()
  }
  return results
}

export const traceTables = (results: readonly TraceResult[]): readonly Table[] =>
  results.map(({ controls, hostWork, binds, whole, steps }) => ({
    title: `One bind at a time, ${controls} controls, ${hostWork ? 'with' : 'without'} host work: ${binds} binds, p50 ${digits(whole.p50)} ms`,
    head: ['step', 'mean ms', 'p50 ms', 'p99 ms'],
    rows: steps.map(([what, { mean, p50, p99 }]) => [what, digits(mean), digits(p50), digits(p99)]),
  }))
