/** The last part of a run: after the last kill, all accepted requests must have their results. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Listed, lostAt } from './account.ts'
import type { Api } from './api.ts'
import type { Cloud, Place } from './cloud.ts'
import { type Client, lead } from './life.ts'

/** The longest wait between two notifications of Nova is 30 s. */
const TOLD_MS = 45_000
const FREE_MS = 30_000

const untold = ({ account, nova }: Client): readonly string[] => {
  account.delivered = nova.delivered()
  const stored = account.lives.filter((life) => lostAt(account, life) === null)
  return stored.flatMap(({ seen }) => [...seen.keys()]).filter((arq) => !account.delivered.has(arq))
}

/** Waits until Nova has been notified of every end, or the notification is recorded as undeliverable. */
export const allTold = async (client: Client): Promise<void> => {
  const until = Date.now() + TOLD_MS
  while (untold(client).length > 0 && Date.now() < until) await sleep(100)
  for (const arq of untold(client)) {
    const { body } = await client.api.call('GET', `/accelerator_requests/${arq}/timeline`)
    const steps = (body['steps'] ?? []) as readonly { readonly step: string }[]
    if (steps.some(({ step }) => /^nova told: (undeliverable|gone|refused)$|^nova not told$/.test(step)))
      client.account.undeliverable.add(arq)
  }
}

/** Binds one accelerator; releases of the last seconds may still be under way on the host. */
const fillOne = async (client: Client, place: Place): Promise<boolean> => {
  const until = Date.now() + FREE_MS
  while (Date.now() < until) {
    if (await lead(client, { place, amount: 1, holdMs: 0, leaving: 'never', hasty: false })) return true
    place.claimed++
    await sleep(200)
  }
  return false
}

/** Binds all free accelerators; if that is not possible, a handle has leaked. Returns how many were bound. */
export const fillUp = async (client: Client, { places }: Cloud, fits: (place: Place) => boolean): Promise<number> => {
  const filled = await Promise.all(
    places.filter(fits).map(async (place) => {
      let bound = 0
      for (let free = place.capacity - place.claimed; free > 0; free--) {
        place.claimed++
        if (await fillOne(client, place)) bound++
        else
          return [
            bound,
            `${place.name}: ${free} of ${place.capacity} handles are held by nobody and cannot be had`,
          ] as const
      }
      return [bound, null] as const
    }),
  )
  client.account.contradictions.push(...filled.flatMap(([, leak]) => (leak === null ? [] : [leak])))
  return filled.reduce((sum, [bound]) => sum + bound, 0)
}

export const listAll = async (api: Api): Promise<readonly Listed[]> => {
  const { body } = await api.call('GET', '/accelerator_requests')
  return body['arqs'] as readonly Listed[]
}
