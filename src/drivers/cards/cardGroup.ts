/** The short form in which the cards that are known by their PCI ids are written down. */
import type { DeviceType } from '../../vocabulary/hardware.ts'

/**
 * `ids: name`, several ids with blanks between them. A virtual function is written `id<of`, a range `first-last`, and
 * boards of one subsystem device `id.subsystem`.
 */
type Rows = Readonly<Record<string, string>>
export type Group = {
  readonly vendor: string
  readonly type: DeviceType
  readonly driver?: string
  readonly pciClass?: string
  /** They are another kind of hardware than their type says: each family has a resource class of its own. */
  readonly ownClass?: boolean
  /** Further traits, by id. */
  readonly also?: Readonly<Record<string, readonly string[]>>
  /** Each card has virtual functions with the id after its own. */
  readonly pairs?: boolean
  /** They are offered only where a mapping of `nic_devices` names an interface of them. */
  readonly onlyNamed?: boolean
  /**
   * Family and rest of the name, with a blank between them; a family of several words has `_` for the blanks. A name
   * that begins with `- ` has no family.
   */
  readonly rows: Rows
}
