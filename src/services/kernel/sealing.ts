/**
 * Adds to each order the data that its host checks: the cloud that sends the order, the start of the host it is for,
 * and a signature.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { BOOT_HEADER, CLOUD_HEADER, sealed } from '../../wire/seal.ts'
import type { Signer } from '../../wire/signature.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import type { Read } from '../../actors/runtime/region.ts'

/**
 * The number of the recorded start of the host. An order that names no start is accepted by a host that has its ledger;
 * any other host ignores it until it is sent again.
 */
const bootOf = async (read: Read, name: HostName): Promise<readonly [HostName, number | undefined]> => {
  const known = await read(host, hostKey(name))
  return [name, known.ok ? known.value.state.bootNumber : undefined]
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
    const boots = new Map(await Promise.all([...names].map((name) => bootOf(read, name))))
    const headers = ({ key }: BusRecord): Readonly<Record<string, string>> => {
      const boot = boots.get(key)
      return { [CLOUD_HEADER]: cloud.id, ...(boot === undefined ? {} : { [BOOT_HEADER]: String(boot) }) }
    }
    return sealed(batch, { channel: 'hostOrders', headers, signer: cloud.signer })
  }
