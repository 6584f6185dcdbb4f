/**
 * Differences between Nova's servers that have accelerators of a host and the records here. Made only on demand,
 * because each server costs one request to Nova.
 */
import type { InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { ArqRow } from '../../actors/control.ts'
import type { FoundDifference } from '../../actors/answers/drift.ts'
import type { NovaServer, NovaServers } from '../../actors/neighbours.ts'
import type { HostBlocker } from '../../actors/placement/decider.ts'
import { heldBy } from '../../actors/placement/wanted.ts'
import { driftEntry } from './entry.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { askAll } from '../nova/orphans.ts'
import type { Facts } from '../placement/facts.ts'

/** For one host, Nova is asked about this many servers at most; the answer says when there are more. */
const SERVERS_MAX = 1000

/** Null: nothing differs. A server that Nova is still building has no compute node yet. */
const differenceOf = (answer: NovaServer, node: string | null): string | null => {
  if (answer.is === 'unknown') return 'Nova does not know the server (accelerando orphan)'
  if (answer.is === 'unclear' || answer.status === 'BUILD' || answer.node === node) return null
  const where = answer.node === null ? 'on no node' : `on the node ${answer.node}`
  return `Nova shows the server ${where}, in the state ${answer.status}; its accelerators are bound on ${node ?? '-'}`
}

const entryOf = (
  deployables: Facts['deployables'],
  rows: readonly ArqRow[],
  reason: string,
): FoundDifference | null => {
  const [{ deployable_uuid: uuid, instance_uuid: consumer }] = rows as readonly [ArqRow, ...ArqRow[]]
  const held = deployables.find((one) => one.uuid === uuid)
  if (!held) return null
  const subject = { kind: 'server', provider: held.rpUuid, name: held.name, deployable: held.uuid } as const
  const arqs = rows.map((row) => row.uuid)
  return driftEntry(subject, { reason, consumer, arqs, parts: arqs })
}

type Shown = { readonly entries: readonly FoundDifference[]; readonly trouble: HostBlocker | null }

const blockerOf = (
  instances: number,
  answers: readonly (readonly [InstanceUuid, NovaServer])[],
): HostBlocker | null => {
  const silent = answers.map(([, answer]) => answer).find((answer) => answer.is === 'unclear')
  if (silent) return { state: 'unreachable', reason: silent.reason }
  const reason = `Nova was asked about ${SERVERS_MAX} of ${instances} servers`
  return instances > SERVERS_MAX ? { state: 'unreachable', reason } : null
}

export const serverEntries = async (
  { readers }: Pick<Kernel, 'readers'>,
  servers: NovaServers,
  { deployables }: Pick<Facts, 'deployables'>,
): Promise<Outcome<Shown>> => {
  const uuids = deployables.flatMap((held) => heldBy(held))
  if (uuids.length === 0) return done({ entries: [], trouble: null })
  const listed = await readers.list('arqs', { uuid: uuids, state: 'Bound' }, {})
  if (!listed.ok) return listed
  const rows = Map.groupBy(listed.value.items, ({ instance_uuid: instance }) => instance ?? '')
  const answers = await askAll(servers, [...rows.keys()].slice(0, SERVERS_MAX))
  const entries = answers.flatMap(([instance, answer]) => {
    const own = rows.get(instance)!
    const reason = differenceOf(answer, own[0]!.hostname)
    return (reason === null ? null : entryOf(deployables, own, reason)) ?? []
  })
  return done({ entries, trouble: blockerOf(rows.size, answers) })
}
