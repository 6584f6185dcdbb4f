/**
 * Chooses the control for the next request like a load balancer: in turn, mostly skipping those whose last health check
 * failed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlMember } from '../support/cluster.ts'
import { serves } from './world.ts'

export type LoadBalancer = {
  /** URL of the API of the chosen control. */
  readonly base: () => string
  /** Resolves when a control is ready. */
  readonly serving: () => Promise<void>
  readonly close: () => void
}

const LOOK_MS = 500
/** Also a load balancer looks too late: one request in so many goes to whoever is next. */
const BLIND = 10

export const openLoadBalancer = (controls: readonly ControlMember[]): LoadBalancer => {
  const up = new Set<ControlMember>()
  let [turn, closed] = [0, false]
  const watch = async (control: ControlMember): Promise<void> => {
    while (!closed) {
      if (await serves(control)) up.add(control)
      else up.delete(control)
      await sleep(LOOK_MS)
    }
  }
  for (const control of controls) void watch(control)
  const next = (): ControlMember => controls[turn++ % controls.length]!
  return {
    base: () => {
      let chosen = next()
      for (let tries = 1; turn % BLIND !== 0 && !up.has(chosen) && tries < controls.length; tries++) chosen = next()
      return `${chosen.origin}/v2`
    },
    serving: async () => {
      while (up.size === 0 && !closed) await sleep(LOOK_MS / 2)
    },
    close: () => {
      closed = true
    },
  }
}
