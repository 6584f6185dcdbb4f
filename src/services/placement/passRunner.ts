/**
 * Runs passes over Placement: each compares one host with it and repairs differences.
 *
 * RUNNER-1 only one pass at a time works on a host. Its beginning is recorded, with an expiry that the pass extends as
 *    it proceeds, and before each write to Placement it is read that no other pass has begun since;
 * RUNNER-2 Placement is called between appends, never within a decision: no append waits for Placement;
 * RUNNER-3 a comparison made because of time, not because of a change, first runs without recording a pass. If it finds
 *    nothing new, only the time of the next comparison is stored;
 * RUNNER-4 clocks decide only when another process may begin, and an expiry by a wrong clock keeps nobody away
 *    (TERMS-1); an operator is never kept away. Whoever takes over from a pass that has not ended has the host compared
 *    once more after the longest time that the last call of the other pass may take.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, type Refused, done } from '../../vocabulary/fault.ts'
import {
  type Finding,
  type PlacementCommand,
  type HostBlocker,
  placement,
  placementKey,
} from '../../actors/placement/decider.ts'
import type { PassOutcome, PlacementCounts } from '../../actors/placement/counts.ts'
import type { Placement } from '../../actors/placement/port.ts'
import { isUnfinished, nextPassAt } from '../../actors/placement/schedule.ts'
import type { Draft } from '../../actors/runtime/draft.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'
import { createTerms } from '../kernel/terms.ts'
import { createAgreements } from './agreements.ts'
import { createComparison } from './comparison.ts'
import { type Facts, factsOf } from './facts.ts'
import { countedPort } from './counted.ts'
import { fenced } from './fence.ts'
import { pass } from './pass.ts'
import { ofOtherHosts } from './units.ts'

/** A pass expires if it records nothing for this long, beyond the time that one call may take. */
const PASS_MS = 30_000
/** How many findings are recorded in one append. */
const FINDINGS_MAX = 20
const CAUSE = { by: 'placement' } as const
const UNREADABLE: HostBlocker = { state: 'unreachable', reason: 'what is recorded of the host cannot be read' }

const tell = async <Value>(kernel: Kernel, name: HostName, plan: (draft: Draft) => Value) =>
  kernel.region.tell(placementKey(name), newWork(kernel, CAUSE, plan))
const command = (kernel: Kernel, name: HostName, given: PlacementCommand) =>
  tell(kernel, name, (draft) => {
    draft.decide(placement, placementKey(name), given)
    return draft.state(placement, placementKey(name))
  })

const passMsOf = ({ longestCallMs }: Pick<Placement, 'longestCallMs'>): number => PASS_MS + longestCallMs
/**
 * The recorded right of this pass to work on the host, extended while the pass proceeds; collects findings that are not
 * recorded yet.
 */
const createClaim = (
  kernel: Kernel,
  name: HostName,
  number: number,
  { port, since }: { readonly port: Placement; readonly since: number },
) => {
  const { clock } = kernel
  const [callMs, passMs] = [port.longestCallMs, passMsOf(port)]
  const findings: Finding[] = []
  let changed = false
  let until = since + passMs
  const find = (): PlacementCommand => ({
    type: 'Find',
    number,
    until: clock.now() + passMs,
    findings: findings.splice(0),
  })
  const flush = async (): Promise<boolean> => {
    const asked = clock.monotonic()
    const recorded = await command(kernel, name, find())
    if (recorded.ok) until = asked + passMs
    return recorded.ok
  }
  const isCurrent = async (): Promise<boolean> => {
    const read = await kernel.region.readCurrent(placement, placementKey(name))
    return read.ok && read.value.state.pass?.number === number
  }
  return {
    find: () => (findings.length === 0 ? null : find()),
    found: async (finding: Finding) => {
      changed ||= finding.did.length > 0
      const isTakenOver = finding.deployable === null && finding.did.includes('adopted')
      return (findings.push(finding) < FINDINGS_MAX && !isTakenOver) || flush()
    },
    hasChanged: () => changed,
    mayCall: () => (clock.monotonic() < until - callMs ? isCurrent() : flush()),
  }
}
type Claim = ReturnType<typeof createClaim>
type Ended = readonly [PassOutcome, Outcome<boolean>]
const SUPERSEDED: Ended = ['superseded', done(false)]
/** A record of the pass was refused or could not be written. */
const failedBy = (refused: Refused): Ended => (refused.fault.kind === 'conflict' ? SUPERSEDED : ['failed', refused])

type Ending = {
  readonly number: number
  readonly trouble: HostBlocker | null
  readonly wanted: number
  /** The host is compared again by then; null: no earlier than otherwise. */
  readonly by: number | null
}
const end = async (kernel: Kernel, name: HostName, claim: Claim, { number, trouble, wanted, by }: Ending) => {
  const { clock, options, log } = kernel
  const found = claim.find()
  const recorded = await tell(kernel, name, (draft) => {
    const key = placementKey(name)
    if (found) draft.decide(placement, key, found)
    const record = draft.state(placement, key)
    const times = { now: clock.now(), auditEveryMs: options.placementAuditMs }
    const moments = [nextPassAt(record, { trouble, wanted }, times), by].filter((at) => at !== null)
    const nextAt = moments.length === 0 ? null : Math.min(...moments)
    const failed = trouble !== null || isUnfinished(record)
    const events = draft.decide(placement, key, { type: 'End', number, nextAt, trouble, failed })
    return events.some(({ type }) => type === 'TroubleFound')
  })
  if (recorded.ok && recorded.value) log.warn({ host: name, ...trouble }, 'placement.trouble')
  return recorded
}

