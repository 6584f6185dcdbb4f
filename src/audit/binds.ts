/** Invariants of binds: their start, their end and their notification to Nova. */
import type { ArqUuid, InstanceUuid } from '../vocabulary/identifiers.ts'
import { idOf, kindOf } from '../actors/runtime/memory.ts'
import { type Arq, arq, arqKey } from '../actors/arq/decider.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import { instanceKey } from '../actors/instance/decider.ts'
import type { Records, JournalCount } from './evidence.ts'
import { type Invariant, type Step, arqsIn, at, inView, instancesIn } from './history.ts'

const SLACK_MS = 30_000
const NOVA_WAITS_MS = 300_000

/** The time between two moments, without the pauses in it. */
const usableMs = ({ pauses = [] }: Records, from: number, to: number): number => {
  const inside = pauses.map((pause) => ({ from: Math.max(from, pause.from), to: Math.min(to, pause.to) }))
  let [lost, until] = [0, from]
  for (const pause of inside.toSorted((a, b) => a.from - b.from)) {
    lost += Math.max(0, pause.to - Math.max(until, pause.from))
    until = Math.max(until, pause.to)
  }
  return to - from - lost
}

/** An append follows its decision within this time; the clock of its control is off by less. */
const APPENDED_MS = 5000
/**
 * The time that a bind has from its acceptance. If a clock jumps between the decision and its append, the deadline may
 * be over from the start: it was counted from before the jump, and the controls, which notice the jump, wait for the
 * rest of the time all the same.
 */
const termMs = (
  { pauses = [] }: Records,
  { from, deadline }: { readonly from: number; readonly deadline: number },
): number => {
  if (deadline >= from) return deadline - from
  const jumps = pauses.filter(({ to }) => Math.abs(from - to) < APPENDED_MS).map((jump) => jump.to - jump.from)
  return Math.max(0, deadline - from + Math.max(0, ...jumps))
}

const usable: Invariant = {
  name: 'S9',
  meaning: 'no bind starts on a device that is disabled, missing, retired, failing or being programmed',
  judge: () => {
    return {
      *step(step, _, before) {
        for (const { key, after, before: was } of arqsIn(step)) {
          if (was.bond || !after.bond) continue
          const target = before.deployable(after.bond.deployable)
          const card = before.device(target.deviceUuid)
          const root = target.tree ? before.deployable(target.tree.rootUuid) : target
          const why = [
            target.status,
            target.presence,
            card.status,
            card.presence,
            target.failing === undefined && card.failing === undefined ? '' : 'failing',
            target.program || root.program ? 'being programmed' : '',
          ].filter((word) => word !== '' && word !== 'enabled' && word !== 'present')
          if (why.length > 0)
            yield at(
              step.rowCount,
              [key, deployableKey(after.bond.deployable)],
              `${key} was bound to ${target.name}, which is ${why.join(', ')}`,
            )
        }
      },
    }
  },
}

const watched: Invariant = {
  name: 'I5',
  meaning: 'an ARQ that is being bound takes part in an open conversation, which has a recorded deadline',
  judge: ({ views }) => {
    const binding = new Map<string, Set<string>>()
    const leave = (uuid: InstanceUuid, arq: ArqUuid): void => {
      const waiting = binding.get(uuid)
      waiting?.delete(arq)
      if (waiting?.size === 0) binding.delete(uuid)
    }
    return {
      *step(step, world) {
        const touched = new Set(instancesIn(step).map(({ key }) => idOf(key)))
        for (const { key, after, before } of arqsIn(step)) {
          if (before.bond) leave(before.bond.instanceUuid, idOf(key))
          if (after.status !== 'BindStarted' || !after.bond) continue
          const { instanceUuid } = after.bond
          binding.set(instanceUuid, (binding.get(instanceUuid) ?? new Set()).add(idOf(key)))
          touched.add(instanceUuid)
        }
        for (const uuid of touched) {
          const { open, arqs } = world.instance(uuid)
          const lost = [...(binding.get(uuid) ?? [])].find((arq) => !open || !arqs[arq])
          if (lost)
            yield at(
              step.rowCount,
              [arqKey(lost), instanceKey(uuid)],
              `ARQ ${lost} is BindStarted, and nobody of instance ${uuid} waits for it`,
            )
        }
      },
      *end() {
        if (!views?.due) return
        const due = new Set(Array.from(views.due, ({ entity }) => entity))
        for (const uuid of binding.keys())
          if (!due.has(`instance/${uuid}`))
            yield inView('due', instanceKey(uuid), `instance ${uuid} is being bound and has no deadline`, [
              instanceKey(uuid),
            ])
      },
    }
  },
}

type Bind = {
  readonly instance: InstanceUuid
  readonly rowCount: JournalCount
  readonly from: number
  readonly deadline: number
  endedAt: number | null
}
/** The binds that are open or that ended in a wrong way, in the order of their acceptance. */
const openBinds = (isFine: (bind: Bind) => boolean) => {
  const binds = new Set<Bind>()
  const open = new Map<string, Bind>()
  const note = (step: Step): void => {
    for (const { rowCount, key, row, events, after } of instancesIn(step)) {
      for (const event of events) {
        if (event.type !== 'BindAccepted') continue
        const bind = { instance: key, rowCount, from: row.at, deadline: event.deadline, endedAt: null }
        binds.add(bind)
        open.set(key, bind)
      }
      const bind = open.get(key)
      if (!bind || after.open) continue
      bind.endedAt = row.at
      open.delete(key)
      if (isFine(bind)) binds.delete(bind)
    }
  }
  return { binds, note }
}

