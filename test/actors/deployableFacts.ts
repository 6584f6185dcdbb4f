/** What is asked of a deployable and what follows, in few words. */
import { type Said, specOf } from '../spec.ts'
import * as say from './samples.ts'
import { ARQ, handle, recorded, REQUEST } from './samples.ts'

export const { given, due } = specOf('deployable')
/** When its own deadline passes, or a release is tried again. */
export const dueAt = (...facts: readonly Said[]) => (due(...facts) as { readonly at: number } | null)?.at ?? null
export const IMAGE = 'image-1'
export const grant = (arq = ARQ, bitstream: string | null = null): Said => ({
  type: 'Grant',
  arq,
  bitstream,
  deadline: 9000,
  requestId: REQUEST,
})
export const release = (arq = ARQ): Said => ({ type: 'Release', arq, deadline: 9000 })
export const answer = (n: number, number: number, failed: string | null = null, final = false): Said => ({
  type: 'Answer',
  slot: handle(n).uuid,
  number,
  failed,
  final,
  retryBy: 9000,
})
export const granted = (n: number, number: number | null, arq = ARQ, bitstream?: string): Said => ({
  type: 'Granted',
  handle: handle(n).uuid,
  arq,
  order: number === null ? null : say.prepareOrder(n, number, arq, bitstream),
})
export const released = (n: number, number: number | null, arq = ARQ): Said => ({
  type: 'HandleReleased',
  handle: handle(n).uuid,
  arq,
  order: number === null ? null : say.releaseOrder(n, number),
})
export const done = (n: number, number: number): Said => ({
  type: 'OrderDone',
  slot: handle(n).uuid,
  number,
})
export const failed = (n: number, number: number, again: number | null): Said => ({
  type: 'OrderFailed',
  slot: handle(n).uuid,
  number,
  reason: 'stuck',
  again: again === null ? null : say.releaseOrder(n, again),
})
export const quiet = recorded({ hostWork: false })
export const stuck = [recorded(), granted(1, 1), done(1, 1), released(1, 2), failed(1, 2, null)] as const
