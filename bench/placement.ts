/**
 * `npm run bench:placement [HOSTS] [DEVICES]`: the passes beside a real Placement and Keystone, started for this run:
 * from an empty Placement beside a loop that only writes, an audit of what has not changed, an outage in which a
 * hundredth changes behind the service's back, and what a remembered token adds to a GET. Floors are measured before
 * and after; only ratios and counts mean something on a shared machine.
 */
import { once } from 'node:events'
import { Agent, type IncomingMessage, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { dueKindOf } from '../src/actors/placement/hostState.ts'
import { inventoriesOf } from '../src/actors/placement/wanted.ts'
import { systemClock } from '../src/vocabulary/clock.ts'
import { createApp } from '../src/http/app.ts'
import { type Identify, noauth } from '../src/http/identity.ts'
import { tokenIdentity } from '../src/http/tokenIdentity.ts'
import { silent } from '../src/vocabulary/log.ts'
import type { Store } from '../src/persistence/store.ts'
import { createSender } from '../src/neighbours/openstack/send.ts'
import { createSession } from '../src/neighbours/openstack/session.ts'
import { createTokens } from '../src/neighbours/openstack/tokens.ts'
import { startCloud } from '../test/cloud/rig.ts'
import { sessionOptions } from '../test/contracts/keystone.contract.ts'
import { type FaultyProxy, faultyProxy } from '../test/neighbours/faultyProxy.ts'
import { type PlacementLab, placementLab, uniqueName } from '../test/support/placementLab.ts'
import { NOVA, openPlane, value } from '../test/support/plane.ts'
import { signIn } from '../test/support/signIn.ts'
import { load, machine } from './proc.ts'

const [hostCount, deviceCount] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 20)]
const COUNT = hostCount * deviceCount
/** As many as a simulated card has. */
const TRAITS = ['CUSTOM_BENCH_A', 'CUSTOM_BENCH_B', 'CUSTOM_BENCH_C', 'CUSTOM_BENCH_D', 'OWNER_CYBORG']
/** As many as the service looks at at once. */
const AT_ONCE = 8
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return (performance.now() - from) / 1000
}
const inTurns = async <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> => {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
const done = <Value>(
  told: { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly reason: string },
): Value => {
  if (!told.ok) throw new Error(told.reason)
  return told.value
}

/** The writes that a provider needs, and nothing else, below as many compute nodes in turn as the service has hosts. */
const bareLoop = async ({ placement, node }: PlacementLab, providers: number): Promise<number> => {
  const roots: string[] = []
  for (let left = hostCount; left > 0; left--) roots.push(await node())
  const inventories = inventoriesOf({ resourceClass: 'PGPU', total: 2, reserved: 0 })
  for (const trait of TRAITS) done(await placement.ensureTrait(trait))
  const providersBelow = Array.from({ length: providers }, (_, at) => ({
    name: uniqueName(),
    parent: roots[at % hostCount]!,
  }))
  const write = async ({ name, parent }: { readonly name: string; readonly parent: string }) => {
    const uuid = crypto.randomUUID()
    const { generation } = done(await placement.create({ uuid, name, parent }))
    const next = done(await placement.setTraits({ uuid, generation, traits: TRAITS }))
    done(await placement.setInventories({ uuid, generation: next, inventories }))
  }
  return providers / (await timed(() => inTurns(providersBelow, write)))
}

const OPTIONS = { placementAuditMs: 86_400_000, staleAfterMs: 86_400_000, downAfterMs: 172_800_000 }
const planOf = (seed: number) => ({
  seed,
  devices: Array.from({ length: deviceCount }, () => ({ kind: 'gpu', handles: 2 }) as const),
})
const opened = (lab: PlacementLab, store?: Store) => openPlane({ placement: lab.placement, options: OPTIONS }, store)
type Plane = Awaited<ReturnType<typeof opened>>

const fromEmpty = async (lab: PlacementLab, world: Plane, hosts: readonly string[]): Promise<number> => {
  for (const name of hosts) await lab.node(name)
  const placer = world.plane.sweeper.placer!
  return (
    COUNT /
    (await timed(async () => {
      for (const [at, name] of hosts.entries()) await world.shows(name, planOf(at))
      while (placer.counts().changes.inventory < COUNT) await sleep(20)
    }))
  )
}
const heal = async ({ control }: Plane) => value(await control.drift.heal(NOVA, null))
/** Seconds, and the requests by method. */
const audit = async (lab: PlacementLab, world: Plane): Promise<string> => {
  const before = lab.asked.length
  const seconds = await timed(() => heal(world))
  const asked = lab.asked.slice(before)
  const writes = asked.filter((line) => !line.startsWith('GET ')).length
  return `${seconds.toFixed(1)} s, ${asked.length - writes} reads, ${writes} writes`
}

/** Takes the traits of a share of the providers away; answers with how many these are. */
const drifted = async (lab: PlacementLab, world: Plane, share: number): Promise<number> => {
  const places = value(await world.control.deployables.list({}, {})).items
  const some = places.filter((_, at) => at % Math.round(1 / share) === 0)
  for (const { rp_uuid: uuid } of some) done(await lab.setTraits(uuid!, ['OWNER_CYBORG']))
  return some.length
}

const OUTAGE_MS = 60_000
const CHANGED = 0.01
const IN_STEP_MS = 600_000
/** Hosts of which is recorded that Placement could not be asked. */
const away = async ({ store }: Plane): Promise<number> =>
  new Map(await store.reads.tally('due', 'kind')).get(dueKindOf('unreachable')) ?? 0
/**
 * Placement answers 503 for a minute, in which a hundredth changes there; from the moment on in which it answers again:
 * seconds until every host was compared and what had changed is repaired. `next`: the process that does it, where that
 * is not the one that met the outage.
 */
const outage = async (cloud: Outage, world: Plane, next: () => Promise<Plane> = async () => world): Promise<string> => {
  const { proxy, direct, through } = cloud
  proxy.inject({ harm: { kind: 'answer', status: 503, body: '{}' } })
  const began = performance.now()
  await heal(world)
  const met = await away(world)
  const changed = await drifted(direct, world, CHANGED)
  const after = await next()
  if (after !== world) await world.plane.stop()
  await sleep(Math.max(0, OUTAGE_MS - (performance.now() - began)))
  const repaired = () => after.plane.sweeper.placer!.counts().changes.traits
  const [before, asked] = [repaired(), through().length]
  proxy.heal()
  const seconds = await timed(async () => {
    for (let left = IN_STEP_MS / 100; left > 0; left--) {
      if (repaired() - before >= changed && (await away(after)) === 0) return
      await sleep(100)
    }
    throw new Error(`not in step within ${IN_STEP_MS} ms: ${repaired() - before} of ${changed} repaired`)
  })
  const lines = through().slice(asked)
  const reads = lines.filter((line) => line.startsWith('GET ')).length
  await after.plane.stop()
  return `${met} hosts were told unreachable, ${changed} of ${COUNT} changed: in step ${seconds.toFixed(1)} s after, ${reads} reads, ${lines.length - reads} writes`
}
type Outage = {
  readonly proxy: FaultyProxy
  /** Past the proxy. */
  readonly direct: PlacementLab
  /** What was asked through it. */
  readonly through: () => readonly string[]
}

const served = async (world: Plane, identify: Identify) => {
  const listener = getRequestListener(createApp({ control: world.control, identify, log: silent, options: {} }).fetch)
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
const get = async (port: number, path: string, token: string, agent: Agent): Promise<void> => {
  const asked = request({ port, path, agent, headers: { 'x-auth-token': token } }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
  await response.resume().toArray()
}
/**
 * Processor time of both sides a GET, in µs; rounds with and without a token take turns, and the best of each counts.
 */
const tokenCosts = async (world: Plane, authUrl: string): Promise<void> => {
  const sender = createSender(null)
  const session = createSession({
    options: sessionOptions(authUrl),
    send: sender.send,
    clock: systemClock,
    log: silent,
  })
  const tokens = createTokens({ session, cache: { cacheMs: 300_000, entries: 100 }, clock: systemClock, log: silent })
  const { token } = await signIn(authUrl, 'admin', { project: 'admin' })
  const options = { authUrl, serviceType: 'accelerator', serviceTokenRoles: ['service'] }
  const kinds = [await served(world, noauth), await served(world, tokenIdentity(tokens, options))] as const
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { uuid } = value(await world.control.deployables.list({}, { limit: 1 })).items[0]!
  const best = [Infinity, Infinity]
  for (let round = 0; round < 24; round++) {
    const [at, each] = [round % 2, 500]
    const before = process.cpuUsage()
    for (let left = each; left > 0; left--) await get(kinds[at]!.port, `/v2/deployables/${uuid}`, token, agent)
    const { user, system } = process.cpuUsage(before)
    best[at] = Math.min(best[at]!, (user + system) / each)
  }
  say(
    `a GET of one deployable: ${best[0]!.toFixed(0)} µs without a token, ${best[1]!.toFixed(0)} µs with one that is remembered:`,
  )
  say(`  ${((best[1]! / best[0]! - 1) * 100).toFixed(1)} % more processor time of both sides`)
  agent.destroy()
  for (const { close } of kinds) close()
  await sender.close()
}

const cloud = await startCloud(join(import.meta.dirname, '../infra/rig/openstack'), 3600)
try {
  say(`${machine()}; load ${load()}; ${hostCount} hosts with ${deviceCount} devices each: ${COUNT} providers`)
  const lab = placementLab(sessionOptions(cloud.authUrl))
  const world = await opened(lab)
  const hosts = Array.from({ length: hostCount }, uniqueName)
  const half = Math.ceil(COUNT / 2)
  const before = await bareLoop(lab, half)
  const own = await fromEmpty(lab, world, hosts)
  const after = await bareLoop(lab, half)
  const floor = (before + after) / 2
  say(
    `from empty: ${own.toFixed(1)} providers/s; a loop that only writes ${before.toFixed(1)} before, ${after.toFixed(1)} after:`,
  )
  say(`  ${(own / floor).toFixed(2)} of it`)
  say(`nothing has changed: ${await audit(lab, world)}`)
  say(`nothing has changed, again: ${await audit(lab, world)}`)
  const second = await opened(lab, world.store)
  say(`a process that has just started, nothing has changed: ${await audit(lab, second)}`)
  await second.plane.stop()
  await tokenCosts(world, cloud.authUrl)
  await world.plane.stop()
  const proxy = await faultyProxy(cloud.placementUrl)
  await cloud.restart(proxy.url)
  // sessions that begin now find Placement behind the proxy
  const labs = Array.from({ length: 3 }, () => placementLab(sessionOptions(cloud.authUrl)))
  const failing = { proxy, direct: lab, through: () => labs.flatMap(({ asked }) => asked) }
  const third = await opened(labs[0]!, world.store)
  await heal(third)
  say(`an outage of ${OUTAGE_MS / 1000} s, beside the process that has compared all before:`)
  say(`  ${await outage(failing, third)}`)
  say('the same, and a process that starts in the outage goes on:')
  const fourth = await opened(labs[1]!, world.store)
  say(`  ${await outage(failing, fourth, () => opened(labs[2]!, world.store))}`)
  await Promise.all([lab, ...labs].map(({ close }) => close()))
  await proxy.close()
} finally {
  await cloud.stop()
}
