/** A kernel of which a test gives some parts, and what stubs of parts answer. */
import { type Fault, refuse } from '../../src/fault.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'

/** The fault of a store that does not answer. */
export const AWAY: Fault = { kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 }
export const REFUSED_AWAY = refuse(AWAY)

type Parts = { readonly [Name in keyof Kernel]?: Partial<Kernel[Name]> }
/** What the code under test uses of each part must be there; what is there has the type of the part. */
export const kernelOf = (parts: Parts): Kernel => parts as Kernel
