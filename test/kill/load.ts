/** Runs many instances at a time, each with its own plan, until enough binds were accepted. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cloud, Place } from './cloud.ts'
import { type Client, type Leaving, type Plan, lead } from './life.ts'
import type { Random } from './random.ts'

export type LoadOptions = {
  readonly concurrency: number
  /** Use only devices whose binds need work of their host. */
  readonly hostWork: boolean
  /** A host whose orders exceed every deadline, and how many binds still go to it. */
  readonly stuck: { readonly host: string; readonly binds: number }
}
export type Load = {
  readonly accepted: () => number
  /** Number of instances that have not ended. */
  readonly active: () => number
  /** Starts no new instances; resolves when all have ended. */
  readonly drain: () => Promise<void>
}

const LEAVINGS: readonly Leaving[] = ['by instance', 'by instance', 'by ARQs', 'unbound first']
/** The most instances that are kept until the end, so that enough accelerators stay free. */
const KEPT_MAX = 6

export const openLoad = (client: Client, cloud: Cloud, random: Random, options: LoadOptions): Load => {
  const { concurrency, hostWork, stuck } = options
  let [accepted, active, kept, sentToStuck, draining] = [0, 0, 0, 0, false]

  const usable = (place: Place) => place.host !== stuck.host && (place.hostWork || !hostWork)
  const toStuck = (place: Place) => place.host === stuck.host && place.rc === 'FPGA'
  const claim = (amount: number): Place | null => {
    const due = sentToStuck < stuck.binds && accepted >= (sentToStuck + 1) * 15
    if (!due || amount > 1) return cloud.claim(random, amount, usable)
    sentToStuck++
    return cloud.claim(random, amount, toStuck)
  }
  const planned = (): Plan | null => {
    const amount = random.chance(0.15) ? 2 : 1
    const place = claim(amount)
    if (place === null) return null
    const keep = kept < KEPT_MAX && random.chance(0.05) && usable(place)
    if (keep) kept++
    const leaving = keep ? 'never' : random.pick(LEAVINGS)
    return { place, amount, leaving, holdMs: random.between(0, 700), hasty: !keep && random.chance(0.08) }
  }
  const work = async () => {
    while (!draining) {
      const plan = planned()
      if (plan === null) {
        await sleep(50)
        continue
      }
      active++
      // What broke a life has to be found in the judgement, and must not take the others along.
      const taken = await lead(client, plan).catch((error: unknown) => {
        client.account.contradictions.push(`the client gave up: ${String(error)}`)
        return false
      })
      active--
      if (taken) accepted++
      else await sleep(random.between(20, 100))
    }
  }
  const working = Array.from({ length: concurrency }, work)
  return {
    accepted: () => accepted,
    active: () => active,
    drain: async () => {
      draining = true
      await Promise.all(working)
    },
  }
}
