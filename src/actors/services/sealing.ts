/** Adds to each order what its host judges it by: the cloud that sends it, the start of the host that it is meant for, and a signature. */
import type { HostName } from '../../identifiers.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { BOOT_HEADER, CLUSTER_HEADER, sealed } from '../../wire/seal.ts'
import type { Signer } from '../../wire/signature.ts'
import { host, hostKey } from '../host/decider.ts'
import type { Read } from '../runtime/region.ts'

const bootOf = async (read: Read, name: HostName): Promise<readonly (readonly [HostName, string])[]> => {
  const known = await read(host, hostKey(name))
  // without it the order is taken by a host that has its ledger, and comes again for any other
  if (!known.ok || known.value.state.bootNumber === undefined) return []
  return [[name, String(known.value.state.bootNumber)]]
}

/** This cloud as its hosts know it. */
export type Cluster = { readonly id: string; readonly signer: Signer }

export type Seal = (batch: readonly BusRecord[]) => Promise<readonly BusRecord[]>
/** `read`: whether the journal is asked for the present start of a host, or what is cached is enough. */
export const createSeal =
  (cluster: Cluster | null, read: Read): Seal =>
  async (batch) => {
    if (cluster === null) return batch
    const { topic } = CATALOGUE.hostOrders
    const names = new Set(batch.flatMap((record) => (record.topic === topic ? [record.key] : [])))
    const boots = new Map((await Promise.all([...names].map((name) => bootOf(read, name)))).flat())
    const headers = ({ key }: BusRecord): Readonly<Record<string, string>> => {
      const boot = boots.get(key)
      return { [CLUSTER_HEADER]: cluster.id, ...(boot === undefined ? {} : { [BOOT_HEADER]: boot }) }
    }
    return sealed(batch, { channel: 'hostOrders', headers, signer: cluster.signer })
  }
