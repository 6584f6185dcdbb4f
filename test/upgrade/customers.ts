/**
 * Instances that come and go as Nova leads them, while the service below is replaced; and what became of all of them in
 * the end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { newAccount } from '../kill/account.ts'
import { makeProfiles, readCloud } from '../kill/cloud.ts'
import { allTold, listAll } from '../kill/ending.ts'
import { judge } from '../kill/judge.ts'
import { stillSo } from '../kill/life.ts'
import { type Load, openLoad } from '../kill/load.ts'
import { openNova } from '../kill/nova.ts'
import { random } from '../kill/random.ts'
import { runProgram } from '../support/program.ts'
import { openBalancer } from './balancer.ts'

export const DEADLINE_SECONDS = 20
const CONCURRENCY = 6
const STEP_MS = 60_000
const AUDIT_MS = 30_000
const NOBODY = { host: 'nobody', binds: 0 }

/** Asks again until it holds. */
export const until = async (what: string, holds: () => Promise<boolean> | boolean, ms = STEP_MS): Promise<void> => {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`)
    await sleep(50)
  }
}

export const openCustomers = async (seed: number) => {
  const account = newAccount(DEADLINE_SECONDS * 1000)
  const chance = random(seed)
  const nova = await openNova(account, random(seed + 1))
  const api = openBalancer()
  const client = { api, account, nova }
  let load: Load | null = null
  const boundOn = (host: string): number =>
    account.lives.filter((life) => life.host === host && [...life.seen.values()].some(({ state }) => state === 'Bound'))
      .length
  /** Begins when so many places are offered. */
  const begin = async (places: number): Promise<void> => {
    const offered = async () => ((await readCloud(api).catch(() => null))?.places.length ?? 0) >= places
    await until(`${places} places are offered`, offered)
    const cloud = await readCloud(api)
    await makeProfiles(api, cloud, [1, 2])
    account.served.push({ from: Date.now(), to: Infinity })
    load = openLoad(client, cloud, chance, { concurrency: CONCURRENCY, hostWork: false, stuck: NOBODY })
  }
  /** Resolves when each of the hosts has taken so many more instances. */
  const more = async (binds: number, ...hosts: readonly string[]): Promise<void> => {
    const due = hosts.map((host) => [host, boundOn(host) + binds] as const)
    await until(`${binds} more binds on ${hosts.join(', ')}`, () =>
      due.every(([host, count]) => boundOn(host) >= count),
    )
  }
  const unserved = async (change: () => Promise<void>): Promise<void> => {
    account.served.at(-1)!.to = Date.now()
    await change()
    account.served.push({ from: Date.now(), to: Infinity })
  }
  /** All that was begun is over; what the client, Nova and the service say of it agrees. */
  const settle = async (): Promise<readonly string[]> => {
    await load?.drain()
    nova.steady()
    await allTold(client)
    for (const life of account.lives) if (life.leaveSentAt === null) await stillSo(client, life)
    account.listedAtEnd = await listAll(api)
    return [...judge(account), ...api.figures.failed]
  }
  const close = async (): Promise<void> => {
    await api.close()
    await load?.drain().catch(() => undefined)
    await nova.close()
  }
  return { account, nova, api, begin, more, unserved, settle, close, boundOn }
}
export type Customers = Awaited<ReturnType<typeof openCustomers>>

/**
 * `accelerando audit`, asked again while something is still under way. Resolves to what it said last, and how it ended.
 */
export const audited = async (
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly said: string }> => {
  const end = performance.now() + AUDIT_MS
  for (;;) {
    const program = runProgram({ args: ['audit', ...args] })
    const { code } = await program.exited
    const said = program.stdout() + program.stderr()
    if (code === 0 || performance.now() > end) return { code, said }
    await sleep(1000)
  }
}
