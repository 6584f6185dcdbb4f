/** The actions on the drift of a host. The API says in its answer what came of the repair. */
import { type Action, type Ending, REASON, type Stand } from './action.ts'
import { at, documentAs } from './api.ts'
import { type Drift, Healed, type HealedOutcome, type IgnoredDrift } from './shapes.ts'
import { type Loaded, loaded, mapped } from './loaded.ts'
import { differenceIn } from './view/differenceId.ts'
import { DRIFT_KINDS } from './view/states.ts'
import { shell } from './view/words.ts'

/**
 * The API compares the host anew before it repairs or ignores anything. A repair also waits 20 s for other controls,
 * and compares once more afterwards.
 */
const COMPARE_MS = 60_000

/** What may come of a repair, by the outcome that the API names. */
const ENDINGS = {
  in_step: { name: 'in_step', tone: 'good', text: 'Repaired: nothing of the host differs now.', place: () => 'drift' },
  left: {
    name: 'left',
    tone: 'bad',
    text: 'Not everything is repaired: the host was compared again, and what is left is shown here.',
    place: (id) => at`drift?host=${id}`,
  },
  busy: {
    name: 'busy',
    tone: 'busy',
    text: 'Nothing was repaired: another control works on this host. Try again in a moment.',
  },
} as const satisfies Readonly<Record<HealedOutcome, Ending>>

export const REPAIR: Action = {
  kind: 'drift',
  name: 'repair',
  label: 'Repair',
  rule: 'cyborg:drift:heal',
  method: 'POST',
  limitMs: COMPARE_MS,
  sentence: 'Placement is made to show what is recorded here. What is recorded, and what runs, stays as it is.',
  path: (id) => at`/drift/heal?host=${id}&dry_run=false`,
  command: (id) => shell`accelerando drift heal --host ${[id]} --apply`,
  endedAs: (answer) => mapped(documentAs(Healed, answer), ({ healed: [{ outcome }] }) => ENDINGS[outcome]),
  endings: Object.values(ENDINGS),
  states: ['differs'],
  otherwise: 'nothing of it can be repaired here',
}

const HOST_MAX = 255
const UUID_MAX = 36
const DAY_MAX = 10
export const IGNORE: Action = {
  kind: 'differences',
  name: 'ignore',
  label: 'Ignore',
  rule: 'cyborg:drift:ignore',
  fields: [
    { name: 'host', title: '', kind: 'hidden', max: HOST_MAX },
    { name: 'difference', title: '', kind: 'hidden', max: UUID_MAX },
    {
      name: 'until',
      title: 'Until',
      hint: 'the beginning of this day in UTC, at most 90 days ahead',
      kind: 'date',
      max: DAY_MAX,
    },
    REASON,
  ],
  method: 'POST',
  limitMs: COMPARE_MS,
  sentence:
    'It is listed as ignored, and not counted. Nothing else changes. It is back at that day, or as soon as it says anything else.',
  path: () => '/drift/ignored',
  body: ({ host = '', difference = '', until = '', reason = '' }) => loaded({ host, difference, until, reason }),
  command: (id) => {
    const { uuid, host } = differenceIn(id)
    return shell`accelerando drift ignore ${uuid} --host ${[host]} --until DAY --reason TEXT`
  },
  states: ['differs', 'ignored'],
  otherwise: 'it is not there any more, or a pass over its host repairs it',
  reasons: { uncompared: 'its host cannot be compared now, so nobody knows whether it is still there' },
}
export const UNIGNORE: Action = {
  kind: 'ignored',
  name: 'unignore',
  label: 'Ignore no longer',
  rule: 'cyborg:drift:ignore',
  fields: [REASON],
  method: 'POST',
  sentence: 'It is counted again from now on, if it is still there.',
  path: (id) => at`/drift/ignored/${id}/end`,
  command: (id) => shell`accelerando drift unignore ${id} --reason TEXT`,
  states: ['ignored'],
  otherwise: 'it is not ignored',
}

const factsOf = (
  host: string,
  {
    kind,
    name,
    reason,
    consumer,
  }: { readonly [F in 'kind' | 'name']: string } & { readonly [F in 'reason' | 'consumer']: string | null },
) =>
  [
    ['Host', host],
    ['What differs', DRIFT_KINDS[kind] ?? kind],
    ['Provider', name],
    ...(reason === null ? [] : [['Reason', reason] as const]),
    ...(consumer === null ? [] : [['Instance', consumer] as const]),
  ] as const
const uncompared = (why: string): Stand => ({ state: 'uncompared', known: {}, facts: [['Not compared', why]] })
/** A difference that is not found is not there any more, unless its host could not be compared. */
export const differenceStand = (id: string, read: Loaded<Drift>): Stand => {
  const { uuid, host } = differenceIn(id)
  if (!read.ok) return uncompared(read.error.text)
  const { drift } = read.value
  const entry = drift.flatMap(({ entries }) => entries).find((one) => one.uuid === uuid)
  const trouble = drift.find((one) => one.trouble !== null)?.trouble ?? null
  if (entry === undefined && trouble !== null)
    return uncompared([trouble.state, trouble.reason].filter((text) => text !== null).join(': '))
  if (entry === undefined) return { state: 'gone', known: {} }
  const state = entry.repairs.length > 0 ? 'repaired' : entry.ignored === null ? 'differs' : 'ignored'
  const [until = ''] = entry.ignored?.until.split('T') ?? []
  const known = { host, difference: uuid, until, reason: entry.ignored?.reason ?? '' }
  return { state, known, facts: factsOf(host, { ...entry, consumer: entry.consumer_uuid }) }
}
export const ignoredStand = (row: IgnoredDrift): Stand => ({
  state: row.ended === null ? 'ignored' : 'ended',
  known: {},
  facts: [
    ...factsOf(row.host, { ...row, reason: row.difference_reason, consumer: row.consumer_uuid }),
    ['Ignored', `until ${row.until} by ${row.by}: ${row.reason}`],
  ],
})
