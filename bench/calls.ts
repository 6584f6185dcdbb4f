/** What callers do, one after the other, each over a line of its own. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './http.ts'
import type { Made, Target } from './tasks.ts'

export const ARQS = '/v2/accelerator_requests'
const REMOVED_AT_ONCE = 50
const FAILURES_KEPT = 20

export const record = () => {
  const made: Made[] = []
  const stages: Record<string, number[]> = {}
  const states: Record<string, number> = {}
  const failures: string[] = []
  return {
    made,
    stages,
    states,
    failures,
    time: (stage: string, ms: number): void => void (stages[stage] ??= []).push(ms),
    fail: (text: string): void => {
      if (failures.length < FAILURES_KEPT) failures.push(text)
    },
  }
}
export type Kept = ReturnType<typeof record>
export type Ask = Connection['ask']
export type Lane = (ask: Ask, over: () => boolean, kept: Kept, lane: number) => Promise<void>

/** Deployables in turn, each as often as it has free handles. */
export const dispenser = (targets: readonly Target[]) => {
  const left = targets.map(({ free }) => free)
  let [at, total] = [0, left.reduce((sum, free) => sum + free, 0)]
  return (): Target | null => {
    if (total === 0) return null
    while (left[at % left.length] === 0) at++
    const chosen = at++ % left.length
    left[chosen]!--
    total--
    return targets[chosen]!
  }
}

export const created = async (ask: Ask, profile: string): Promise<string> => {
  const { status, body } = await ask('POST', ARQS, { device_profile_name: profile })
  if (status !== 201) throw new Error(`POST ${status} ${body.slice(0, 200)}`)
  return (JSON.parse(body) as { arqs: { uuid: string }[] }).arqs[0]!.uuid
}
export const accepted = async (
  ask: Ask,
  arq: string,
  { hostname, rp }: Target,
  instance: string = randomUUID(),
): Promise<string> => {
  const fields = Object.entries({ hostname, device_rp_uuid: rp, instance_uuid: instance })
  const patch = { [arq]: fields.map(([name, value]) => ({ op: 'add', path: `/${name}`, value })) }
  const { status, body } = await ask('PATCH', ARQS, patch)
  if (status !== 202) throw new Error(`PATCH ${status} ${body.slice(0, 200)}`)
  return instance
}
export const stateOf = async (ask: Ask, arq: string): Promise<string> => {
  const { status, body } = await ask('GET', `${ARQS}/${arq}`)
  if (status !== 200) throw new Error(`GET ${status} ${body.slice(0, 200)}`)
  return (JSON.parse(body) as { state: string }).state
}
const TRIES = 20
/** How often, among the counted states. */
export const TRIED_AGAIN = 'DELETE tried again'
/** Asks again when it is told to: many at once on the same devices can be too much for one round. */
export const removed = async (ask: Ask, arqs: readonly string[], kept: Kept): Promise<void> => {
  for (let tried = 1; ; tried++) {
    const { status, body } = await ask('DELETE', `${ARQS}?arqs=${arqs.join(',')}`)
    if (status === 204) return
    if (status !== 503 || tried === TRIES) return kept.fail(`DELETE ${status} ${body.slice(0, 200)}`)
    kept.states[TRIED_AGAIN] = (kept.states[TRIED_AGAIN] ?? 0) + 1
    await sleep(20 * tried)
  }
}

export const removeLane = (arqs: readonly string[]): Lane => {
  let at = 0
  return async (ask, _over, kept) => {
    while (at < arqs.length) await removed(ask, arqs.slice(at, (at += REMOVED_AT_ONCE)), kept)
  }
}

export const settleLane = (arqs: readonly string[], limitMs: number): Lane => {
  const end = performance.now() + limitMs
  let at = 0
  return async (ask, _over, kept) => {
    while (at < arqs.length) {
      const arq = arqs[at++]!
      let state = await stateOf(ask, arq)
      while (['Initial', 'BindStarted'].includes(state) && performance.now() < end) {
        await sleep(5)
        state = await stateOf(ask, arq)
      }
      kept.states[state] = (kept.states[state] ?? 0) + 1
    }
  }
}