/** The order of an operator. */
type Order = { readonly takesOver: boolean }
export type PassRunner = {
  /**
   * Repairs differences. Resolves with true when the pass has ended; false: another pass is running, or began
   * meanwhile. `order`: an operator asks; `takesOver`: this one begins whatever is recorded of
   * others.
   */
  readonly run: (name: HostName, order?: Order) => Promise<Outcome<boolean>>
  /**
   * Compares only. True: everything found is already recorded, and the row of due work with the moment `at` was moved
   * to the next comparison. False: a pass is needed.
   */
  readonly compare: (name: HostName, at: number) => Promise<boolean>
}

const noteFound = (
  log: Kernel['log'],
  { changes }: PlacementCounts,
  host: HostName,
  { did, uuid: provider, state, reason, reserving }: Finding,
): void => {
  for (const change of did) changes[change]++
  if (did.length > 0) log.info({ host, provider, did, state, reason, reserving }, 'placement.changed')
  if (state === 'placement_conflict') log.warn({ host, provider, reason }, 'placement.conflict')
}

const countPass = (counts: PlacementCounts, outcome: PassOutcome, ms: number): void => {
  counts.passes[outcome]++
  counts.passMs += ms
}

/** Begins passes: the number of the one that has begun, and whether another one had not ended. */
const createBeginning = (kernel: Kernel, port: Placement) => {
  const { journal, clock, region } = kernel
  const [terms, passMs] = [createTerms(clock), passMsOf(port)]
  const begin = (name: HostName, { alone, ordered }: { readonly alone: boolean; readonly ordered: boolean }) =>
    tell(kernel, name, (draft) => {
      const key = placementKey(name)
      const isTaken = draft.state(placement, key).pass !== null && !journal.exclusive
      const at = clock.now()
      draft.decide(placement, key, { type: 'Begin', host: name, at, until: at + passMs, alone, ordered })
      return { number: draft.state(placement, key).pass!.number, isTaken }
    })
  /** Whether the recorded pass has expired although its expiry lies ahead, because a wrong clock recorded it. */
  const hasExpired = async (name: HostName): Promise<boolean> => {
    const known = await region.readCurrent(placement, placementKey(name))
    const held = known.ok ? known.value.state.pass : null
    return held !== null && terms.hasPassed(`${name} ${held.number}`, held.until - passMs, passMs)
  }
  return async (name: HostName, order?: Order) => {
    const ordered = order !== undefined
    const begun = await begin(name, { alone: journal.exclusive || order?.takesOver === true, ordered })
    const isKeptAway = !begun.ok && begun.fault.kind === 'conflict'
    return isKeptAway && (await hasExpired(name)) ? begin(name, { alone: true, ordered }) : begun
  }
}

export const createPassRunner = (kernel: Kernel, port: Placement, counts: PlacementCounts): PassRunner => {
  const { clock, log } = kernel
  const [begin, asked] = [createBeginning(kernel, port), countedPort(port, counts)]
  const [agreements, names] = [createAgreements(), new Set<string>()]

  const passOver = (name: HostName, number: number, claim: Claim, { task, record }: Facts) =>
    pass(
      {
        placement: fenced(asked, claim.mayCall),
        clock,
        names,
        found: (finding) => (noteFound(log, counts, name, finding), claim.found(finding)),
        rooted: async ({ uuid }) =>
          uuid === record.root || (await command(kernel, name, { type: 'FindRoot', number, root: uuid })).ok,
        ofOthers: ofOtherHosts(kernel, name),
        isUnchanged: agreements.holds,
        agreed: agreements.note,
        ordered: record.pass?.ordered === true,
      },
      task,
    )

  /** The outcome of the pass, and the answer to the caller. */
  const run = async (name: HostName, order?: Order): Promise<Ended> => {
    const since = clock.monotonic()
    const begun = await begin(name, order)
    if (!begun.ok) return failedBy(begun)
    if (begun.value === null) return SUPERSEDED
    const { number, isTaken } = begun.value
    const claim = createClaim(kernel, name, number, { port, since })
    const facts = await factsOf(kernel, name)
    const by = isTaken ? clock.now() + port.longestCallMs : null
    if (!facts.ok) {
      await end(kernel, name, claim, { number, trouble: UNREADABLE, wanted: 0, by })
      return ['failed', facts]
    }
    const passed = await passOver(name, number, claim, facts.value)
    if (passed === 'superseded') return SUPERSEDED
    const trouble = passed === 'done' ? null : passed
    const { record, task } = facts.value
    const ended = await end(kernel, name, claim, { number, trouble, wanted: task.wanted.length, by })
    if (!ended.ok) return failedBy(ended)
    if (record.trouble?.state === 'unreachable' && trouble?.state !== 'unreachable') counts.recovered++
    return [trouble?.state ?? (claim.hasChanged() ? 'changed' : 'unchanged'), done(true)]
  }
  return {
    run: async (name, order) => {
      const since = clock.monotonic()
      const [outcome, ended] = await run(name, order)
      countPass(counts, outcome, clock.monotonic() - since)
      return ended
    },
    compare: async (name, at) => {
      const since = clock.monotonic()
      const outcome = await createComparison(kernel, asked, agreements)(name, at)
      if (outcome !== null) countPass(counts, outcome, clock.monotonic() - since)
      return outcome !== null
    },
  }
}
