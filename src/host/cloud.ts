/**
 * Keeps the cloud to which this host belongs, and its key.
 *
 * CLOUD-1 the first order that names a cloud decides the cloud, which is on disk before that order has any effect;
 * CLOUD-2 orders of any other cloud are refused; every report names the cloud once it is known;
 * CLOUD-3 only an operator changes the cloud, by removing the file while the host does not run;
 * CLOUD-4 the first signed order of that cloud decides the key of the cloud in the same way: from then on an order
 *    that is unsigned, or signed with another key, is refused. An order with a wrong signature is always refused.
 */
import * as v from 'valibot'
import { publicKey } from '../vocabulary/fields.ts'
import type { BusRecord } from '../wire/envelope.ts'
import type { Bus } from '../bus/port.ts'
import { CLOUD_HEADER, cloudOf, sealed } from '../wire/seal.ts'
import type { Signer, Verify } from '../wire/signature.ts'
import type { Disk } from './disk.ts'

/**
 * As it is on disk. `cluster`: the id of the cloud, by the name that existing files have. Files from the time before
 * signatures hold no key: the next signed order adds the key.
 */
const Cloud = v.object({ cluster: v.pipe(v.string(), v.uuid()), publicKey: v.optional(publicKey) })
type Cloud = v.InferOutput<typeof Cloud>
const CloudFile = v.pipe(v.string(), v.parseJson(), Cloud)

export type Membership = {
  /** Null: no order has named a cloud yet. */
  readonly id: () => string | null
  /** Returns why the order must be refused; null: it may be taken. */
  readonly judge: (record: BusRecord) => Promise<string | null>
}
/** The sender of an order. `signer`: its key; null: the order is unsigned. `id` null: the order names no cloud. */
type Sender = { readonly id: string | null; readonly signer: string | null }

/** Returns why a host of `cloud` refuses an order that names the cloud `id`; null: it does not. */
const ofAnother = (cloud: Cloud, id: string | null, path: string): string | null =>
  id === null || id === cloud.cluster
    ? null
    : `it is an order of cloud ${id}, and this host belongs to cloud ${cloud.cluster} (${path})`
/** Returns why a host of `cloud` refuses an order signed with this key; null: it does not. */
const against = (cloud: Cloud, signer: string | null, path: string): string | null => {
  if (cloud.publicKey === undefined || cloud.publicKey === signer) return null
  const how = signer === null ? 'is not signed' : `is signed with key ${signer}`
  return `it ${how}, and the orders of cloud ${cloud.cluster} are signed with key ${cloud.publicKey} (${path})`
}
/** Returns the cloud and its key, as they are known after an order of this sender was accepted. */
const learnt = (cloud: Cloud | null, { id, signer }: Sender): Cloud | null => {
  if (id === null) return cloud
  const key = cloud?.publicKey ?? signer
  return { cluster: id, ...(key === null ? {} : { publicKey: key }) }
}

const kept = async (disk: Disk, path: string): Promise<Cloud | null> => {
  const text = await disk.read(path)
  if (text === null) return null
  const read = v.safeParse(CloudFile, text)
  if (read.success) return read.output
  throw new Error(`${path}: it does not name a cloud; correct it, or remove it if this host may join any cloud`)
}

/** Rejects when the file cannot be read: a host that has forgotten its cloud would obey any other cloud. */
export const openMembership = async (disk: Disk, path: string, verify: Verify): Promise<Membership> => {
  let cloud = await kept(disk, path)
  let pinning = Promise.resolve()
  const pin = (now: Cloud): void => {
    const before = cloud
    cloud = now
    pinning = disk.replace(path, `${JSON.stringify(now)}\n`)
    // the bus delivers the order again, and then the file is written again
    pinning.catch(() => {
      cloud = before
      pinning = Promise.resolve()
    })
  }
  return {
    id: () => cloud?.cluster ?? null,
    judge: async (record) => {
      const id = cloudOf(record)
      // checked first, since a MAC of another cloud (release 0.3.0) may be for a key that this host does not have
      const foreign = cloud === null ? null : ofAnother(cloud, id, path)
      if (foreign !== null) return foreign
      const verified = verify(record)
      if ('wrong' in verified) return verified.wrong
      const { signer } = verified
      const refusal = cloud === null ? null : against(cloud, signer, path)
      if (refusal === null) {
        const now = learnt(cloud, { id, signer })
        if (now !== null && (now.cluster !== cloud?.cluster || now.publicKey !== cloud.publicKey)) pin(now)
      }
      // all orders wait here, so that their sequence stays the same
      await pinning
      return refusal
    },
  }
}

/** The bus of the host. It signs every report, and adds the cloud of the host once the cloud is known. */
export const reportingFrom = (bus: Pick<Bus, 'publish' | 'consume'>, { id }: Membership, signer: Signer) => ({
  consume: bus.consume,
  publish: (batch: readonly BusRecord[]) => {
    const cloud = id()
    const headers = (): Readonly<Record<string, string>> => (cloud === null ? {} : { [CLOUD_HEADER]: cloud })
    return bus.publish(sealed(batch, { channel: 'hostReports', headers, signer }))
  },
})
