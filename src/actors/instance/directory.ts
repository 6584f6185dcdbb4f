/** Where a bind leads: which deployable owns a resource provider, and which host answers to a name. */
import { type Outcome, refuse } from '../../fault.ts'
import type { Binding } from '../control.ts'
import type { Kernel } from '../kernel.ts'

/** `host`: the name under which the host called `hostname` is known; null when nobody knows that name. */
export type Placed = Binding & { readonly deployable: string; readonly host: string | null }

const KNOWN_MAX = 20_000
/** A new alias of a host counts after this long at the latest. */
const NAME_KEPT_MS = 10_000

export const directoryOver = ({ readers, clock }: Kernel) => {
  const owners = new Map<string, string>()
  const named = new Map<string, { readonly host: string | null; readonly until: number }>()

  /** A provider never changes its owner, so it is asked for once. */
  const ownerOf = async (rpUuid: string): Promise<Outcome<string>> => {
    const known = owners.get(rpUuid)
    if (known) return { ok: true, value: known }
    const found = await readers.first('deployables', { rp_uuid: rpUuid })
    if (!found.ok) return found
    if (!found.value) return refuse({ kind: 'not_found', resource: 'resource provider', id: rpUuid })
    if (owners.size >= KNOWN_MAX) owners.clear()
    owners.set(rpUuid, found.value.uuid)
    return { ok: true, value: found.value.uuid }
  }
  const askHost = async (name: string): Promise<string | null> => {
    const own = await readers.first('hosts', { name })
    if (own.ok && own.value) return own.value.name
    const hosts = await readers.list('hosts', {}, {})
    return hosts.ok
      ? (hosts.value.items.find(({ aliases }) => (aliases as readonly string[]).includes(name))?.name ?? null)
      : null
  }
  const hostOf = async (name: string): Promise<string | null> => {
    const known = named.get(name)
    if (known && known.until > clock.now()) return known.host
    const host = await askHost(name)
    if (named.size >= KNOWN_MAX) named.clear()
    named.set(name, { host, until: clock.now() + NAME_KEPT_MS })
    return host
  }
  const place = async (bindings: readonly Binding[]): Promise<Outcome<readonly Placed[]>> => {
    const placed: Placed[] = []
    for (const binding of bindings) {
      const owner = await ownerOf(binding.deviceRpUuid)
      if (!owner.ok) return owner
      placed.push({ ...binding, deployable: owner.value, host: await hostOf(binding.hostname) })
    }
    return { ok: true, value: placed }
  }
  return { place }
}
