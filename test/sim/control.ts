/** A simulated control process: the production assembly and routes, started and killed as a unit. */
import { deciderOf } from '../../src/actors/entities.ts'
import type { Hono } from 'hono'
import type { Memory } from '../../src/actors/runtime/memory.ts'
import type { Ids } from '../../src/clock.ts'
import { type System, openSystem } from '../../src/cli/programs/system.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Log } from '../../src/log.ts'
import { CLOUD_KEY, verifierOf } from './forger.ts'
import { imagesOf } from './images.ts'
import type { Bite } from './lies.ts'
import { type SimPlacement, lyingPlacement } from './placement.ts'
import type { Network } from './network.ts'
import type { SimNova } from './nova.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { SimStore } from './store.ts'

export type Answer = { readonly status: number; readonly json: unknown }
export type Process = {
  readonly name: string
  readonly up: () => boolean
  readonly start: () => void
  readonly kill: () => void
  /** Pauses the process: none of its tasks run until it is resumed, with its state unchanged. */
  readonly hold: () => void
  readonly resume: () => void
  readonly stands: () => boolean
  /** Rejects when the process dies, or is not there. */
  readonly request: (
    asker: Life,
    line: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ) => Promise<Answer>
  /** Keys of its living actors. */
  readonly residents: () => readonly string[]
  readonly killActor: (key: string) => boolean
  readonly memories: () => Promise<readonly Memory[]>
}
type Ports = {
  readonly name: string
  readonly schedule: Schedule
  readonly random: Random
  readonly ids: Ids
  readonly skewMs: number
  readonly store: SimStore
  readonly network: () => Network
  readonly nova: SimNova
  readonly placement: SimPlacement | null
  readonly bite: Bite | null
  readonly log: Log
  readonly say: (line: string) => void
}
type Running = { readonly system: System; readonly app: Hono }

/** Longer intervals than in a real process, since every seed simulates many minutes. */
const CONTROL = { placementAuditMs: 60_000, sweepEveryMs: 2000, staleAfterMs: 30_000, programWaitMs: 3000 }

export const openProcess = (ports: Ports): Process => {
  const { name, schedule, random, ids, skewMs, store, nova, placement, bite, log, say } = ports
  const delayMs = (): number => (random.chance(0.3) ? random.below(10) : 0)
  let life: Life = { ...schedule.life(name), alive: false }
  let running: Running | null = null

  const begin = async (mine: Life): Promise<void> => {
    const clock = schedule.clockOf(mine, skewMs)
    const system = await openSystem({
      store: store.seenBy(mine),
      images: imagesOf(),
      nova: nova.seenBy(mine),
      placement: placement && lyingPlacement(bite, placement.seenBy(mine)),
      log,
      clock,
      ids,
      bus: ports.network().seenBy(mine),
      control: CONTROL,
      verify: verifierOf(bite, CLOUD_KEY),
    })
    const app = createApp({ control: system.plane.control, identify: noauth, log, ids, clock })
    if (mine.alive) running = { system, app }
    say(`${name}: ready`)
  }
  const attempt = async (mine: Life): Promise<void> => {
    try {
      await begin(mine)
    } catch (error) {
      // like a process that cannot read its store at the start: it ends and is restarted
      say(`${name}: does not start: ${String(error)}`)
      schedule.after(mine, 1000, () => void attempt(mine))
    }
  }
  const serve = async (line: string, init: RequestInit): Promise<Answer> => {
    const [method, path] = line.split(' ') as [string, string]
    if (running === null) throw new Error(`${name} is not ready`)
    const response = await running.app.request(path, { ...init, method })
    const text = await response.text()
    return { status: response.status, json: text === '' ? null : JSON.parse(text) }
  }
  return {
    name,
    up: () => life.alive && running !== null,
    start: () => {
      if (life.alive) return
      life = schedule.life(name)
      const mine = life
      schedule.soon(mine, () => void attempt(mine))
    },
    kill: () => {
      if (!life.alive) return
      say(`${name}: killed`)
      schedule.end(life)
      // nact keeps its actors until their system is stopped; until then the clock of the ended life shows Infinity
      void running?.system.plane.region.stop()
      running = null
    },
    hold: () => schedule.hold(life),
    resume: () => schedule.resume(life),
    stands: () => life.parked !== null,
    request: (asker, line, headers, body) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const init: RequestInit =
        text === undefined ? { headers } : { headers: { ...headers, 'content-type': 'application/json' }, body: text }
      return schedule.across(asker, life, delayMs, () => serve(line, init))
    },
    residents: () => running?.system.plane.region.residents() ?? [],
    killActor: (key) => running?.system.plane.region.kill(key) ?? false,
    memories: async () => {
      const { region } = running!.system.plane
      const looked = await Promise.all(region.residents().map((key) => region.readCurrent(deciderOf(key), key)))
      return looked.flatMap((one) => (one.ok ? [one.value] : []))
    },
  }
}
