/** The second part: the process stays alive, and single actors are killed by key in the middle of a bind. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Life } from './account.ts'
import { type KillStand, type PartOptions, STUCK, openKillStand, settleUp } from './killed.ts'
import { type Load, openLoad } from './load.ts'

export const KINDS = ['arq', 'instance', 'deployable'] as const
export type Killed = Record<(typeof KINDS)[number], number>
export type ActorPart = { readonly account: Account; readonly filled: number; readonly killed: Killed }

const CONCURRENCY = 14
const LONGEST_MS = 120_000
/** Number of actor kills per process kill, since killing an actor takes almost no time. */
const PER_KILL = 10

export const inFlight = ({ lives }: Account): readonly Life[] =>
  lives.filter(
    ({ arqs, bindSentAt, seen, leaveSentAt, refused }) =>
      bindSentAt !== null && seen.size < arqs.length && leaveSentAt === null && !refused,
  )

/** True when there was such an actor. */
export const killActor = async (admin: string, key: string): Promise<boolean> => {
  const response = await fetch(`${admin}/doors/kill-actor`, {
    method: 'POST',
    body: JSON.stringify({ key }),
    signal: AbortSignal.timeout(10_000),
  })
  const { result } = (await response.json()) as { readonly result?: { readonly killed: boolean } }
  if (result === undefined) throw new Error(`the door answers ${response.status}`)
  return result.killed
}

const killSome = async ({ account, chance, service }: KillStand, load: Load, options: PartOptions): Promise<Killed> => {
  const killed: Killed = { arq: 0, instance: 0, deployable: 0 }
  const { admin } = service.now()
  const until = Date.now() + LONGEST_MS
  const wanted = options.kills * PER_KILL
  const short = () => KINDS.some((kind) => killed[kind] < wanted / KINDS.length) || load.accepted() < options.binds
  while (short() && Date.now() < until) {
    await sleep(chance.between(1, 30))
    const lives = inFlight(account)
    if (lives.length === 0) continue
    const life = chance.pick(lives)
    const kind = KINDS.toSorted((one, other) => killed[one] - killed[other])[0]!
    const id = { arq: chance.pick(life.arqs), instance: life.instance, deployable: life.deployable }[kind]
    if (await killActor(admin, `${kind}/${id}`)) killed[kind]++
  }
  if (short())
    account.contradictions.push(
      `${JSON.stringify(killed)} actors killed and ${load.accepted()} binds in ${LONGEST_MS} ms`,
    )
  return killed
}

export const killActors = async (options: PartOptions): Promise<ActorPart> => {
  const stand = await openKillStand(options, { ACCELERANDO_TEST_DOORS: '1' })
  const { account, chance, client, cloud } = stand
  try {
    const load = openLoad(client, cloud, chance, { concurrency: CONCURRENCY, hostWork: options.hostWork, stuck: STUCK })
    const killed = await killSome(stand, load, options)
    await load.drain()
    return { account, filled: await settleUp(stand), killed }
  } finally {
    await stand.close()
  }
}
