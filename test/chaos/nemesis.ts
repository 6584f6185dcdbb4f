/** Injects the faults of the plan, each one while a bind is in flight, and ends them again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { GRACE_MS } from '../../src/persistence/incarnation.ts'
import type { Account } from '../kill/account.ts'
import type { Cloud } from '../kill/cloud.ts'
import type { Client } from '../kill/life.ts'
import { inFlight, killActor } from '../kill/actors.ts'
import type { Random } from '../kill/random.ts'
import type { Member } from '../support/cluster.ts'
import { type Fault, type Kind, type Step, inWords, isOfCloud } from './plan.ts'
import type { Weather } from './proxy.ts'
import { adopted, tidied } from './rowsLost.ts'
import type { Struck } from './struck.ts'
import type { World } from './world.ts'

export type Scene = {
  readonly world: World
  readonly account: Account
  readonly client: Client
  readonly cloud: Cloud
  readonly struck: Struck[]
  readonly random: Random
  readonly accepted: () => number
  readonly say: (line: string) => void
}
/** Returns a function that ends the fault. `null`: the fault could not be injected. */
type Strike = (scene: Scene, fault: Fault) => Promise<(() => Promise<void> | void) | null>

/** The longest wait for a bind in flight; if there is none by then, that is a violation. */
const PATIENCE_MS = 30_000
const STARTS = 4
const SHOWN_MS = 1000

const memberOf = ({ controls, hosts }: World, name: string): Member => {
  const found = [...controls, ...hosts].find((member) => member.name === name)
  if (!found) throw new Error(`nobody is called ${name}`)
  return found
}
/** A control that starts while the database is unreachable gives up. */
const started = async (
  { account }: Scene,
  member: Member,
  more: Readonly<Record<string, string>> = {},
): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await member.start(more)
      return
    } catch (error) {
      if (tries < STARTS) continue
      account.contradictions.push(`${member.name} did not start in ${STARTS} tries: ${String(error).slice(0, 800)}`)
      return
    }
  }
}
const restarted = async (scene: Scene, member: Member, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  if (member.running() !== null) await member.end('SIGKILL')
  await started(scene, member, more)
}

const killed: Strike = async (scene, { target }) => {
  const { world } = scene
  if (target === 'broker') {
    await world.broker.kill()
    return () => world.broker.start()
  }
  if (target === 'database') {
    await world.database.stop()
    return () => world.database.start()
  }
  const member = memberOf(world, target)
  await member.end('SIGKILL')
  return () => started(scene, member)
}
const paused: Strike = async ({ world }, { target }) => {
  const victim = target === 'broker' ? world.broker : target === 'database' ? world.database : memberOf(world, target)
  await victim.pause()
  return () => victim.resume()
}
const WEATHERS: Readonly<Record<string, (fault: Fault) => Weather>> = {
  cut: () => 'cut',
  silence: () => 'silent',
  delay: ({ byMs }) => ({ delayMs: byMs }),
}
const weathered: Strike = async ({ world }, fault) => {
  const [weather = '', wire = ''] = fault.kind.split(' ')
  const { broker, database } = world.wires.get(fault.target)!
  const proxy = wire.endsWith('database') ? database! : broker
  proxy.weather(WEATHERS[weather]!(fault))
  return () => proxy.weather('fair')
}
const skewed: Strike = async (scene, { target, byMs }) => {
  const member = memberOf(scene.world, target)
  await restarted(scene, member, { ACCELERANDO_CLOCK_OFFSET_MS: String(byMs) })
  return () => restarted(scene, member)
}
/**
 * The number of an order is on the disk before it is carried out, so what a client saw Bound is there, however full it
 * is.
 */
