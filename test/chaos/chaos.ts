/** One run of the chaos test, from the start of its processes to its verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import { newAccount } from '../kill/account.ts'
import { openApi } from '../kill/api.ts'
import { makeProfiles, readCloud } from '../kill/cloud.ts'
import { judge } from '../kill/judge.ts'
import type { Client } from '../kill/life.ts'
import { type Load, openLoad } from '../kill/load.ts'
import { openNova } from '../kill/nova.ts'
import { random } from '../kill/random.ts'
import { figuresOf, sentence } from '../kill/table.ts'
import { settle } from './ending.ts'
import { openLoadBalancer } from './loadBalancer.ts'
import { rampage } from './nemesis.ts'
import { type PlacementUse, openPlacementUse } from './placementUse.ts'
import { HOSTS, type Step, kindsOf } from './plan.ts'
import { type Line, recorded } from './recorded.ts'
import { type Hung, type Struck, countsOf, judgeRun, outagesOf, servedIn } from './struck.ts'
import { DEADLINE_MS, type Rigs, SIZE, type World, allReady, openWorld } from './world.ts'

type Options = {
  readonly minutes: number
  readonly seed: number
  readonly binds: number
  /** Number of instances at a time. */
  readonly clients: number
  readonly say: (line: string) => void
}
export type Chaos = {
  readonly world: World
  readonly lines: readonly Line[]
  readonly struck: readonly Struck[]
  readonly run: (plan: readonly Step[]) => Promise<void>
  /** All violations found so far. */
  readonly judged: () => readonly string[]
  readonly summary: () => string
  readonly doing: () => string
  readonly close: () => Promise<void>
}

/** The broker is paused while all processes start. */
const SLOW_START_MS = 6000
/** A control that has the request and does not answer by then is taken for dead by Nova's own client, too. */
const ANSWER_MS = 15_000
/** The client's clock and the control's differ by up to 10 s, and an end may be seen only at the second GET. */
const GRACE_MS = 30_000
const PLACES_MS = 60_000
const DRAIN_MS = 150_000
/** Makes the binds that are still missing when the faults took too much of the time. */
const MORE_MS = 90_000
const LOOK_MS = 250

const cloudOf = async ({ api }: Client) => {
  const until = Date.now() + PLACES_MS
  for (;;) {
    const cloud = await readCloud(api)
    if (cloud.places.length === HOSTS.length * SIZE.devices) return cloud
    if (Date.now() > until)
      throw new Error(`${cloud.places.length} places are known, not ${HOSTS.length * SIZE.devices}`)
    await sleep(LOOK_MS)
  }
}

/** Three controls create the topics at the same time, as soon as the broker answers. */
const startedSlowly = async ({ broker, controls, hosts }: World): Promise<void> => {
  await broker.pause()
  const started = Promise.all([...controls, ...hosts].map((member) => member.start()))
  // a start that fails while the broker is paused is reported below
  started.catch(() => undefined)
  await sleep(SLOW_START_MS)
  await broker.resume()
  await started
}

const drained = async (load: Load): Promise<void> => {
  const late = new AbortController()
  const over = sleep(DRAIN_MS, 'over', { signal: late.signal }).catch(() => null)
  const first = await Promise.race([load.drain(), over])
  late.abort()
  if (first === 'over') throw new Error(`the load had not ended ${DRAIN_MS} ms after the last fault`)
}

export const openChaos = async (options: Options, rigs: Rigs): Promise<Chaos> => {
  const { seed, minutes, binds, clients, say } = options
  const account = { ...newAccount(DEADLINE_MS), graceMs: GRACE_MS }
  const [lines, hung, struck]: [Line[], Hung[], Struck[]] = [[], [], []]
  const nova = await openNova(account, random(seed + 1))
  const world = await openWorld(rigs, nova.url)
  const kinds = kindsOf(world.openstack !== null)
  const balancer = openLoadBalancer(world.controls)
  const api = recorded(openApi(balancer.base, balancer.serving, ANSWER_MS, world.openstack?.headers), lines, hung)
  const client: Client = { account, nova, api }
  let doing = 'starting'
  let use: PlacementUse | null = null
  const found: string[] = []
  const begin = (what: string) => {
    doing = what
    say(what)
  }
  const run = async (plan: readonly Step[]): Promise<void> => {
    begin(`starting; the disk of one host is made full by ${world.disk.how}`)
    await startedSlowly(world)
    const cloud = await cloudOf(client)
    await makeProfiles(client.api, cloud, [1, 2])
    const from = Date.now()
    const chance = random(seed + 2)
    const load = openLoad(client, cloud, chance, {
      concurrency: clients,
      hostWork: true,
      stuck: { host: '', binds: 0 },
    })
    if (world.openstack) use = openPlacementUse({ lab: world.openstack.lab, account, cloud, random: random(seed + 4) })
    begin('under load')
    const everyKind = () => [...countsOf({ struck, kinds }).values()].every((count) => count > 0)
    const scene = { world, account, client, cloud, struck, random: random(seed + 3), accepted: load.accepted, say }
    await rampage(scene, plan, from + minutes * 60_000, everyKind)
    while (load.accepted() < binds && Date.now() < from + minutes * 60_000 + MORE_MS) await sleep(LOOK_MS)
    begin(`${load.accepted()} binds accepted; no faults any more`)
    if (!(await allReady(world.controls))) found.push('not every control is ready 60 s after the last fault')
    await drained(load)
    account.served.push(...servedIn(outagesOf(struck), from))
    begin('settling')
    found.push(...(await settle({ world, client, cloud, lines, struck, use, say })))
  }
  return {
    world,
    lines,
    struck,
    run,
    judged: () => {
      const named = hung.map((one) => ({
        ...one,
        control: world.controls.find(({ origin }) => origin === one.control)?.name ?? one.control,
      }))
      const accepted = figuresOf(account).accepted
      return [...found, ...judge(account), ...judgeRun({ struck, kinds, hung: named, accepted, wanted: binds })]
    },
    summary: () => {
      const met = struck.reduce((sum, one) => sum + one.inFlight, 0)
      const counts = [...countsOf({ struck, kinds })].map(([kind, count]) => `${kind} ${count}`).join(', ')
      return `chaos: ${sentence(figuresOf(account))}; ${struck.length} faults (${counts}) with ${met} binds in flight`
    },
    doing: () => doing,
    close: async () => {
      balancer.close()
      await use?.stop()
      await world.close()
      await nova.close()
    },
  }
}
