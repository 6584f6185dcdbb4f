/**
 * The number of accelerators of each kind, and how many can be granted. This path is an extension that clients of the
 * original API do not use.
 */
import * as v from 'valibot'
import { type CapacityLine, CAPACITY_STATES } from '../../actors/capacity/tally.ts'
import { time } from '../render.ts'
import { text } from '../query.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'

const amount = v.entriesFromList(['total', ...CAPACITY_STATES], v.number())
export const Capacity = v.object({
  counted_at: schemas.Time,
  capacity: v.pipe(
    v.array(
      v.object({
        resource_class: v.string(),
        traits: v.array(v.string()),
        ...amount,
        hosts: v.array(v.object({ host: v.string(), ...amount })),
      }),
    ),
    v.description(
      'Attach handles by resource class and traits, and of each host. held: a request has it, or its host is releasing it; free: it can be granted; withheld: in quarantine, or its device is disabled, or its host does not answer or is out of service; broken: its host does not report it, or its device fails.',
    ),
  ),
})

const lineBody = ({ resourceClass, traits, amount: all, hosts }: CapacityLine) => ({
  resource_class: resourceClass,
  traits,
  ...all,
  hosts: hosts.map(({ host, amount: here }) => ({ host, ...here })),
})

const capacity = route({
  method: 'GET',
  path: '/v2/capacity',
  rule: 'cyborg:device:get_all',
  share: 'capacity',
  query: {
    resource_class: text('Only accelerators of this resource class.'),
    trait: text('Only accelerators with this trait.'),
  },
  docs: {
    summary:
      'How many accelerators of each kind there are, held, free, withheld and broken. Counted at most once in five seconds.',
    answers: { 200: Capacity },
  },
  handle: ({ control, query: { resource_class: wanted, trait } }) =>
    answer(control.capacity(), 200, ({ countedAt, lines }) => ({
      counted_at: time(countedAt),
      capacity: lines
        .filter(
          ({ resourceClass, traits }) => (!wanted || resourceClass === wanted) && (!trait || traits.includes(trait)),
        )
        .map(lineBody),
    })),
})

export const capacityRoutes: readonly Route[] = [capacity]
