/** Differences that an operator decides to ignore until a moment, and the list of those decisions. */
import { DAY_MS } from '../../vocabulary/clock.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Caller, Control, IgnoredRow } from '../../actors/control.ts'
import type { DriftEntry, HostDrift, IgnoreWish } from '../../actors/answers/drift.ts'
import { placement, placementKey } from '../../actors/placement/decider.ts'
import {
  type Difference,
  IGNORED_DAYS_MAX,
  type IgnoredCommand,
  LATE_MS,
  isOver,
} from '../../actors/placement/ignored.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, causeOf, commandOf, hasRecorded } from '../kernel/kernel.ts'

const RETRY_AFTER_SECONDS = 30

type Compared = (host: HostName, nova: boolean) => Promise<Outcome<HostDrift | null>>
type Ignoring = Pick<Control['drift'], 'ignored' | 'ignoredOne' | 'ignore' | 'unignore'>

const missing = (resource: string, id: string) => refuse({ kind: 'not_found', resource, id })
const untilProblem = (until: number, now: number): string | null => {
  if (until <= now) return 'The end, until, must be in the future.'
  return until > now + IGNORED_DAYS_MAX * DAY_MS + LATE_MS
    ? `The end, until, must be within ${IGNORED_DAYS_MAX} days.`
    : null
}
const seen = ({ uuid, kind, provider, name, consumer, state, reason }: DriftEntry) => {
  const difference: Difference = { kind, provider, name, consumer, state, reason }
  return { uuid, difference }
}

/**
 * The difference as it is now. Nova is asked only if nothing else shows it, because each server costs a request.
 * `conflict`: Nova cannot be asked, so the difference is not one of those that only Nova shows. A host that could not
 * be compared may still show it.
 */
const findNow = async (compared: Compared, { host, difference }: IgnoreWish): Promise<Outcome<DriftEntry | null>> => {
  const entryIn = (drift: HostDrift | null) => drift?.entries.find(({ uuid }) => uuid === difference) ?? null
  const plain = await compared(host, false)
  if (!plain.ok) return plain
  const entry = entryIn(plain.value)
  if (entry !== null) return done(entry)
  const withNova = await compared(host, true)
  if (!withNova.ok && withNova.fault.kind !== 'conflict') return withNova
  const last = withNova.ok ? withNova.value : plain.value
  const shown = entryIn(last)
  const trouble = last?.trouble ?? null
  if (shown !== null || trouble === null) return done(shown)
  const reason = `host ${host} cannot be compared now: ${trouble.state}: ${trouble.reason}`
  return refuse({ kind: 'unavailable', reason, retryAfterSeconds: RETRY_AFTER_SECONDS })
}

const isRepaired = (host: HostName) =>
  refuse({
    kind: 'conflict',
    reason: `a pass over host ${host} repairs this difference, so there is nothing to ignore`,
  })

export const createIgnored = (kernel: Kernel, compared: Compared): Ignoring => {
  const { readers, region, clock } = kernel
  const one = async (uuid: string): Promise<Outcome<IgnoredRow>> => {
    const found = await readers.first('ignored_drift', { uuid })
    if (!found.ok) return found
    return found.value === null ? missing('ignored difference', uuid) : done(found.value)
  }
  const record = (caller: Caller, host: HostName, command: IgnoredCommand) =>
    transact(kernel, {
      subject: `what is ignored of host ${host}`,
      cause: causeOf(caller),
      ...commandOf(caller),
      guess: async () => done({ keys: [placementKey(host)] }),
      plan: (draft) => void draft.decide(placement, placementKey(host), command),
    })
  const isRepeated = async (caller: Caller, host: HostName): Promise<Outcome<boolean>> =>
    hasRecorded(await region.readCurrent(placement, placementKey(host)), caller)
  return {
    ignored: (host, page) => {
      const now = clock.now()
      const where = host === null ? {} : { hostname: host }
      return readers.list(
        'ignored_drift',
        where,
        page,
        {},
        ({ until_at: until, ended }) => ended === null && !isOver(until, now),
      )
    },
    ignoredOne: one,
    ignore: async (caller, wish, note) => {
      const { host, difference, until } = wish
      const repeated = await isRepeated(caller, host)
      if (!repeated.ok) return repeated
      if (repeated.value) return one(difference)
      const problem = untilProblem(until, clock.now())
      if (problem !== null) return refuse({ kind: 'conflict', reason: problem })
      const found = await findNow(compared, wish)
      if (!found.ok) return found
      if (found.value === null) return missing(`difference of host ${host}`, difference)
      if (found.value.repairs.length > 0) return isRepaired(host)
      const recorded = await record(caller, host, {
        type: 'Ignore',
        host,
        at: clock.now(),
        ...seen(found.value),
        until,
        ...note,
      })
      return recorded.ok ? one(difference) : recorded
    },
    unignore: async (caller, uuid, note) => {
      const known = await one(uuid)
      if (!known.ok) return known
      const recorded = await record(caller, known.value.hostname, { type: 'Unignore', uuid, ...note })
      return recorded.ok ? one(uuid) : recorded
    },
  }
}
