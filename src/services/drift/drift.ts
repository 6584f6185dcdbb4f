/**
 * Compares hardware, records, Placement and allocations, host by host. Reads only: the pass that would repair Placement
 * runs against a port that notes the writes instead of making them.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done, refuse } from '../../vocabulary/fault.ts'
import type { Control, Listed, Page } from '../../actors/control.ts'
import type { FoundDifference, DriftEntry, HostDrift, HostPassed } from '../../actors/answers/drift.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import type { Finding, PlacementRecord } from '../../actors/placement/decider.ts'
import { differenceUuid, ignoringAt, lackingReason } from '../../actors/placement/ignored.ts'
import type { Placement, Provider, PlacementResult } from '../../actors/placement/port.ts'
import { unallocatedOf } from '../../actors/placement/wanted.ts'
import type { NovaServers } from '../../actors/neighbours.ts'
import { driftEntry } from './entry.ts'
import { createIgnored } from './ignored.ts'
import { novaEntries } from './ofNova.ts'
import { serverEntries } from './ofServers.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { seeingServers } from '../nova/orphans.ts'
import { dryPass } from '../placement/dryPass.ts'
import { type Facts, factsOf } from '../placement/facts.ts'
import { unreachable } from '../placement/pass.ts'
import { allocatedOn, ofOtherHosts } from '../placement/units.ts'
import type { Placer } from '../placement/placer.ts'
import { unknownHost } from '../retirement/retirement.ts'
import { type Backoff, backoffMs, pause } from '../../vocabulary/waiting.ts'

const NOT_CONFIGURED = refuse({
  kind: 'conflict',
  reason: 'this service writes nothing to Placement: it needs auth = keystone and placement.enabled',
})
/** How many hosts are compared at once. */
const HOSTS_AT_ONCE = 8
/** How long a repair waits altogether for other controls that work on its hosts. */
const HEAL_WAIT_MS = 20_000
const BUSY: Backoff = { firstMs: 200, maxMs: 2000 }

const placementEntry = (found: Finding): readonly FoundDifference[] => {
  const { uuid: provider, name, deployable: of, did, state, reason, reserving, gone } = found
  if (did.length === 0 && state === 'in_sync' && !gone) return []
  return [driftEntry({ kind: 'provider', provider, name, deployable: of }, { repairs: did, state, reason, reserving })]
}

/** P14 and P15: allocations without accelerator request, and bound requests without allocation. */
const allocationEntries = async (
  port: Placement,
  { task: { wanted, bound } }: Facts,
): Promise<PlacementResult<readonly FoundDifference[]>> => {
  const entries: FoundDifference[] = []
  for (const { uuid: provider, name, deployable: of } of wanted) {
    const allocated = await allocatedOn(port, provider)
    if (!allocated.ok) return allocated
    const about = { provider, name, deployable: of }
    const users = bound.get(provider) ?? []
    const instances = users.map(({ instance }) => instance)
    for (const [consumer, units] of Object.entries(allocated.value).filter(([one]) => !instances.includes(one))) {
      const reason = `allocated units: ${units}`
      entries.push(driftEntry({ ...about, kind: 'allocation_without_arq' }, { consumer, reason }))
    }
    for (const [consumer, units] of unallocatedOf(instances, allocated.value)) {
      const arqs = users.filter(({ instance }) => instance === consumer).map(({ arq }) => arq)
      const more = { consumer, arqs, reason: lackingReason(units) }
      entries.push(driftEntry({ ...about, kind: 'arq_without_allocation' }, more))
    }
  }
  return { ok: true, value: entries }
}

/** Recorded hardware that the host no longer shows, and handles that are withheld. */
const hardwareEntries = ({ uuid, name, rpUuid, presence, handles }: Deployable): readonly FoundDifference[] => {
  const all = Object.entries(handles)
  const unseen = all.filter(([, { state, unseen: away }]) => state === 'missing' || (away && state === 'held'))
  const withheld = all.filter(([, { state }]) => state === 'quarantined')
  const reasons = [
    ...(presence === 'missing' ? ['the host does not show the device'] : []),
    ...(unseen.length > 0 ? [`the host does not show ${unseen.length} of its attach handles`] : []),
    ...(withheld.length > 0 ? [`${withheld.length} of its attach handles are in quarantine`] : []),
  ]
  if (reasons.length === 0) return []
  const parts = [...unseen.map(([one]) => `unseen ${one}`), ...withheld.map(([one]) => `quarantined ${one}`)]
  const more = { reason: reasons.join('; '), parts }
  return [driftEntry({ kind: 'hardware', provider: rpUuid, name, deployable: uuid }, more)]
}

/** With its UUID, and with what an operator has decided about it. What a pass repairs is never ignored (IGNORED-3). */
const judged =
  ({ host, ignored }: Pick<PlacementRecord, 'host' | 'ignored'>, now: number) =>
  ({ parts, ...found }: FoundDifference): DriftEntry => {
    const uuid = differenceUuid(host, found, parts)
    return { ...found, uuid, ignored: found.repairs.length > 0 ? null : ignoringAt(ignored, uuid, now) }
  }

