/** Finds the target of a bind: which deployable stands for a resource provider, and which host has a name. */
import type { DeployableUuid, HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { Binding } from '../../actors/control.ts'
import type { Kernel } from './kernel.ts'

/** `host`: the name under which the journal has the host with that `hostname`; null when there is none. */
export type Target = Binding & {
  /** The root that owns the provider. */
  readonly deployable: DeployableUuid
  /** All deployables below it. */
  readonly below: readonly DeployableUuid[]
  readonly host: HostName | null
}
type Owner = Pick<Target, 'deployable' | 'below'>
type Names = ReadonlyMap<HostName, HostName>

const OWNERS_MAX = 20_000
/** A new host, or a new hostname, is found after this long at the latest. */
const NAMES_KEPT_MS = 10_000

/** The deployables below a root, in the order in which they were recorded. */
export const belowRoot = async (
  { readers }: Pick<Kernel, 'readers'>,
  root: DeployableUuid,
): Promise<Outcome<readonly DeployableUuid[]>> => {
  const found = await readers.list('deployables', { root_uuid: root }, {})
  return found.ok ? { ok: true, value: found.value.items.map(({ uuid }) => uuid) } : found
}

export const createDirectory = ({ readers, clock }: Pick<Kernel, 'readers' | 'clock'>) => {
  const owners = new Map<ResourceProviderUuid, Owner>()
  let names: { readonly read: Promise<Outcome<Names>>; readonly until: number } | null = null

  /**
   * Cached until a bind finds them wrong: a provider's owner changes only when its device is retired and returns, and
   * the deployables below the owner change only when the card is programmed. A bind that may program the card looks
   * anew, since another control may have seen it divided.
   */
  const ownerOf = async (rpUuid: ResourceProviderUuid): Promise<Outcome<Owner>> => {
    const known = owners.get(rpUuid)
    if (known) return { ok: true, value: known }
    const found = await readers.first('deployables', { rp_uuid: rpUuid })
    if (!found.ok) return found
    if (!found.value) return refuse({ kind: 'not_found', resource: 'resource provider', id: rpUuid })
    const below = await belowRoot({ readers }, found.value.uuid)
    if (!below.ok) return below
    if (owners.size >= OWNERS_MAX) owners.clear()
    const owner = { deployable: found.value.uuid, below: below.value }
    owners.set(rpUuid, owner)
    return { ok: true, value: owner }
  }
  const readNames = async (): Promise<Outcome<Names>> => {
    const hosts = await readers.list('hosts', {}, {})
    if (!hosts.ok) return hosts
    const aliases = hosts.value.items.flatMap((row) => row.aliases.map((alias) => [alias, row.name] as const))
    const own = hosts.value.items.map(({ name }) => [name, name] as const)
    return { ok: true, value: new Map([...aliases, ...own]) }
  }
  /** One read serves all names and all callers that ask while it runs; a failed read is not cached. */
  const allNames = async (): Promise<Outcome<Names>> => {
    if (!names || names.until <= clock.monotonic())
      names = { read: readNames(), until: clock.monotonic() + NAMES_KEPT_MS }
    const mine = names
    const known = await mine.read
    if (!known.ok && names === mine) names = null
    return known
  }
  const find = async (bindings: readonly Binding[]): Promise<Outcome<readonly Target[]>> => {
    const targets: Target[] = []
    const known = await allNames()
    if (!known.ok) return known
    for (const binding of bindings) {
      const owner = await ownerOf(binding.deviceRpUuid)
      if (!owner.ok) return owner
      targets.push({ ...binding, ...owner.value, host: known.value.get(binding.hostname) ?? null })
    }
    return { ok: true, value: targets }
  }
  const forget = (bindings: readonly Binding[]) => {
    for (const { deviceRpUuid } of bindings) owners.delete(deviceRpUuid)
  }
  return { find, forget }
}
