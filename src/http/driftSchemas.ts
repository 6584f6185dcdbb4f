/** The schemas of what the API answers about drift and its repair. */
import * as v from 'valibot'
import { HEAL_OUTCOMES } from '../actors/answers/drift.ts'
import { DRIFT_KINDS } from '../actors/placement/ignored.ts'
import { HOST_BLOCKERS, PROVIDER_CHANGES, PROVIDER_STATES } from '../actors/placement/decider.ts'
import { RESERVINGS } from '../actors/placement/wanted.ts'
import { Time, Uuid } from './schemas.ts'

const Note = { by: v.string(), reason: v.string(), at: Time }

export const HostDrift = v.object({
  host: v.string(),
  compute_node_uuid: v.pipe(v.nullable(Uuid), v.description('Its provider in Placement, as of the last pass.')),
  checked_at: v.pipe(v.nullable(v.string()), v.description('When the last pass ended; ISO 8601, UTC.')),
  trouble: v.nullable(v.object({ state: v.picklist(HOST_BLOCKERS), reason: v.string() })),
  entries: v.array(
    v.object({
      uuid: v.pipe(Uuid, v.description('Of this difference; another one as soon as it says anything else.')),
      kind: v.picklist(DRIFT_KINDS),
      provider_uuid: Uuid,
      name: v.string(),
      deployable_uuid: v.nullable(Uuid),
      repairs: v.pipe(v.array(v.picklist(PROVIDER_CHANGES)), v.description('What a pass over the host would do.')),
      state: v.nullable(v.picklist(PROVIDER_STATES)),
      reason: v.nullable(v.string()),
      reserving: v.pipe(v.array(v.picklist(RESERVINGS)), v.description('Why units of it are reserved.')),
      consumer_uuid: v.nullable(Uuid),
      arqs: v.array(Uuid),
      ignored: v.pipe(
        v.nullable(v.object({ ...Note, until: Time })),
        v.description('By whom, why and until when it is ignored; null: it is not.'),
      ),
    }),
  ),
})
export const Healing = v.object({
  dry_run: v.boolean(),
  drift: v.pipe(v.array(HostDrift), v.description('What differed before.')),
  healed: v.pipe(
    v.array(
      v.object({
        host: v.string(),
        outcome: v.pipe(
          v.picklist(HEAL_OUTCOMES),
          v.description(
            'in_step: nothing differs any more but what is ignored; left: something else still does; busy: another control worked on the host, nothing was done.',
          ),
        ),
        left: v.pipe(v.nullable(HostDrift), v.description('What differs now, also what is ignored; null: nothing.')),
      }),
    ),
    v.description('What came of the repair, host by host; empty for a dry run.'),
  ),
  next: v.pipe(v.nullable(v.string()), v.description('The marker of the next request; null: there is no more.')),
})

export const IgnoredDrift = v.object({
  uuid: v.pipe(Uuid, v.description('Of the difference, as in GET /v2/drift.')),
  host: v.string(),
  kind: v.picklist(DRIFT_KINDS),
  provider_uuid: Uuid,
  name: v.string(),
  consumer_uuid: v.nullable(Uuid),
  state: v.nullable(v.string()),
  difference_reason: v.pipe(v.nullable(v.string()), v.description('The reason that the difference gives.')),
  by: v.string(),
  reason: v.string(),
  at: Time,
  until: Time,
  ended: v.pipe(v.nullable(v.object(Note)), v.description('An operator has ended it; null: nobody has.')),
})
