/** A simulated control process: the production assembly and routes, started and killed as a unit. */
import { deciderOf } from '../../src/actors/entities.ts'
import type { Hono } from 'hono'
import type { Memory } from '../../src/actors/runtime/memory.ts'
import type { Ids } from '../../src/vocabulary/clock.ts'
import { type System, openSystem } from '../../src/cli/programs/system.ts'
import { createApp } from '../../src/http/app.ts'
import { type Identify, noauth } from '../../src/http/identity.ts'
import { tokenIdentity } from '../../src/http/tokenIdentity.ts'
import { createPlacement } from '../../src/neighbours/openstack/placement.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { createTokens } from '../../src/neighbours/openstack/tokens.ts'
import type { Log } from '../../src/vocabulary/log.ts'
import { CLOUD_KEY, verifierOf } from './forger.ts'
import { CACHE, type SimKeystone } from './keystone.ts'
import { imagesOf } from './images.ts'
import type { Bite } from './lies.ts'
import { type Wall, openWall } from './clocks.ts'
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
  readonly wall: Wall
  readonly start: () => void
  readonly kill: () => void
  /** Pauses the process: none of its tasks run until it is resumed, with its state unchanged. */
  readonly hold: () => void
  readonly resume: () => void
  readonly stands: () => boolean
  /** When it stood still for the last time, ms of the schedule; -Infinity: never. */
  readonly stoodMs: () => number
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
  /** Null: callers say who they are, and are believed. */
  readonly keystone: SimKeystone | null
  readonly bite: Bite | null
  readonly log: Log
  readonly say: (line: string) => void
}
type Running = { readonly system: System; readonly app: Hono }

/** Longer intervals than in a real process, since every seed simulates many minutes. */
const CONTROL = { placementAuditMs: 60_000, sweepEveryMs: 2000, staleAfterMs: 30_000, programWaitMs: 3000 }

/** With the planted bug all tenants are of one project. */
const oneProject: Identify = (header, target) =>
  noauth((name) => (name === 'x-project-id' ? 'project' : header(name)), target)

/** Who says who is calling, and the Placement of the cloud, as this process reaches them. */
const cloudOf = ({ keystone, placement, bite, log }: Ports, life: Life, clock: ReturnType<Schedule['clockOf']>) => {
  const identifyNoauth: Identify = bite === 'projects not told apart' ? oneProject : noauth
  if (keystone === null) return { identify: identifyNoauth, placement: placement && placement.seenBy(life) }
  const send = keystone.seenBy(life, placement ? { placement: placement.reach(life) } : {})
  const session = createSession({ options: keystone.session, send, clock, log })
  const cache = bite === 'revocation ignored' ? { ...CACHE, cacheMs: 3_600_000 } : CACHE
  const tokens = createTokens({ session, cache, clock, log })
  const { authUrl } = keystone.session
  return {
    identify: tokenIdentity(tokens, { authUrl, serviceType: 'accelerator', serviceTokenRoles: ['service'] }),
    placement: placement && createPlacement(session),
  }
}

export const openProcess = (ports: Ports): Process => {
  const { name, schedule, random, ids, store, nova, bite, log, say } = ports
  const wall = openWall(ports.skewMs)
  const delayMs = (): number => (random.chance(0.3) ? random.below(10) : 0)
  let life: Life = { ...schedule.life(name), alive: false }
  let running: Running | null = null
  let stoodMs = -Infinity

  const begin = async (mine: Life): Promise<void> => {
    const clock = schedule.clockOf(mine, wall.wrongMs)
    const { identify, placement } = cloudOf(ports, mine, clock)
    const system = await openSystem({
      store: store.seenBy(mine),
      images: imagesOf(),
      nova: nova.seenBy(mine),
      placement: placement && lyingPlacement(bite, placement),
      log,
      clock,
      ids,
      bus: ports.network().seenBy(mine),
      control: CONTROL,
      verify: verifierOf(bite, CLOUD_KEY),
    })
    const app = createApp({ control: system.plane.control, identify, log, ids, clock })
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
    wall,
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
    hold: () => {
      stoodMs = Infinity
      schedule.hold(life)
    },
    resume: () => {
      if (stoodMs === Infinity) stoodMs = schedule.elapsed()
      schedule.resume(life)
    },
    stoodMs: () => stoodMs,
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
