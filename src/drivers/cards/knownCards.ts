/**
 * The PCI cards that are known by their ids: a row says what a card is, the drivers say how such cards are offered.
 * Operators add rows in a file (`cards.id_table`). Pure.
 */
import type { DeviceType } from '../../vocabulary/hardware.ts'
import { hexNumber, hexText } from '../../vocabulary/pci.ts'
import type { Group } from './cardGroup.ts'
import { GROUPS } from './cardRows.ts'

export type KnownCard = {
  /** Four lower-case hex digits each. */
  readonly vendor: string
  readonly product: string
  /** The last product id of a range that begins with `product`; the same where it is a single one. */
  readonly lastProduct: string
  readonly type: DeviceType
  /** Of a row that holds for boards of this subsystem device only, made by the vendor of the card. */
  readonly subsystem?: string
  /** The product family, for traits and for people; null: no family of its own. */
  readonly family: string | null
  /** What people call it, without the vendor. */
  readonly name: string
  /** Of a row that an operator has written: its name counts more than the one in the host's `pci.ids`. */
  readonly ofOperator?: true
  /** Of a virtual function: the product id of its physical function. */
  readonly vfOf: string | null
  /** The entry-point name of the driver that offers it. */
  readonly driver: string
  /** Override the class and traits of the driver. Null, or an empty list: those of the driver apply. */
  readonly resourceClass: string | null
  readonly traits: readonly string[]
  /**
   * The first digits of the PCI class; empty: any. Ids alone identify a card; the class excludes its functions that are
   * no accelerators.
   */
  readonly pciClass: string
  /** Of network cards: it is offered only where a mapping of `nic_devices` names an interface of it. */
  readonly onlyNamed?: boolean
}

/** The driver of cards that have none of their own. */
export const TABLE_DRIVER = 'id_table_driver'

/** Begins the name of a card whose family has no trait. */
const NO_FAMILY = '- '
const card = (
  { vendor, type, driver = TABLE_DRIVER, pciClass = '', ownClass = false, also = {}, onlyNamed = false }: Group,
  id: string,
  name: string,
): KnownCard => {
  const [own = '', vfOf = null] = id.split('<')
  const [ids = '', subsystem] = own.split('.')
  const [product = '', lastProduct = product] = ids.split('-')
  const family = name.startsWith(NO_FAMILY) ? null : name.split(' ', 1)[0]!
  const plain = name.replace(NO_FAMILY, '').replaceAll('_', ' ')
  const resourceClass = ownClass && family ? `CUSTOM_${family}` : null
  const rest = { resourceClass, traits: also[own] ?? [], pciClass, ...(onlyNamed && { onlyNamed }) }
  const only = subsystem === undefined ? {} : { subsystem }
  return { vendor, product, lastProduct, type, family, name: plain, vfOf, driver, ...only, ...rest }
}

/** A virtual function has the odd id after that of its physical one. */
const pairOf = (group: Group, id: string, name: string): readonly KnownCard[] => {
  const vf = hexText(hexNumber(id)! + 1, 4)
  return [card(group, id, name), card(group, `${vf}<${id}`, `${name} VF`)]
}
export const KNOWN_CARDS: readonly KnownCard[] = GROUPS.flatMap((group) =>
  Object.entries(group.rows).flatMap(([ids, name]) =>
    ids.split(' ').flatMap((id) => (group.pairs ? pairOf(group, id, name) : [card(group, id, name)])),
  ),
)

/** The row of a function; null: none. `subsystem`: of its board, where that is made by the vendor of the card. */
export type Lookup = (found: {
  readonly vendor: string
  readonly product: string
  readonly subsystem?: string
}) => KnownCard | null
/**
 * Rows of an operator come before those of the table, single ids before ranges, and a later row of the same ids before
 * an earlier one.
 */
export const lookupIn = (more: readonly KnownCard[] = [], known = KNOWN_CARDS): Lookup => {
  const all = [...known, ...more]
  const keyOf = (vendor: string, product: string, subsystem?: string) => `${vendor}:${product}.${subsystem ?? ''}`
  const own = new Set(more.map(({ vendor, product }) => keyOf(vendor, product)))
  const single = new Map(all.map((one) => [keyOf(one.vendor, one.product, one.subsystem), one]))
  const ranges = all.filter(({ product, lastProduct }) => product !== lastProduct).toReversed()
  return ({ vendor, product, subsystem }) =>
    (own.has(keyOf(vendor, product)) ? undefined : single.get(keyOf(vendor, product, subsystem))) ??
    single.get(keyOf(vendor, product)) ??
    ranges.find((one) => one.vendor === vendor && one.product <= product && product <= one.lastProduct) ??
    null
}
