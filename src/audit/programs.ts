/** Invariants of programming: what is recorded of a card, and what the card holds. */
import { deployableKey } from '../actors/deployable/decider.ts'
import type { Deployable } from '../actors/deployable/state.ts'
import { type Invariant, lastDeployables } from './history.ts'
import { onHost } from './hosts.ts'

/** An order for it is unanswered, so that the record may be older than the card. */
const isBeingProgrammed = ({ program, handles }: Deployable): boolean =>
  program !== null || Object.values(handles).some(({ pending }) => pending !== null)

const verified: Invariant = {
  name: 'S14',
  meaning: 'when all is quiet, a card that is there holds the image that is recorded of it',
  judge: ({ hosts = [], quiet = false }) => ({
    *end(history) {
      if (!quiet) return
      const cards = new Map(hosts.flatMap(({ name, loaded }) => (loaded ? [[name, loaded] as const] : [])))
      for (const held of lastDeployables(history)) {
        const there = cards.get(held.host)
        if (!there || held.bitstreamId === null || held.presence !== 'present' || isBeingProgrammed(held)) continue
        const holds = there[held.name] ?? 'no image'
        if (holds !== held.bitstreamId)
          yield onHost(held.host, null, `${held.name} is recorded with image ${held.bitstreamId} and holds ${holds}`, [
            deployableKey(held.uuid),
          ])
      }
    },
  }),
}

export const programInvariants: readonly Invariant[] = [verified]
