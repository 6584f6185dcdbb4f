/**
 * The cloud that this host belongs to.
 *
 * CLUSTER-1 the first order that names a cloud decides it, and it is on disk before that order has any effect;
 * CLUSTER-2 orders of any other cloud are refused; every report names the cloud once it is known;
 * CLUSTER-3 only an operator changes it, by removing the file while the host does not run.
 */
import * as v from 'valibot'
import type { BusRecord } from '../wire/envelope.ts'
import type { Bus } from '../bus/port.ts'
import { CLUSTER_HEADER, clusterOf, sealed } from '../wire/seal.ts'
import type { Disk } from './disk.ts'

const ClusterFile = v.pipe(v.string(), v.parseJson(), v.object({ cluster: v.pipe(v.string(), v.uuid()) }))

export type Membership = {
  /** Null: no order has named a cloud yet. */
  readonly id: () => string | null
  /** Why the order must not be taken; null: it may. */
  readonly judge: (record: BusRecord) => Promise<string | null>
}

/** Rejects when the file cannot be read: a host that forgets its cloud would obey any other. */
export const openMembership = async (disk: Disk, path: string): Promise<Membership> => {
  const text = await disk.read(path)
  const read = text === null ? null : v.safeParse(ClusterFile, text)
  if (read !== null && !read.success)
    throw new Error(`${path}: it does not name a cloud; correct it, or remove it if this host may join any cloud`)
  let id = read?.output.cluster ?? null
  let pinning = Promise.resolve()
  return {
    id: () => id,
    judge: async (record) => {
      const said = clusterOf(record)
      if (id === null && said !== null) {
        id = said
        pinning = disk.replace(path, `${JSON.stringify({ cluster: said })}\n`)
        // tried again with the order, which the bus delivers again
        pinning.catch(() => (id = null))
      }
      // every order waits alike, so that they keep their order
      await pinning
      return said === null || said === id
        ? null
        : `it is an order of cloud ${said}, and this host belongs to cloud ${id} (${path})`
    },
  }
}

/** The bus of the host: every report says which cloud the host belongs to, once that is known. */
export const reportingFrom = (bus: Pick<Bus, 'publish' | 'consume'>, { id }: Membership) => ({
  consume: bus.consume,
  publish: (batch: readonly BusRecord[]) => {
    const cluster = id()
    return bus.publish(cluster === null ? batch : sealed(batch, 'hostReports', () => ({ [CLUSTER_HEADER]: cluster })))
  },
})
