/** The schemas of the overview that operators look at first. */
import * as v from 'valibot'
import { CARDS_SHOWN, DELIVERY_STATES, type Found, LATE_MAX } from '../actors/answers/tallied.ts'
import { DEVICE_STATES } from '../actors/device/standing.ts'
import * as schemas from './schemas.ts'

export const FOUND_AS = {
  views_differing: 'viewsDiffer',
  orphan_handles: 'orphans',
  slot_differences: 'slotDifferences',
  reports_refused: 'refusedReports',
  dead_letters: 'deadLetters',
} as const satisfies Readonly<Record<string, Found>>
const FOUND_NAMES = Object.keys(FOUND_AS) as (keyof typeof FOUND_AS)[]

const Counts = v.record(v.string(), v.number())
const Waiting = v.object({ waiting: v.number(), oldest_at: v.nullable(schemas.Time) })
const Faulty = v.object({
  devices: v.number(),
  arqs: v.number(),
  instances: v.number(),
  since: v.nullable(schemas.Time),
  cards: v.pipe(
    v.array(v.object({ device_uuid: schemas.Uuid, hostname: v.string(), pci_address: v.nullable(v.string()) })),
    v.maxLength(CARDS_SHOWN),
  ),
})
export const Overview = v.object({
  counted_at: schemas.Time,
  arqs: v.pipe(Counts, v.description('By state. A state of which there is none is left out, here and below.')),
  handles: v.pipe(Counts, v.description('By state.')),
  hosts: v.pipe(Counts, v.description('By liveness.')),
  devices: v.pipe(Counts, v.description('By status.')),
  device_states: v.pipe(
    Counts,
    v.description(`By the worst of what is known of each: ${DEVICE_STATES.map((state) => `\`${state}\``).join(', ')}.`),
  ),
  vanished: v.pipe(
    Faulty,
    v.description(
      'The devices that are `missing`: how many requests and how many instances hold a part of one, since when the first of them is missing, and where some of them were, first those in use.',
    ),
  ),
  failing: v.pipe(Faulty, v.description('The same of the devices that are `failing`.')),
  orders: v.pipe(Waiting, v.description('Orders that their hosts have not answered yet; when the oldest was sent.')),
  deliveries: v.pipe(
    v.object({ ...Waiting.entries, undelivered: v.number() }),
    v.description(
      'Instances whose events Nova has not taken yet; the first next try; instances of which Nova is told no more although it has not taken an event.',
    ),
  ),
  failing_devices: v.pipe(v.number(), v.description('Devices that count as bad, and are not offered.')),
  placement: v.pipe(
    Counts,
    v.description('Hosts by the worst that is recorded of them in Placement; empty where no Placement is used.'),
  ),
  binds: v.pipe(
    v.object({ late: v.number(), next_deadline_at: v.nullable(schemas.Time) }),
    v.description(
      `Binds of which more than half of the time is over, counted up to ${LATE_MAX}, and the first of their deadlines.`,
    ),
  ),
  overdue_since: v.pipe(
    v.nullable(schemas.Time),
    v.description('The oldest recorded moment that has passed and was not attended to.'),
  ),
  journal: v.pipe(
    v.object({
      newest_at: v.nullable(schemas.Time),
      untold_since: v.nullable(schemas.Time),
      writing_stopped: v.boolean(),
    }),
    v.description(
      'When the last row was written; since when a row waits to be published on the bus; whether writing is stopped because rows were lost.',
    ),
  ),
  found: v.pipe(
    v.object(v.entriesFromList(FOUND_NAMES, v.object({ count: v.number(), last_at: v.nullable(schemas.Time) }))),
    v.description(
      'What must not happen: how often this process has found it since its start, and when last. `dead_letters`: how many nobody has handled, and when the newest of them was stored. Until this process has read the topic, only the letters that it has stored itself count, and only until a day after the last of them.',
    ),
  ),
  views_checked: v.pipe(
    v.number(),
    v.description('Entities whose view rows this process has compared with their journal.'),
  ),
  program: v.pipe(
    schemas.StringMap,
    v.description(
      'The version, the store, and how each neighbour does: `absent`, `in use`, or why it does not answer.',
    ),
  ),
})
export const Permissions = v.object({
  user_id: v.string(),
  user_name: v.nullable(v.string()),
  project_id: v.string(),
  project_name: v.nullable(v.string()),
  permissions: v.pipe(v.record(v.string(), v.boolean()), v.description('By the name of the policy rule.')),
})
export const Delivery = v.object({
  state: v.pipe(
    v.picklist(DELIVERY_STATES),
    v.description('`waiting`: Nova is told again. `undelivered`: it is told no more, unless an operator asks for it.'),
  ),
  instance_uuid: schemas.Uuid,
  hostname: v.string(),
  request_id: v.string(),
  statuses: v.pipe(v.record(v.string(), v.picklist(['completed', 'failed'])), v.description('By accelerator request.')),
  attempts: v.number(),
  next_at: v.pipe(v.nullable(schemas.Time), v.description('The next try; null: there is none.')),
  until: v.pipe(
    v.nullable(schemas.Time),
    v.description('When delivery ends, or ended; null: Nova has taken the events meanwhile.'),
  ),
  answers: v.pipe(
    schemas.StringMap,
    v.description('What Nova answered last about the instance, by accelerator request; of `undelivered` events.'),
  ),
})
