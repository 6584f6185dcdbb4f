/**
 * What the headers of orders and reports say about the cloud and the start that they belong to. Pure.
 *
 * SEAL-1 each order carries the id of its cloud, and each report the id of the cloud that its host belongs to; releases
 *    up to 0.2.0 say neither, and a host names no cloud before it has accepted its first order;
 * SEAL-2 an order carries the number of the start of its host that was recorded when it was sent, if the host numbers
 *    its starts.
 * SEAL-3 when the headers are complete, the message is signed: by the cloud, or by the host (`signature.ts`).
 */
import * as v from 'valibot'
import { CATALOGUE } from './catalogue.ts'
import type { BusRecord } from './envelope.ts'
import type { Signer } from './signature.ts'

/** Id of the cloud: made with its journal. The name on the wire is that of the first release. */
export const CLOUD_HEADER = 'cluster'
/** Number of the start of its host that an order is meant for. */
export const BOOT_HEADER = 'boot'
const CloudId = v.pipe(v.string(), v.uuid())

export type SealedAs = {
  readonly channel: 'hostOrders' | 'hostReports'
  readonly headers: (record: BusRecord) => Readonly<Record<string, string>>
  readonly signer: Signer
}
/** Adds the headers to the records of this channel and signs them. Other records are returned unchanged. */
export const sealed = (batch: readonly BusRecord[], { channel, headers, signer }: SealedAs): readonly BusRecord[] => {
  const { topic } = CATALOGUE[channel]
  const seal = (record: BusRecord): BusRecord =>
    signer.signed({ ...record, headers: { ...record.headers, ...headers(record) } })
  return batch.map((record) => (record.topic === topic ? seal(record) : record))
}

const Digits = v.pipe(v.string(), v.digits(), v.maxLength(16), v.transform(Number))
/** Null: the header is absent. */
export const bootMeant = ({ headers }: BusRecord): number | null => {
  const read = v.safeParse(Digits, headers[BOOT_HEADER])
  return read.success ? read.output : null
}

/** Null: the header is absent. A value that is not a UUID counts as the id of an unknown cloud. */
export const cloudOf = ({ headers }: BusRecord): string | null => {
  const said = headers[CLOUD_HEADER]
  if (said === undefined) return null
  return v.is(CloudId, said) ? said : 'with an unreadable id'
}