const filled: Strike = async ({ world, account }, { target }) => {
  world.disk.fill()
  return () => {
    const bound = account.lives.filter(({ host }) => host === target).filter(({ leaveSentAt }) => leaveSentAt === null)
    const arqs = bound.flatMap(({ seen }) => [...seen].flatMap(([arq, { state }]) => (state === 'Bound' ? [arq] : [])))
    const { done } = world.inHand()
    for (const arq of arqs.filter((one) => !done.has(one)))
      account.contradictions.push(`ARQ ${arq} is Bound, and the full disk of ${target} knows nothing of it`)
    world.disk.free()
  }
}
/** Of a bind in flight; which of the controls has it in memory is found by asking. */
const actorKilled: Strike = async ({ world, account, random }, { kind, target }) => {
  const which = kind.split(' ')[2] as 'arq' | 'instance' | 'deployable'
  const until = Date.now() + PATIENCE_MS
  const first = world.controls.filter(({ name }) => name === target)
  const rest = world.controls.filter(({ name }) => name !== target)
  while (Date.now() < until) {
    for (const { admin, running } of [...first, ...rest]) {
      const lives = inFlight(account)
      if (lives.length === 0 || running() === null) continue
      const life = random.pick(lives)
      const id = { arq: random.pick(life.arqs), instance: life.instance, deployable: life.deployable }[which]
      if (await killActor(admin, `${which}/${id}`).catch(() => false)) return () => {}
    }
    await sleep(5)
  }
  return null
}

/** After a failover nobody writes for this long, so that every control can look for what it wrote (INCARNATION-3). */
const failedOver: Strike = async ({ world }) => {
  const promote = await world.database.failOver()
  return async () => {
    await promote()
    await sleep(GRACE_MS)
  }
}
/** The server ends only when there is something to lose: the standby stopped following a moment ago. */
const WORTH = 5
const lastLost: Strike = async (scene) => {
  const { world, accepted } = scene
  const before = accepted()
  const takeOver = await world.database.fallBehind()
  return async () => {
    for (const until = Date.now() + PATIENCE_MS; accepted() < before + WORTH && Date.now() < until;) await sleep(5)
    world.losses.push(await takeOver())
    await adopted(scene)
    await tidied(scene, TIDY_MS)
  }
}
/** Guests of lost requests that have not ended by then are ended after the last fault. */
const TIDY_MS = 8000
const demoted: Strike = ({ world }) => world.database.demote()
const stepped: Strike = async ({ world }, { byMs }) => {
  await world.database.stepClock(byMs)
  return () => {}
}

const cloudStruck: Strike = async ({ world }, { kind, byMs }) =>
  isOfCloud(kind) && world.openstack !== null ? world.openstack.strike(kind, byMs) : null

const STRIKES: readonly (readonly [RegExp, Strike])[] = [
  [/(placement|keystone)$/, cloudStruck],
  [/^kill actor/, actorKilled],
  [/^kill/, killed],
  [/^pause/, paused],
  [/^(cut|silence|delay)/, weathered],
  [/^skew/, skewed],
  [/^fill/, filled],
  [/^fail over/, failedOver],
  [/^lose last rows/, lastLost],
  [/^demote/, demoted],
  [/^step/, stepped],
]
const strikeOf = (kind: Kind): Strike => STRIKES.find(([pattern]) => pattern.test(kind))![1]

/** Resolves when the fault has ended. */
export const strike = async (scene: Scene, fault: Fault): Promise<void> => {
  const { account, struck, accepted, say } = scene
  const until = Date.now() + PATIENCE_MS
  while (inFlight(account).length === 0 && Date.now() < until) await sleep(5)
  const met = inFlight(account).length
  const from = Date.now()
  const one: Struck = { kind: fault.kind, target: fault.target, from, to: Infinity, inFlight: met, done: false }
  struck.push(one)
  const mend = await strikeOf(fault.kind)(scene, fault)
  one.done = mend !== null
  const beganMs = Date.now() - from
  await sleep(fault.forMs)
  const mending = Date.now()
  await mend?.()
  one.to = Date.now()
  const took = (what: string, ms: number) => (ms > SHOWN_MS ? `, ${what} ${(ms / 1000).toFixed(1)} s` : '')
  const line = `${inWords(fault).padEnd(52)} ${String(met).padStart(3)} binds in flight, ${accepted()} accepted`
  say(`${line}${took('struck in', beganMs)}${took('back in', one.to - mending)}`)
}

/** Injects the faults of the plan until the time is up; those that every run must contain are injected in any case. */
export const rampage = async (
  scene: Scene,
  plan: readonly Step[],
  untilMs: number,
  enough: () => boolean,
): Promise<void> => {
  for (const { restMs, faults } of plan) {
    if (Date.now() >= untilMs && enough()) return
    await sleep(restMs)
    await Promise.all(faults.map((fault) => strike(scene, fault)))
  }
}
