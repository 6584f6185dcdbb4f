/** The API's answer about one attach handle. */
import type { Cleaned, HostCleaning } from '../../vocabulary/cleaning.ts'
import type { HandleType } from '../../vocabulary/hardware.ts'
import type { ArqUuid, DeviceUuid } from '../../vocabulary/identifiers.ts'
import type { DatedNote } from '../../vocabulary/operatorNote.ts'
import type { Standing } from '../device/standing.ts'
import type { Row } from '../runtime/views.ts'

export type HandleRow = Row<'handles'>
export type HandleDetail = HandleRow & {
  /** A handle that is free is not granted unless this is `enabled`. */
  readonly device: Standing & { readonly uuid: DeviceUuid }
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  /** The ARQ that gave the handle up, until the release is finished; null also when the caller may not see that ARQ. */
  readonly last_arq: ArqUuid | null
  /** Number of the order that the host has not answered yet. */
  readonly order: number | null
  /** Set when an operator withholds the handle. */
  readonly quarantine: DatedNote | null
  readonly cleaning: {
    /**
     * By the policy of its host and the profile of its request. Null: the handle is not cleaned when it is given up.
     */
    readonly due: HostCleaning | null
    /** By the policy of its host alone. Only a host that cleans by itself accepts to be told to clean. */
    readonly policy: HostCleaning | null
    /** The host has been ordered to clean the handle and has not answered yet. */
    readonly underWay: boolean
    /** The evidence of the last cleaning, whether it succeeded or failed; null: there was none. */
    readonly last: Cleaned | null
  }
}
