/**
 * The cloud that this host belongs to.
 *
 * CLUSTER-1 the first order that names a cloud decides it, and it is on disk before that order has any effect;
 * CLUSTER-2 orders of any other cloud are refused; every report names the cloud once it is known;
 * CLUSTER-3 only an operator changes it, by removing the file while the host does not run;
 * CLUSTER-4 the first signed order of that cloud decides the key of the cloud in the same way: from then on an order that is unsigned,
 *   or signed with another key, is refused. An order with a wrong signature always is.
 */
import * as v from 'valibot'
import { publicKey } from '../fields.ts'
import type { BusRecord } from '../wire/envelope.ts'
import type { Bus } from '../bus/port.ts'
import { CLUSTER_HEADER, clusterOf, sealed } from '../wire/seal.ts'
import type { Signer, Verify } from '../wire/signature.ts'
import type { Disk } from './disk.ts'

/** Files that were written before there were signatures hold no key: the next signed order adds it. */
const Cloud = v.object({ cluster: v.pipe(v.string(), v.uuid()), publicKey: v.optional(publicKey) })
type Cloud = v.InferOutput<typeof Cloud>
const ClusterFile = v.pipe(v.string(), v.parseJson(), Cloud)

export type Membership = {
  /** Null: no order has named a cloud yet. */
  readonly id: () => string | null
  /** Why the order must not be taken; null: it may. */
  readonly judge: (record: BusRecord) => Promise<string | null>
}
/** What an order says of its sender; `signer` null: it is unsigned, `cluster` null: it names no cloud. */
type Sender = { readonly cluster: string | null; readonly signer: string | null }

/** Why an order of this sender is refused by a host of that cloud; null: it is not. */
const against = (cloud: Cloud, { cluster, signer }: Sender, path: string): string | null => {
  if (cluster !== null && cluster !== cloud.cluster)
    return `it is an order of cloud ${cluster}, and this host belongs to cloud ${cloud.cluster} (${path})`
  if (cloud.publicKey === undefined || cloud.publicKey === signer) return null
  const how = signer === null ? 'is not signed' : `is signed with key ${signer}`
  return `it ${how}, and the orders of cloud ${cloud.cluster} are signed with key ${cloud.publicKey} (${path})`
}
/** What is known of the cloud after an order of this sender was accepted. */
const learnt = (cloud: Cloud | null, { cluster, signer }: Sender): Cloud | null => {
  if (cluster === null) return cloud
  const key = cloud?.publicKey ?? signer
  return { cluster, ...(key === null ? {} : { publicKey: key }) }
}

const kept = async (disk: Disk, path: string): Promise<Cloud | null> => {
  const text = await disk.read(path)
  if (text === null) return null
  const read = v.safeParse(ClusterFile, text)
  if (read.success) return read.output
  throw new Error(`${path}: it does not name a cloud; correct it, or remove it if this host may join any cloud`)
}

/** Rejects when the file cannot be read: a host that forgets its cloud would obey any other. */
export const openMembership = async (disk: Disk, path: string, verify: Verify): Promise<Membership> => {
  let cloud = await kept(disk, path)
  let pinning = Promise.resolve()
  const pin = (now: Cloud): void => {
    const before = cloud
    cloud = now
    pinning = disk.replace(path, `${JSON.stringify(now)}\n`)
    // tried again with the order, which the bus delivers again
    pinning.catch(() => {
      cloud = before
      pinning = Promise.resolve()
    })
  }
  return {
    id: () => cloud?.cluster ?? null,
    judge: async (record) => {
      const verified = verify(record)
      if ('wrong' in verified) return verified.wrong
      const sender = { cluster: clusterOf(record), signer: verified.signer }
      const refusal = cloud === null ? null : against(cloud, sender, path)
      if (refusal === null) {
        const now = learnt(cloud, sender)
        if (now !== null && (now.cluster !== cloud?.cluster || now.publicKey !== cloud.publicKey)) pin(now)
      }
      // every order waits alike, so that they keep their order
      await pinning
      return refusal
    },
  }
}

/** The bus of the host: every report is signed, and says which cloud the host belongs to, once that is known. */
export const reportingFrom = (bus: Pick<Bus, 'publish' | 'consume'>, { id }: Membership, signer: Signer) => ({
  consume: bus.consume,
  publish: (batch: readonly BusRecord[]) => {
    const cluster = id()
    const headers = (): Readonly<Record<string, string>> => (cluster === null ? {} : { [CLUSTER_HEADER]: cluster })
    return bus.publish(sealed(batch, { channel: 'hostReports', headers, signer }))
  },
})
