/** Who uses units of a host's providers, by the records and by the allocations in Placement. */
import type { ArqUuid, HostName, InstanceUuid, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import type { Placement, PlacementResult } from '../../actors/placement/port.ts'
import { heldBy } from '../../actors/placement/wanted.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** An accelerator request that holds one unit for an instance. */
export type Bound = { readonly arq: ArqUuid; readonly instance: InstanceUuid }
export type BoundBy = ReadonlyMap<ResourceProviderUuid, readonly Bound[]>

/** By provider: the requests that hold handles of its deployables. */
export const boundOn = async (
  { readers }: Pick<Kernel, 'readers'>,
  deployables: readonly Deployable[],
): Promise<Outcome<BoundBy>> => {
  const held = deployables.flatMap((one) => heldBy(one).map((arq) => ({ rpUuid: one.rpUuid, arq })))
  if (held.length === 0) return done(new Map())
  const listed = await readers.list('arqs', { uuid: held.map(({ arq }) => arq) }, {})
  if (!listed.ok) return listed
  const instances = new Map(listed.value.items.map(({ uuid, instance_uuid: instance }) => [uuid, instance]))
  const bound = held.flatMap(({ rpUuid, arq }) => {
    const instance = instances.get(arq) ?? null
    return instance === null ? [] : [{ rpUuid, arq, instance }]
  })
  return done(Map.groupBy(bound, ({ rpUuid }) => rpUuid))
}

/** By consumer: the number of allocated units, of any class. A provider that does not exist has none. */
export const allocatedOn = async (
  placement: Pick<Placement, 'allocations'>,
  uuid: ResourceProviderUuid,
): Promise<PlacementResult<Readonly<Record<InstanceUuid, number>>>> => {
  const answer = await placement.allocations(uuid)
  if (!answer.ok) return answer.error === 'gone' ? { ok: true, value: {} } : answer
  const units = (resources: Readonly<Record<string, number>>) =>
    Object.values(resources).reduce((sum, amount) => sum + amount, 0)
  const entries = Object.entries(answer.value.consumers).map(([consumer, resources]) => [consumer, units(resources)])
  return { ok: true, value: Object.fromEntries(entries) }
}

/** Which of these providers belong to deployables of other hosts than this one, by the records. */
export const ofOtherHosts =
  ({ readers }: Pick<Kernel, 'readers'>, host: HostName) =>
  async (uuids: readonly ResourceProviderUuid[]): Promise<Outcome<ReadonlySet<ResourceProviderUuid>>> => {
    const listed = await readers.list('deployables', { rp_uuid: uuids }, {})
    if (!listed.ok) return listed
    return done(new Set(listed.value.items.flatMap((row) => (row.hostname === host ? [] : (row.rp_uuid ?? [])))))
  }
