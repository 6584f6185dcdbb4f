/**
 * How far hardware, records, Placement and allocations agree, host by host. Reads only: the pass that would repair Placement is run against
 * a port that notes what it would write.
 */
import type { ArqUuid, HostName, InstanceUuid, ResourceProviderUuid } from '../../identifiers.ts'
import { type Outcome, allOf, done, refuse } from '../../fault.ts'
import type { Control, DriftEntry, HostDrift, Listed, Page } from '../control.ts'
import type { Deployable } from '../deployable/state.ts'
import type { Finding } from '../placement/decider.ts'
import type { Placement, Told } from '../placement/port.ts'
import type { Kernel } from './kernel.ts'
import { type Facts, factsOf } from './placementFacts.ts'
import { unwritten } from './placementFence.ts'
import { pass, unreachable } from './placementPass.ts'
import type { Placer } from './placer.ts'

const NOT_CONFIGURED = refuse({
  kind: 'conflict',
  reason: 'this service writes nothing to Placement: it needs auth = keystone and placement.enabled',
})
/** So many hosts are compared at once. */
const HOSTS_AT_ONCE = 8

type Bound = { readonly arq: ArqUuid; readonly instance: InstanceUuid }
/** What holds units of a deployable, as recorded. */
const boundOn = async (
  { readers }: Kernel,
  name: HostName,
): Promise<Outcome<ReadonlyMap<string, readonly Bound[]>>> => {
  const handles = await readers.list('handles', { hostname: name, state: 'held' }, {})
  if (!handles.ok) return handles
  const arqs = handles.value.items.flatMap(({ arq_uuid: arq }) => arq ?? [])
  const listed = arqs.length === 0 ? done({ items: [], next: null }) : await readers.list('arqs', { uuid: arqs }, {})
  if (!listed.ok) return listed
  const bound = listed.value.items.flatMap(({ uuid, instance_uuid: instance, device_rp_uuid: provider }) =>
    instance === null || provider === null ? [] : [{ arq: uuid, instance, provider }],
  )
  return done(Map.groupBy(bound, ({ provider }) => provider))
}

const placementEntry = ({ uuid, name, deployable: of, did, state, reason, gone }: Finding): readonly DriftEntry[] =>
  did.length === 0 && state === 'in_sync' && !gone
    ? []
    : [
        {
          kind: 'provider',
          provider: uuid,
          name,
          deployable: of,
          repairs: did,
          state,
          reason,
          consumer: null,
          arqs: [],
        },
      ]

const about = (provider: ResourceProviderUuid, name: string, of: string | null) => ({
  provider,
  name,
  deployable: of,
  repairs: [],
  state: null,
  reason: null,
})

/** P14 and P15: allocations without accelerator request, and bound requests without allocation. */
const allocationEntries = async (
  port: Placement,
  { task }: Facts,
  bound: ReadonlyMap<string, readonly Bound[]>,
): Promise<Told<readonly DriftEntry[]>> => {
  const entries: DriftEntry[] = []
  for (const { uuid, name, deployable: of } of task.wanted) {
    const told = await port.allocations(uuid)
    const consumers = told.ok ? Object.keys(told.value.consumers) : []
    if (!told.ok && told.trouble !== 'gone') return told
    const held = Map.groupBy(bound.get(uuid) ?? [], ({ instance }) => instance)
    for (const consumer of consumers.filter((one) => !held.has(one)))
      entries.push({ ...about(uuid, name, of), kind: 'allocation_without_arq', consumer, arqs: [] })
    for (const [instance, arqs] of held)
      if (!consumers.includes(instance))
        entries.push({
          ...about(uuid, name, of),
          kind: 'arq_without_allocation',
          consumer: instance,
          arqs: arqs.map(({ arq }) => arq),
        })
  }
  return { ok: true, value: entries }
}

/** What the host does not show any more although it is recorded, and handles that are withheld. */
const hardwareEntries = ({ uuid, name, rpUuid, presence, handles }: Deployable): readonly DriftEntry[] => {
  const all = Object.values(handles)
  const count = (state: string) => all.filter((handle) => handle.state === state).length
  const [missing, withheld, unseen] = [
    count('missing'),
    count('quarantined'),
    all.filter((handle) => handle.unseen && handle.state === 'held').length,
  ]
  const reasons = [
    ...(presence === 'missing' ? ['the host does not show the device'] : []),
    ...(missing + unseen > 0 ? [`the host does not show ${missing + unseen} of its attach handles`] : []),
    ...(withheld > 0 ? [`${withheld} of its attach handles are in quarantine`] : []),
  ]
  return reasons.length === 0
    ? []
    : [{ ...about(rpUuid, name, uuid), kind: 'hardware', reason: reasons.join('; '), consumer: null, arqs: [] }]
}

const compare = async (kernel: Kernel, port: Placement, name: HostName): Promise<Outcome<HostDrift>> => {
  const facts = await factsOf(kernel, name)
  if (!facts.ok) return facts
  const bound = await boundOn(kernel, name)
  if (!bound.ok) return bound
  const { task, record, deployables } = facts.value
  const findings: Finding[] = []
  const yes = async () => true
  const passed = await pass(
    {
      placement: unwritten(port),
      clock: kernel.clock,
      names: new Set(),
      found: async (finding) => (findings.push(finding), true),
      rooted: yes,
      isUnchanged: () => false,
      agreed: () => {},
    },
    task,
  )
  const allocations = typeof passed === 'string' ? await allocationEntries(port, facts.value, bound.value) : null
  const entries = [
    ...deployables.flatMap(hardwareEntries),
    ...findings.flatMap(placementEntry),
    ...(allocations?.ok ? allocations.value : []),
  ]
  const unread = allocations && !allocations.ok ? unreachable(allocations) : null
  const trouble = typeof passed === 'string' ? unread : passed
  return done({ host: name, root: record.root, checkedAt: record.endedAt, trouble, entries })
}

/** The values for all hosts, or the first refusal; nothing more is begun after it. */
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

export const createDrift = (kernel: Kernel, placer: () => Placer | null): Control['drift'] => {
  const { placement: port, readers } = kernel
  const hostsIn = async (name: HostName | null, page: Page): Promise<Outcome<Listed<HostName>>> => {
    const listed = await readers.list('hosts', name === null ? {} : { name }, page)
    if (!listed.ok) return listed
    if (name !== null && listed.value.items.length === 0)
      return refuse({ kind: 'not_found', resource: 'host', id: name })
    return done({ items: listed.value.items.map((row) => row.name), next: listed.value.next })
  }
  const list: Control['drift']['list'] = async (name, page) => {
    if (port === null) return NOT_CONFIGURED
    const names = await hostsIn(name, page)
    if (!names.ok) return names
    const compared = await forEach(names.value.items, (one) => compare(kernel, port, one))
    return compared.ok ? done({ items: compared.value, next: names.value.next }) : compared
  }
  return {
    list,
    heal: async (_caller, name) => {
      const worker = placer()
      if (worker === null) return NOT_CONFIGURED
      const names = await hostsIn(name, {})
      if (!names.ok) return names
      const looked = await forEach(names.value.items, worker.now)
      return looked.ok ? done(null) : looked
    },
  }
}