const NOT_ASKED = { entries: [], trouble: null }

const compare = async (
  kernel: Kernel,
  port: Placement,
  { servers, ordered }: { readonly servers: NovaServers | null; readonly ordered: boolean },
  name: HostName,
): Promise<Outcome<HostDrift>> => {
  const facts = await factsOf(kernel, name)
  if (!facts.ok) return facts
  const { task, record, deployables } = facts.value
  let tree: readonly Provider[] = []
  const read: Placement['tree'] = async (root) => {
    const answer = await port.tree(root)
    if (answer.ok) tree = answer.value
    return answer
  }
  const whole = { ofOthers: ofOtherHosts(kernel, name), isUnchanged: () => false, agreed: () => {}, ordered }
  const passed = await dryPass({ placement: { ...port, tree: read }, clock: kernel.clock, ...whole }, task)
  const more: readonly (() => Promise<PlacementResult<readonly FoundDifference[]>>)[] = [
    () => novaEntries(port, facts.value, tree),
    () => allocationEntries(port, facts.value),
  ]
  const entries = [...deployables.flatMap(hardwareEntries), ...passed.findings.flatMap(placementEntry)]
  let { trouble } = passed
  for (const look of more) {
    if (trouble !== null) break
    const found = await look()
    if (found.ok) entries.push(...found.value)
    else trouble = unreachable(found)
  }
  const shown = servers === null ? done(NOT_ASKED) : await serverEntries(kernel, servers, facts.value)
  if (!shown.ok) return shown
  entries.push(...shown.value.entries)
  trouble ??= shown.value.trouble
  const judge = judged({ ...record, host: name }, kernel.clock.now())
  return done({ host: name, root: record.root, checkedAt: record.endedAt, trouble, entries: entries.map(judge) })
}

/** The values for all hosts, or the first refusal, after which no further host is compared. */
const forEach = async <Value>(
  names: readonly HostName[],
  work: (name: HostName) => Promise<Outcome<Value>>,
): Promise<Outcome<readonly Value[]>> => {
  const values: Value[] = []
  for (let at = 0; at < names.length; at += HOSTS_AT_ONCE) {
    const some = await allOf(names.slice(at, at + HOSTS_AT_ONCE).map(work))
    if (!some.ok) return some
    values.push(...some.value)
  }
  return done(values)
}

/**
 * Runs a pass over the host as soon as no other control works on it, and at the latest at `until`: whoever works on it
 * for that long may be dead, and an operator's command always helps.
 */
const passed = async (
  { clock }: Kernel,
  worker: Placer,
  host: HostName,
  until: number,
): Promise<Outcome<HostPassed>> => {
  for (let tries = 1; ; tries++) {
    const isLast = clock.monotonic() >= until
    const ended = await worker.now(host, isLast)
    if (!ended.ok) return ended
    if (ended.value || isLast) return done({ host, ended: ended.value })
    await pause(clock, backoffMs(BUSY, tries))
  }
}

export const createDrift = (kernel: Kernel, placer: () => Placer | null): Control['drift'] => {
  const { placement: port, readers } = kernel
  const hostsIn = async (name: HostName | null, page: Page): Promise<Outcome<Listed<HostName>>> => {
    const listed = await readers.list('hosts', name === null ? {} : { name }, page)
    if (!listed.ok) return listed
    if (name !== null && listed.value.items.length === 0) return unknownHost(name)
    return done({ items: listed.value.items.map((row) => row.name), next: listed.value.next })
  }
  const list: Control['drift']['list'] = async (name, page, nova = false, ordered = false) => {
    if (port === null) return NOT_CONFIGURED
    const asked = nova ? await seeingServers(kernel) : done(null)
    if (!asked.ok) return asked
    const names = await hostsIn(name, page)
    if (!names.ok) return names
    const compared = await forEach(names.value.items, (one) =>
      compare(kernel, port, { servers: asked.value, ordered }, one),
    )
    return compared.ok ? done({ items: compared.value, next: names.value.next }) : compared
  }
  return {
    list,
    ...createIgnored(kernel, async (host, nova) => {
      const listed = await list(host, {}, nova)
      return listed.ok ? done(listed.value.items[0] ?? null) : listed
    }),
    heal: async (_caller, name, page = {}) => {
      const worker = placer()
      if (worker === null) return NOT_CONFIGURED
      const names = await hostsIn(name, page)
      if (!names.ok) return names
      const until = kernel.clock.monotonic() + HEAL_WAIT_MS
      const looked = await forEach(names.value.items, (host) => passed(kernel, worker, host, until))
      return looked.ok ? done({ items: looked.value, next: names.value.next }) : looked
    },
  }
}
