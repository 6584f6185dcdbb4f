/** Wraps the sharing port of each process and checks the rules of `src/actors/runtime/sharing.ts` on its results. */
import type { Sharing } from '../../src/actors/runtime/sharing.ts'
import type { Life } from './schedule.ts'

type Ports = {
  readonly now: () => number
  /** A process has the store to itself: when it opens the store, the claims of those before it are over. */
  readonly exclusive: boolean
  readonly complain: (line: string, rule: string) => void
}

const RELAY = 'relay'

type Watched = {
  readonly of: (life: Life, sharing: Sharing) => Sharing
  /** The database has gone back: what it had answered before holds no more. */
  readonly forget: () => void
}
/** One instance serves all processes. */
export const watchedSharing = ({ now, exclusive, complain }: Ports): Watched => {
  const claims = new Map<string, { readonly life: Life; readonly until: number }>()
  let told = 0
  const of: Watched['of'] = (life, sharing) => ({
    ...sharing,
    saveUnder: async (lease, reader, position) => {
      const saved = await sharing.saveUnder(lease, reader, position)
      if (!saved || reader !== RELAY) return saved
      if (Number(position) < told)
        complain(
          `${life.name}, epoch ${lease.epoch}: the checkpoint went from ${told} back to ${position}`,
          'SHARING-2',
        )
      told = Number(position)
      return saved
    },
    claimDue: async (kinds, moment, limit, forMs) => {
      const found = await sharing.claimDue(kinds, moment, limit, forMs)
      for (const { entity } of found) {
        const other = claims.get(entity)
        if (other && other.until > now() && (other.life.alive || !exclusive))
          complain(`${entity} was given to ${life.name} and to ${other.life.name}`, 'SHARING-3')
        claims.set(entity, { life, until: now() + forMs })
      }
      return found
    },
    unclaim: async (entities) => {
      await sharing.unclaim(entities)
      for (const entity of entities) claims.delete(entity)
    },
  })
  const forget = (): void => {
    claims.clear()
    told = 0
  }
  return { of, forget }
}
