/**
 * The names of PCI devices as `lspci` prints them, from the file `pci.ids` of the host, for what people read. Nothing
 * is decided by them.
 */
import { messageOf } from '../../vocabulary/errorText.ts'
import { readIfThere } from '../files.ts'
import type { HostIo } from '../driver.ts'
import type { KnownCard } from './knownCards.ts'

/** Where distributions keep the file. */
const PLACES = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids', '/usr/share/pci.ids']

type Ids = { readonly vendor: string; readonly product: string }
const keyOf = ({ vendor, product }: Ids): string => `${vendor}:${product}`

/**
 * Pure. The names of the wanted ids in the text of a `pci.ids`: `Vendor Product`, or `Vendor Device` for a product that
 * the text does not know. Ids of unknown vendors are left out, and lines of any other form are ignored.
 */
const namesIn = (text: string, wanted: readonly Ids[]): ReadonlyMap<string, string> => {
  const vendors = new Map<string, string>()
  const products = new Map<string, string>()
  const [ids, of] = [new Set(wanted.map(keyOf)), new Set(wanted.map(({ vendor }) => vendor))]
  let vendor = ''
  for (const line of text.split('\n')) {
    const top = /^([0-9a-f]{4}) {2}(.*\S)/.exec(line)
    // the list of classes at the end begins with `C`
    if (!line.startsWith('\t') && !line.startsWith('#') && line.trim() !== '') vendor = top?.[1] ?? ''
    if (top) vendors.set(top[1]!, top[2]!)
    if (!of.has(vendor)) continue
    const own = /^\t([0-9a-f]{4}) {2}(.*\S)/.exec(line)
    const key = `${vendor}:${own?.[1] ?? ''}`
    if (own && ids.has(key)) products.set(key, own[2]!)
  }
  return new Map(
    wanted.flatMap((one) => {
      const maker = vendors.get(one.vendor)
      return maker === undefined ? [] : [[keyOf(one), `${maker} ${products.get(keyOf(one)) ?? 'Device'}`] as const]
    }),
  )
}

/** What `namesOf` answers for ids that no file knows. */
const UNKNOWN = 'Device'

/**
 * Looks names up in the file of the host, which is read again only when a card is seen for the first time. `known`:
 * the table, whose name counts for a card that the file has no name for, or that an operator has named.
 */
export const pciNames = (
  known: (ids: Ids) => Pick<KnownCard, 'name' | 'ofOperator'> | null,
): ((io: HostIo, wanted: readonly Ids[]) => Promise<(ids: Ids) => string>) => {
  const found = new Map<string, string>()
  let warnedOf = ''
  /**
   * Null: there is a file, and it cannot be read now. Devices are reported without its names then, and it is tried
   * again.
   */
  const textOf = async (io: HostIo): Promise<string | null> => {
    for (const place of PLACES) {
      try {
        const text = await readIfThere(io, place)
        if (text !== null) return text
      } catch (error) {
        const reason = messageOf(error)
        if (reason !== warnedOf) io.warn('pci_names_unreadable', { path: place, reason })
        warnedOf = reason
        return null
      }
    }
    return ''
  }
  return async (io, wanted) => {
    const now = new Map(found)
    const missing = wanted.filter((one) => !found.has(keyOf(one)))
    if (missing.length > 0) {
      const text = await textOf(io)
      const names = namesIn(text ?? '', missing)
      for (const one of missing) {
        const name = names.get(keyOf(one))
        const row = known(one)
        const vague = name === undefined || name.endsWith(` ${UNKNOWN}`)
        const called = (vague || row?.ofOperator ? row?.name : null) ?? name ?? UNKNOWN
        now.set(keyOf(one), called)
        if (text !== null) found.set(keyOf(one), called)
      }
    }
    return (ids) => now.get(keyOf(ids)) ?? UNKNOWN
  }
}
