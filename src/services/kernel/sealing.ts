/**
 * Adds to each order the data that its host checks: the cloud that sends the order, the start of the host it is for,
 * and a signature or a MAC.
 */
import type { HostName } from '../../identifiers.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { BOOT_HEADER, CLOUD_HEADER, sealed } from '../../wire/seal.ts'
import type { Signer } from '../../wire/signature.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import type { Read } from '../../actors/runtime/region.ts'

/**
 * The recorded start of the host that an order is for. `receiver`: the host's key, if its present start checks MACs.
 */
type Addressee = { readonly boot?: number; readonly receiver?: string }
const addresseeOf = async (read: Read, name: HostName): Promise<readonly [HostName, Addressee]> => {
  const known = await read(host, hostKey(name))
  // an order that names no start is accepted by a host that has its ledger; any other host ignores it until it is sent
  // again
  if (!known.ok) return [name, {}]
  const { bootNumber, macs, keys } = known.value.state
  return [
    name,
    {
      ...(bootNumber === undefined ? {} : { boot: bootNumber }),
      ...(macs && keys?.key !== undefined ? { receiver: keys.key } : {}),
    },
  ]
}

/** The identity of this cloud, as its hosts know it. */
export type CloudIdentity = { readonly id: string; readonly signer: Signer }

export type Seal = (batch: readonly BusRecord[]) => Promise<readonly BusRecord[]>
/** `read` true: the present start of the host is read from the journal; false: a cached state is enough. */
export const createSeal =
  (cloud: CloudIdentity | null, read: Read): Seal =>
  async (batch) => {
    if (cloud === null) return batch
    const { topic } = CATALOGUE.hostOrders
    const names = new Set(batch.flatMap((record) => (record.topic === topic ? [record.key] : [])))
    const hosts = new Map(await Promise.all([...names].map((name) => addresseeOf(read, name))))
    const headers = ({ key }: BusRecord): Readonly<Record<string, string>> => {
      const boot = hosts.get(key)?.boot
      return { [CLOUD_HEADER]: cloud.id, ...(boot === undefined ? {} : { [BOOT_HEADER]: String(boot) }) }
    }
    const receiver = ({ key }: BusRecord): string | null => hosts.get(key)?.receiver ?? null
    return sealed(batch, { channel: 'hostOrders', headers, signer: cloud.signer, receiver })
  }
