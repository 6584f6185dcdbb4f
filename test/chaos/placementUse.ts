/**
 * Nova and operators at Placement during a run: allocations come and go, and providers of ours are changed behind the
 * service's back.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Life } from '../kill/account.ts'
import type { Cloud } from '../kill/cloud.ts'
import type { Random } from '../kill/random.ts'
import type { PlacementLab } from '../support/placementLab.ts'

export type PlacementUse = {
  /** No more changes. */
  readonly stop: () => Promise<void>
  /** Ends the allocations of instances that are gone, as Nova does. Resolves to those that could not be ended. */
  readonly releaseGone: () => Promise<readonly string[]>
}
type Parts = {
  readonly lab: PlacementLab
  readonly account: Account
  readonly cloud: Cloud
  readonly random: Random
}

const EVERY_MS = 300
const RELEASE_MS = 60_000
const isBound = ({ arqs, seen, leaveSentAt }: Life): boolean =>
  leaveSentAt === null && seen.size === arqs.length && [...seen.values()].every(({ state }) => state === 'Bound')

export const openPlacementUse = ({ lab, account, cloud, random }: Parts): PlacementUse => {
  let over = false
  /** By instance; also where nobody knows whether Placement did it. */
  const allocated = new Map<string, Life>()
  const allocate = async (): Promise<void> => {
    const lives = account.lives.filter((life) => isBound(life) && !allocated.has(life.instance))
    if (lives.length === 0) return
    const life = random.pick(lives)
    const { rp, rc } = cloud.places.find(({ uuid }) => uuid === life.deployable)!
    allocated.set(life.instance, life)
    await lab.allocate(life.instance, { [rp]: { [rc]: life.arqs.length } })
  }
  const gone = (): readonly string[] =>
    [...allocated].flatMap(([instance, { leftAt }]) => (leftAt === null ? [] : [instance]))
  const release = async (instance: string): Promise<void> => {
    const status = await lab.release(instance)
    if (status === 204 || status === 404) allocated.delete(instance)
  }
  const changes: readonly (() => Promise<unknown>)[] = [
    allocate,
    async () => Promise.all(gone().map(release)),
    allocate,
    () => lab.setTraits(random.pick(cloud.places).rp, ['OWNER_CYBORG']),
    allocate,
    // refused while units of it are allocated
    () => lab.placement.remove(random.pick(cloud.places).rp),
  ]
  const work = async (): Promise<void> => {
    for (let turn = 0; !over; turn++) {
      // while Placement is away nothing comes of it
      await changes[turn % changes.length]!().catch(() => null)
      await sleep(EVERY_MS)
    }
  }
  const working = work()
  return {
    stop: () => {
      over = true
      return working
    },
    releaseGone: async () => {
      for (const until = Date.now() + RELEASE_MS; gone().length > 0 && Date.now() < until; await sleep(EVERY_MS))
        await Promise.all(gone().map(release)).catch(() => null)
      return gone()
    },
  }
}
