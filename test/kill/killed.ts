/** The first part: the whole process is killed repeatedly under load. */
import { setTimeout as sleep } from 'node:timers/promises'
import { tempFolder } from '../support/program.ts'
import { type Account, PHASES, type Phase, newAccount } from './account.ts'
import { takeAim } from './aim.ts'
import { openApi } from './api.ts'
import { audit } from './audit.ts'
import { type Place, makeProfiles, readCloud, readInventory } from './cloud.ts'
import { allTold, fillUp, listAll } from './ending.ts'
import { hostsIn } from './hosts.ts'
import { stillSo } from './life.ts'
import { type Load, openLoad } from './load.ts'
import { openNova } from './nova.ts'
import { phasesAt, snapshot } from './phases.ts'
import { random } from './random.ts'
import { type Supervised, supervise } from './service.ts'
import { figuresOf, killHead, killRow } from './table.ts'

export type PartOptions = {
  readonly binds: number
  readonly kills: number
  readonly seed: number
  readonly hostWork: boolean
  readonly say: (line: string) => void
}

const DEADLINE_SECONDS = 10
const CONCURRENCY = 14
/** The minimum number of kills with a bind in each phase. */
const EACH_PHASE = 3
const ORDERS_TAKE_MS = 120
const SIMULATED = ['sim-1', 'sim-2', 'sim-3']
/** Its orders take longer than any bind may: these binds end by their deadline. */
export const STUCK = { host: 'sim-3', binds: 4 }
const healthy = ({ host }: Place) => host !== STUCK.host

export type KillStand = Awaited<ReturnType<typeof openKillStand>>
/** The program, its Nova, a client and the simulated cloud. */
export const openKillStand = async ({ seed }: PartOptions, env: Readonly<Record<string, string>>) => {
  const account = newAccount(DEADLINE_SECONDS * 1000)
  const chance = random(seed)
  const nova = await openNova(account, random(seed + 1))
  const data = tempFolder('kill')
  const hosts = hostsIn(data.path, SIMULATED)
  // One preparation of each process's life fails.
  hosts.inject('sim-1', { delayMs: ORDERS_TAKE_MS, failPrepare: 1 })
  hosts.inject(STUCK.host, { delayMs: 600_000 })
  const close = async (service: Supervised | null) => {
    await service?.close()
    await nova.close()
    data.remove()
  }
  try {
    const settings = { ACCELERANDO_NOVA_URL: nova.url, ACCELERANDO_BIND_DEADLINE_SECONDS: String(DEADLINE_SECONDS) }
    const run = { data: data.path, args: ['--demo', '--log-level', 'info'], env: { ...settings, ...env } }
    const service = await supervise(run, account)
    const api = openApi(() => `${service.origin}/v2`, service.serving)
    const cloud = await readCloud(api)
    await makeProfiles(api, cloud, [1, 2])
    const client = { api, account, nova }
    return { account, chance, nova, data, hosts, service, api, cloud, client, close: () => close(service) }
  } catch (error) {
    await close(null)
    throw error
  }
}

/** Chooses each phase in turn, then the one with the fewest kills. */
const nextAim = (account: Account): Phase => {
  const { hit, kills } = figuresOf(account)
  if (kills < PHASES.length * EACH_PHASE) return PHASES[kills % PHASES.length]!
  return PHASES.toSorted((one, other) => hit[one] - hit[other])[0]!
}

const killOnce = async (stand: KillStand, inventory: string): Promise<void> => {
  const { account, api, chance, hosts, service } = stand
  const aim = nextAim(account)
  let taken = snapshot(0, api, account)
  await takeAim({ ...stand, random: chance }, aim, () => {
    const open = [...api.open]
    const at = service.strike()
    taken = { ...snapshot(at, api, account), open }
  })
  await service.now().exited
  const inHand = hosts.read()
  const readyMs = await service.revive()
  if ((await readInventory(api)) !== inventory)
    account.contradictions.push(`hosts, devices or deployables changed with kill ${account.kills.length + 1}`)
  account.kills.push({ at: taken.at, aim, inFlight: await phasesAt(taken, inHand, api), readyMs })
}

const enough = (account: Account, load: Load, { binds, kills }: PartOptions): boolean => {
  const { hit } = figuresOf(account)
  const met = PHASES.every((phase) => hit[phase] >= EACH_PHASE)
  // A machine on which a phase cannot be met must not keep the run going for ever; the verdict names the phase.
  return load.accepted() >= binds && account.kills.length >= kills && (met || account.kills.length >= kills + 20)
}

const underFire = async (stand: KillStand, options: PartOptions): Promise<void> => {
  const { account, api, chance, client, cloud } = stand
  const inventory = await readInventory(api)
  const load = openLoad(client, cloud, chance, { concurrency: CONCURRENCY, hostWork: options.hostWork, stuck: STUCK })
  options.say(killHead)
  try {
    while (!enough(account, load, options)) {
      await sleep(chance.between(300, 1200))
      if (account.kills.length >= options.kills + 20 || load.active() === 0) continue
      await killOnce(stand, inventory)
      options.say(killRow(account))
    }
  } finally {
    await load.drain()
  }
}

/** Everything that is asked for after the last kill, of either part. */
export const settleUp = async ({
  account,
  api,
  client,
  cloud,
  hosts,
  nova,
  service,
  data,
}: KillStand): Promise<number> => {
  nova.steady()
  hosts.inject('sim-1', {})
  await allTold(client)
  const filled = await fillUp(client, cloud, healthy)
  await allTold(client)
  for (const life of account.lives) if (life.leaveSentAt === null) await stillSo(client, life)
  account.listedAtEnd = await listAll(api)
  const { code, tookMs } = await service.now().end('SIGTERM')
  account.served.at(-1)!.to = Date.now()
  if (code !== 0 || tookMs > 10_000)
    account.contradictions.push(`SIGTERM ended it with ${code} after ${tookMs.toFixed(0)} ms`)
  account.contradictions.push(...(await audit(data.path, account, { able: ['sim-1'], unable: [STUCK.host] })))
  return filled
}

export const killProcess = async (
  options: PartOptions,
): Promise<{ readonly account: Account; readonly filled: number }> => {
  const stand = await openKillStand(options, {})
  try {
    await underFire(stand, options)
    return { account: stand.account, filled: await settleUp(stand) }
  } finally {
    await stand.close()
  }
}

export const shortOf = (account: Account): readonly string[] => {
  const { hit } = figuresOf(account)
  return PHASES.filter((phase) => hit[phase] < EACH_PHASE).map(
    (phase) => `only ${hit[phase]} kills met a bind in phase ${phase}, fewer than ${EACH_PHASE}`,
  )
}
