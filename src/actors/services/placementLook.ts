/**
 * Looks at one host in Placement and repairs what differs.
 *
 * LOOK-1 one pass at a time works on a host: it is recorded at its beginning with an end that it moves on as it proceeds, and nothing is
 *    written to Placement when that may be over;
 * LOOK-2 Placement is called between appends, never within a decision: nothing that is recorded waits for Placement.
 */
import type { HostName } from '../../identifiers.ts'
import { type Outcome, done } from '../../fault.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { type Finding, type PlacementCommand, type Trouble, placement, placementKey } from '../placement/decider.ts'
import type { Placement, Provider } from '../placement/port.ts'
import { isUnfinished, nextPassAt } from '../placement/schedule.ts'
import type { Wanted } from '../placement/wanted.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Kernel, newWork } from './kernel.ts'
import { type Facts, factsOf } from './placementFacts.ts'
import { fenced } from './placementFence.ts'
import { pass } from './placementPass.ts'

/** A pass may last that long without recording anything. */
const PASS_MS = 60_000
/** The longest time between the check of its end and the moment at which a call that was checked is carried out. */
const CALL_MS = 20_000
/** Findings are recorded together, so many at once. */
const FINDINGS_MAX = 20
/** Every so many passes each provider is read, also those that do not seem to have changed. */
const WHOLE_EVERY = 6
const AGREED_MAX = 100_000
const CAUSE = { by: 'placement' } as const
const UNREADABLE: Trouble = { state: 'unreachable', reason: 'what is recorded of the host cannot be read' }

/** Which providers agreed with what was wanted when they had that generation. */
const createAgreements = () => {
  const agreed = new Map<string, string>()
  const mark = (wanted: Wanted, { generation }: Provider) => `${generation} ${canonicalJson(wanted)}`
  return {
    holds: (wanted: Wanted, provider: Provider): boolean => agreed.get(wanted.uuid) === mark(wanted, provider),
    note: (wanted: Wanted, provider: Provider): void => {
      if (agreed.size >= AGREED_MAX) agreed.clear()
      agreed.set(wanted.uuid, mark(wanted, provider))
    },
  }
}

const tell = async <Value>(kernel: Kernel, name: HostName, plan: (draft: Draft) => Value) =>
  kernel.region.tell(placementKey(name), newWork(kernel, CAUSE, plan))
const command = (kernel: Kernel, name: HostName, given: PlacementCommand) =>
  tell(kernel, name, (draft) => {
    draft.decide(placement, placementKey(name), given)
    return draft.state(placement, placementKey(name))
  })

/** The recorded right to work on this host, kept up while the pass proceeds; with what was found out and is not recorded yet. */
const createClaim = (kernel: Kernel, name: HostName, number: number) => {
  const { clock } = kernel
  const findings: Finding[] = []
  let until = clock.monotonic() + PASS_MS
  const find = (): PlacementCommand => ({
    type: 'Find',
    number,
    until: clock.now() + PASS_MS,
    findings: findings.splice(0),
  })
  const flush = async (): Promise<boolean> => {
    const asked = clock.monotonic()
    const told = await command(kernel, name, find())
    if (told.ok) until = asked + PASS_MS
    return told.ok
  }
  return {
    find: () => (findings.length === 0 ? null : find()),
    found: async (finding: Finding) => findings.push(finding) < FINDINGS_MAX || flush(),
    mayCall: async () => clock.monotonic() < until - CALL_MS || flush(),
  }
}
type Claim = ReturnType<typeof createClaim>

type Ending = { readonly number: number; readonly trouble: Trouble | null; readonly wanted: number }
const end = async (kernel: Kernel, name: HostName, claim: Claim, { number, trouble, wanted }: Ending) => {
  const { clock, options, log } = kernel
  const found = claim.find()
  const told = await tell(kernel, name, (draft) => {
    const key = placementKey(name)
    if (found) draft.decide(placement, key, found)
    const record = draft.state(placement, key)
    const nextAt = nextPassAt(record, { trouble, wanted }, { now: clock.now(), auditEveryMs: options.placementAuditMs })
    const failed = trouble !== null || isUnfinished(record)
    const events = draft.decide(placement, key, { type: 'End', number, nextAt, trouble, failed })
    return events.some(({ type }) => type === 'TroubleFound')
  })
  if (told.ok && told.value) log.warn({ host: name, ...trouble }, 'placement.trouble')
  return told
}

/** Resolves when the pass has ended; false: another one is under way, or has begun meanwhile. */
export type Look = (name: HostName) => Promise<Outcome<boolean>>

export const createLook = (kernel: Kernel, port: Placement): Look => {
  const { journal, clock, log } = kernel
  const agreements = createAgreements()
  const names = new Set<string>()

  const note = (name: HostName, { did, uuid, state, reason }: Finding) => {
    if (did.length > 0) log.info({ host: name, provider: uuid, did, state, reason }, 'placement.changed')
    if (state === 'placement_conflict') log.warn({ host: name, provider: uuid, reason }, 'placement.conflict')
  }
  const run = (name: HostName, number: number, claim: Claim, { task, record }: Facts) =>
    pass(
      {
        placement: fenced(port, claim.mayCall),
        clock,
        names,
        found: (finding) => {
          note(name, finding)
          return claim.found(finding)
        },
        rooted: async ({ uuid }) =>
          uuid === record.root || (await command(kernel, name, { type: 'FindRoot', number, root: uuid })).ok,
        isUnchanged: (wanted, provider) => record.passes % WHOLE_EVERY !== 0 && agreements.holds(wanted, provider),
        agreed: agreements.note,
      },
      task,
    )

  return async (name) => {
    const at = clock.now()
    const alone = journal.exclusive
    const begun = await command(kernel, name, { type: 'Begin', host: name, at, until: at + PASS_MS, alone })
    if (!begun.ok) return begun.fault.kind === 'conflict' ? done(false) : begun
    const number = begun.value?.pass?.number
    if (number === undefined) return done(false)
    const claim = createClaim(kernel, name, number)
    const facts = await factsOf(kernel, name)
    if (!facts.ok) {
      await end(kernel, name, claim, { number, trouble: UNREADABLE, wanted: 0 })
      return facts
    }
    const passed = await run(name, number, claim, facts.value)
    if (passed === 'superseded') return done(false)
    const trouble = passed === 'done' ? null : passed
    const ended = await end(kernel, name, claim, { number, trouble, wanted: facts.value.task.wanted.length })
    return ended.ok || ended.fault.kind === 'conflict' ? done(ended.ok) : ended
  }
}
