/**
 * The PCI cards that are known by their ids: a row says what a card is, the drivers say how such cards are offered.
 * Operators add rows in a file (`cards.id_table`). Pure.
 */
import type { DeviceType } from '../../hardware.ts'
import { type Group, GROUPS } from './cardRows.ts'

export type KnownCard = {
  /** Four lower-case hex digits each. */
  readonly vendor: string
  readonly product: string
  /** The last product id of a range that begins with `product`; the same where it is a single one. */
  readonly lastProduct: string
  readonly type: DeviceType
  /** The product family, for traits and for people; null: no family of its own. */
  readonly family: string | null
  /** What people call it, without the vendor. */
  readonly name: string
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
}

/** The driver of cards that have none of their own. */
export const TABLE_DRIVER = 'id_table_driver'

const card = (
  { vendor, type, driver = TABLE_DRIVER, pciClass = '', ownClass = false }: Group,
  id: string,
  name: string,
): KnownCard => {
  const [own = '', vfOf = null] = id.split('<')
  const [product = '', lastProduct = product] = own.split('-')
  // an id that stands for two products has no family
  const family = name.includes(' / ') ? null : name.split(' ', 1)[0]!
  const plain = name.replaceAll('_', ' ')
  const rest = { resourceClass: ownClass && family ? `CUSTOM_${family}` : null, traits: [], pciClass }
  return { vendor, product, lastProduct, type, family, name: plain, vfOf, driver, ...rest }
}

export const KNOWN_CARDS: readonly KnownCard[] = GROUPS.flatMap((group) =>
  Object.entries(group.rows).flatMap(([ids, name]) => ids.split(' ').map((id) => card(group, id, name))),
)

/** The row of a function; null: none. */
export type Lookup = (found: { readonly vendor: string; readonly product: string }) => KnownCard | null
/**
 * Rows of an operator come before those of the table, single ids before ranges, and a later row of the same ids before
 * an earlier one.
 */
export const lookupIn = (more: readonly KnownCard[] = [], known = KNOWN_CARDS): Lookup => {
  const all = [...known, ...more]
  const single = new Map(all.map((one) => [`${one.vendor}:${one.product}`, one]))
  const ranges = all.filter(({ product, lastProduct }) => product !== lastProduct).toReversed()
  return ({ vendor, product }) =>
    single.get(`${vendor}:${product}`) ??
    ranges.find((one) => one.vendor === vendor && one.product <= product && product <= one.lastProduct) ??
    null
}
