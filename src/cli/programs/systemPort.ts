/** What a running program tells administrators about itself: the port behind `GET /v2/system`. */
import { hostname } from 'node:os'
import { Unreadable } from '../../actors/runtime/unreadable.ts'
import type { Bus, KnowsLags } from '../../bus/port.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { done, refuse } from '../../vocabulary/fault.ts'
import type { NeighbourFacts, POWER_LOSSES, SystemFacts, SystemPort } from '../../http/system.ts'
import type { Store } from '../../persistence/store.ts'
import { bounded, orLate } from '../../vocabulary/waiting.ts'
import { lastAudit } from '../audit/lastAudit.ts'
import type { Config } from '../config/config.ts'
import { NOTHING_IN_FORCE } from '../config/inForce.ts'
import type { Meter } from '../observe/metrics.ts'
import { VERSION } from '../version.ts'
import type { App } from './listen.ts'
import { isWell } from './neighbours.ts'
import type { System } from './system.ts'

/** The API of this process, and its address for the doctor; null: it does not listen yet. */
export type ApiHere = { readonly app: App; readonly origin: string } | null
export type BundleSurroundings = {
  readonly config: Config
  readonly meter: Pick<Meter, 'registry'>
  readonly api: () => ApiHere
  readonly clock: Clock
}
/** Makes support bundles, with the commands and the doctor, which this folder does not know. */
export type Bundles = (surroundings: BundleSurroundings) => SystemPort['supportBundle']
/** Of a program that was not started by its command. */
export const noBundles: Bundles = () => async () =>
  refuse({ kind: 'unavailable', reason: 'this process makes no support bundles', retryAfterSeconds: 60 })

type Self = Pick<SystemFacts['process'], 'machine' | 'pid'> & Pick<SystemFacts['versions'], 'accelerando' | 'node'>
const thisProcess = (): Self => ({
  machine: hostname(),
  pid: process.pid,
  accelerando: VERSION,
  node: process.versions.node,
})

type Parts = BundleSurroundings & {
  /** Absent: the process that runs this. */
  readonly self?: Self
  readonly bundles: Bundles
  readonly program: SystemFacts['process']['program']
  readonly store: Pick<Store, 'kind' | 'newer' | 'journal' | 'schema'>
  readonly system: Pick<System, 'bus' | 'writes'>
  /** What is said of each neighbour: `absent`, how it is used, or why it fails. */
  readonly neighbours: () => Readonly<Record<string, string>>
}

/** In a browser, more rows would be no help. */
const LAGS_MAX = 500
/** Each question opens a connection to a broker. */
const LAGS_FOR_MS = 10_000
const LAGS_WITHIN_MS = 4000
const AUDIT_WITHIN_MS = 4000

const POWER_LOSS: Readonly<Record<Store['kind'], (typeof POWER_LOSSES)[number]>> = {
  pglite: 'last_commits',
  postgres: 'as_the_server_is_set',
  memory: 'everything',
}

const neighbourFacts = (said: Readonly<Record<string, string>>, hide: (text: string) => string): NeighbourFacts[] =>
  Object.entries(said).map(([name, text]) => {
    if (text === 'absent') return { name, state: 'absent', detail: null }
    if (isWell(text)) return { name, state: 'in_use', detail: text === 'in use' ? null : text }
    return { name, state: 'failing', detail: hide(text) }
  })

type Consumers = SystemFacts['consumers']
const readConsumers = async (system: Parts['system'], clock: Clock, hide: (text: string) => string) => {
  const bus: Bus & Partial<KnowsLags> = system.bus
  const kind = 'state' in bus ? 'kafka' : 'in_process'
  const unknown = (problem: string): Consumers => ({ bus: kind, lags: null, leftOut: 0, problem: hide(problem) })
  if (bus.lagsByPartition === undefined) return unknown('the bus does not tell')
  try {
    const found = await orLate(clock, bus.lagsByPartition(), LAGS_WITHIN_MS, () => {
      throw new Error(`no answer within ${LAGS_WITHIN_MS} ms`)
    })
    const inOrder = found.toSorted(
      (one, other) =>
        other.messages - one.messages ||
        one.topic.localeCompare(other.topic, 'en') ||
        one.group.localeCompare(other.group, 'en') ||
        one.partition - other.partition,
    )
    const lags = inOrder.slice(0, LAGS_MAX)
    return { bus: kind, lags, leftOut: inOrder.length - lags.length, problem: null } satisfies Consumers
  } catch (error) {
    return unknown(messageOf(error))
  }
}

type Audit = Pick<SystemFacts, 'audit' | 'auditProblem'>
const readAudit = async (journal: Store['journal'], clock: Clock, hide: (text: string) => string): Promise<Audit> => {
  const unknown = (problem: string): Audit => ({ audit: null, auditProblem: hide(problem) })
  const late = unknown(`the store does not answer within ${AUDIT_WITHIN_MS} ms`)
  try {
    const read = lastAudit(journal).then((audit): Audit => ({ audit, auditProblem: null }))
    return await bounded(clock, read, AUDIT_WITHIN_MS, late)
  } catch (error) {
    if (error instanceof Unreadable) return unknown(error.message)
    throw error
  }
}

/** The last answer, for `forMs`; those who ask meanwhile wait for the same one. */
const kept = <Value>(read: () => Promise<Value>, forMs: number, clock: Clock): (() => Promise<Value>) => {
  let last: { readonly at: number; readonly value: Promise<Value> } | null = null
  return () => {
    const now = clock.monotonic()
    if (last === null || now - last.at >= forMs) last = { at: now, value: read() }
    return last.value
  }
}

export const systemPortOf = (parts: Parts): SystemPort => {
  const { config, program, store, system, neighbours, clock, bundles } = parts
  const { machine, pid, accelerando, node } = parts.self ?? thisProcess()
  const { options, hide } = config.inForce ?? NOTHING_IN_FORCE
  const startedAt = clock.now()
  const consumers = kept(() => readConsumers(system, clock, hide), LAGS_FOR_MS, clock)
  return {
    supportBundle: bundles(parts),
    facts: async () => {
      const toldAt = clock.now()
      const [lags, audit] = await Promise.all([consumers(), readAudit(store.journal, clock, hide)])
      return done({
        toldAt,
        process: { program, machine, pid, startedAt },
        versions: { accelerando, node, schema: store.schema, newer: store.newer },
        store: { kind: store.kind, powerLoss: POWER_LOSS[store.kind] },
        neighbours: neighbourFacts(neighbours(), hide),
        configuration: options,
        consumers: lags,
        writes: system.writes(),
        ...audit,
      })
    },
  }
}
