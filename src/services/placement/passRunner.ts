/**
 * Runs passes over Placement: each compares one host with it and repairs differences.
 *
 * RUNNER-1 only one pass at a time works on a host: its beginning is recorded with an expiry that the pass extends as
 *    it proceeds, and the pass writes nothing to Placement when that expiry may have been reached;
 * RUNNER-2 Placement is called between appends, never within a decision: no append waits for Placement;
 * RUNNER-3 a comparison made because of time, not because of a change, first runs without recording a pass. If it finds
 *    nothing new, only the time of the next comparison is stored.
 */
import type { HostName } from '../../identifiers.ts'
import { type Outcome, type Refused, done } from '../../fault.ts'
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
const createClaim = (kernel: Kernel, name: HostName, number: number, port: Placement) => {
  const { clock } = kernel
  const [callMs, passMs] = [port.longestCallMs, passMsOf(port)]
  const findings: Finding[] = []
  let changed = false
  let until = clock.monotonic() + passMs
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
  return {
    find: () => (findings.length === 0 ? null : find()),
    found: async (finding: Finding) => {
      changed ||= finding.did.length > 0
      return findings.push(finding) < FINDINGS_MAX || flush()
    },
    hasChanged: () => changed,
    mayCall: async () => clock.monotonic() < until - callMs || flush(),
  }
}
type Claim = ReturnType<typeof createClaim>
type Ended = readonly [PassOutcome, Outcome<boolean>]
const SUPERSEDED: Ended = ['superseded', done(false)]
/** A record of the pass was refused or could not be written. */
const failedBy = (refused: Refused): Ended => (refused.fault.kind === 'conflict' ? SUPERSEDED : ['failed', refused])

type Ending = { readonly number: number; readonly trouble: HostBlocker | null; readonly wanted: number }
const end = async (kernel: Kernel, name: HostName, claim: Claim, { number, trouble, wanted }: Ending) => {
  const { clock, options, log } = kernel
  const found = claim.find()
  const recorded = await tell(kernel, name, (draft) => {
    const key = placementKey(name)
    if (found) draft.decide(placement, key, found)
    const record = draft.state(placement, key)
    const nextAt = nextPassAt(record, { trouble, wanted }, { now: clock.now(), auditEveryMs: options.placementAuditMs })
    const failed = trouble !== null || isUnfinished(record)
    const events = draft.decide(placement, key, { type: 'End', number, nextAt, trouble, failed })
    return events.some(({ type }) => type === 'TroubleFound')
  })
  if (recorded.ok && recorded.value) log.warn({ host: name, ...trouble }, 'placement.trouble')
  return recorded
}

export type PassRunner = {
  /**
   * Repairs differences. Resolves with true when the pass has ended; false: another pass is running, or began
   * meanwhile.
   */
  readonly run: (name: HostName) => Promise<Outcome<boolean>>
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

const beginOf = ({ journal, port }: { journal: Kernel['journal']; port: Placement }, host: HostName, at: number) =>
  ({ type: 'Begin', host, at, until: at + passMsOf(port), alone: journal.exclusive }) as const

export const createPassRunner = (kernel: Kernel, port: Placement, counts: PlacementCounts): PassRunner => {
  const { journal, clock, log } = kernel
  const asked = countedPort(port, counts)
  const [agreements, names] = [createAgreements(), new Set<string>()]
  const compare = createComparison(kernel, asked, agreements)

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
      },
      task,
    )

  /** The outcome of the pass, and the answer to the caller. */
  const run = async (name: HostName): Promise<Ended> => {
    const begun = await command(kernel, name, beginOf({ journal, port }, name, clock.now()))
    if (!begun.ok) return failedBy(begun)
    const number = begun.value?.pass?.number
    if (number === undefined) return SUPERSEDED
    const claim = createClaim(kernel, name, number, port)
    const facts = await factsOf(kernel, name)
    if (!facts.ok) {
      await end(kernel, name, claim, { number, trouble: UNREADABLE, wanted: 0 })
      return ['failed', facts]
    }
    const passed = await passOver(name, number, claim, facts.value)
    if (passed === 'superseded') return SUPERSEDED
    const trouble = passed === 'done' ? null : passed
    const { record, task } = facts.value
    const ended = await end(kernel, name, claim, { number, trouble, wanted: task.wanted.length })
    if (!ended.ok) return failedBy(ended)
    if (record.trouble?.state === 'unreachable' && trouble?.state !== 'unreachable') counts.recovered++
    return [trouble?.state ?? (claim.hasChanged() ? 'changed' : 'unchanged'), done(true)]
  }
  const count = (outcome: PassOutcome, since: number) => countPass(counts, outcome, clock.monotonic() - since)
  return {
    run: async (name) => {
      const since = clock.monotonic()
      const [outcome, ended] = await run(name)
      count(outcome, since)
      return ended
    },
    compare: async (name, at) => {
      const since = clock.monotonic()
      const outcome = await compare(name, at)
      if (outcome !== null) count(outcome, since)
      return outcome !== null
    },
  }
}