const terminal: Invariant = {
  name: 'L1',
  meaning: 'every accepted bind ends by its deadline, which is below the 300 s that Nova waits',
  judge: (evidence) => {
    const lateMs = (bind: Bind): number =>
      usableMs(evidence, bind.from, bind.endedAt ?? evidence.now) - termMs(evidence, bind)
    const isLate = (bind: Bind): boolean => lateMs(bind) > (evidence.slackMs ?? SLACK_MS)
    // a bind that ended in the append that accepted it needs no deadline
    const isTooLong = ({ from, deadline, endedAt }: Bind): boolean =>
      endedAt !== from && deadline - from >= NOVA_WAITS_MS
    const { binds, note } = openBinds((bind) => !isLate(bind) && !isTooLong(bind))
    return {
      step: (step) => {
        note(step)
        return []
      },
      *end() {
        for (const bind of binds) {
          const { instance, rowCount, from, deadline, endedAt } = bind
          if (isTooLong(bind))
            yield at(rowCount, [instance], `${instance}: its deadline is ${deadline - from} ms after its acceptance`)
          if (isLate(bind))
            yield {
              found: `${instance}: accepted at ${from}, ${endedAt === null ? 'still open' : 'ended'} ${lateMs(bind)} ms after its deadline`,
              rowCount,
              keys: [instance],
            }
        }
      },
    }
  },
}

type Owed = {
  readonly instance: InstanceUuid
  readonly arq: ArqUuid
  readonly status: string
  readonly until: number
}
/**
 * `owed`: notifications to Nova without a recorded end. `delivered`: those recorded as delivered, kept only if Nova's
 * own record is compared.
 */
const openDues = (isNovaAsked: boolean) => {
  const owed = new Map<string, Owed>()
  const delivered: Owed[] = []
  const noteOf = ({ key, row, events, after }: ReturnType<typeof instancesIn>[number]): void => {
    const owe = (arq: ArqUuid, status: string, until = after.tellUntil ?? row.at): void =>
      void owed.set(`${key} ${arq}`, {
        instance: idOf(key),
        arq,
        status,
        until,
      })
    const over = (arq: ArqUuid, ending: string): void => {
      const due = owed.get(`${key} ${arq}`)
      if (due && ending === 'delivered' && isNovaAsked) delivered.push(due)
      owed.delete(`${key} ${arq}`)
    }
    for (const event of events)
      if (event.type === 'BindSettled' && event.tell !== null) event.arqs.forEach((arq) => owe(arq, event.outcome))
      else if (event.type === 'ResendAsked')
        Object.entries(event.statuses).forEach(([arq, status]) => owe(arq, status, event.until))
      else if (event.type === 'NovaTold') Object.entries(event.endings).forEach((ending) => over(...ending))
  }
  return { owed, delivered, note: (step: Step): void => instancesIn(step).forEach(noteOf) }
}

const notified: Invariant = {
  name: 'L2',
  meaning:
    'Nova is notified of every ended bind, or it is recorded as not deliverable; Nova received what is recorded as delivered',
  judge: (evidence) => {
    const { owed, delivered, note } = openDues(evidence.nova !== undefined)
    return {
      step: (step) => {
        note(step)
        return []
      },
      *end() {
        for (const { instance, arq, until } of owed.values())
          if (usableMs(evidence, until, evidence.now) > (evidence.slackMs ?? SLACK_MS))
            yield {
              found: `instance ${instance}: ARQ ${arq} was never told, nor given up`,
              keys: [instanceKey(instance)],
            }
        if (!evidence.nova) return
        const heard = new Set(
          evidence.nova
            .filter(({ outcome }) => outcome === 'delivered')
            .map(({ server_uuid, tag, status }) => `${server_uuid} ${tag} ${status}`),
        )
        for (const { instance, arq, status } of delivered)
          if (!heard.has(`${instance} ${arq} ${status}`))
            yield {
              found: `instance ${instance}: ARQ ${arq} is recorded as told ${status}, and Nova never took it`,
              keys: [instanceKey(instance)],
            }
      },
    }
  },
}

const removedInTime: Invariant = {
  name: 'L5 unbound',
  meaning: 'when all is quiet, no request has been unbound for longer than the age that an operator has set',
  needs: ['settled', 'age'],
  judge: (evidence) => ({
    *end({ entities }) {
      const { quiet, unboundTtlMs = 0, now, slackMs = SLACK_MS } = evidence
      if (!quiet || unboundTtlMs === 0) return
      for (const [key, state] of entities()) {
        if (kindOf(key) !== arq.kind) continue
        const { status, createdAt, updatedAt } = state as Arq
        if (status !== 'Initial' && status !== 'Unbound') continue
        const ms = usableMs(evidence, updatedAt ?? createdAt, now)
        if (ms > unboundTtlMs + slackMs)
          yield { found: `${key} has been ${status} for ${ms} ms, of at most ${unboundTtlMs}`, keys: [key] }
      }
    },
  }),
}

export const bindInvariants: readonly Invariant[] = [usable, watched, terminal, notified, removedInTime]
