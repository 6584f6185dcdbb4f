/** The Alveo cards of a host: their functions, and which of them a guest gets (XILINX-3 of `xilinxFpga.ts`). */
import { formatPciAddress, hexNumber, hexText } from '../../vocabulary/pci.ts'
import type { KnownCard, Lookup } from '../cards/knownCards.ts'
import type { HostIo } from '../driver.ts'
import { readIfThere } from '../files.ts'
import type { RuleOfUse, Terms } from '../pci/ruleOfUse.ts'
import { pciFolder, type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import { imageUuid } from './xclbin.ts'

export type AlveoOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
  /** Guests get the management function too. */
  readonly withManagement?: boolean
}

export const NAME = 'xilinx_fpga_driver'
export const VENDOR = '10ee'
const ACCELERATOR = '1200'
/** The driver of XRT that serves management functions and nothing else. */
const MANAGEMENT_DRIVER = 'xclmgmt'
/** They are loaded by AMI (`ami_tool`), not by XRT. */
const WITHOUT_XRT = ['V80', 'V80P']

export type Card = {
  /** The management function, or the only one. Its address names the card, also while the kernel does not show it. */
  readonly first: PciFunction
  readonly functions: readonly PciFunction[]
  /** Those that a guest gets, together. */
  readonly given: readonly PciFunction[]
  readonly known: KnownCard | null
  /** In factory recovery state: nothing can be done with it. */
  readonly isGolden: boolean
  /** Its kind has two functions. */
  readonly isPair: boolean
  /** A guest gets both of them. */
  readonly isGivenAsPair: boolean
  /** The UUID of the image that the user function shows; null: none, or it is not served by its kernel driver. */
  readonly shows: string | null
  /** Why no guest may have one of its functions; null: guests may. */
  readonly withheld: string | null
}

const slotOf = ({ address }: PciFunction): string => formatPciAddress({ ...address, function: '0' })
/** The function through which the user partition is programmed. */
export const userOf = ({ functions }: Card): PciFunction => functions.at(-1)!
const showsGolden = (row: KnownCard | null): boolean => row?.driver === NAME && row.name.endsWith('golden image')
const isUser = (row: KnownCard | null): boolean => row?.driver === NAME && row.name.endsWith('user function')
/** Its kind has two functions: their ids say so, or its kernel driver where the table does not know the card. */
const arePair = (functions: readonly PciFunction[], known: Lookup): boolean =>
  functions.length > 1 ||
  functions.some((one) => one.driver === MANAGEMENT_DRIVER || isUser(known(one)) || isUser(known(nextProduct(one))))
/** XILINX-3 */
const givenOf = (
  functions: readonly PciFunction[],
  { known, withManagement }: AlveoOptions,
): readonly PciFunction[] => {
  if (withManagement) return functions
  if (functions.length > 1) return functions.slice(-1)
  const isManagement = (one: PciFunction): boolean =>
    showsGolden(known(one)) || (arePair([one], known) && one.address.function === '0' && !isUser(known(one)))
  return functions.filter((one) => !isManagement(one))
}
/** Of a card that should have two functions, one is not there: it is being reset, or was unplugged a moment ago. */
const isHalf = ({ isPair, functions }: Card): boolean => isPair && functions.length < 2
export const isUsable = (card: Card): boolean => !card.isGolden && !isHalf(card)

const shownImage = async (io: HostIo, sysfsRoot: string, { address }: PciFunction): Promise<string | null> => {
  const text = await readIfThere(io, `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/xclbinuuid`)
  return text === null ? null : imageUuid(text)
}

/** The user function of a card has the product id after that of its management function. */
const nextProduct = ({ vendor, product }: PciFunction) => ({
  vendor,
  product: hexText(hexNumber(product)! + 1, 4),
})

/** By slot: the functions of each card. */
const bySlot = (all: readonly PciFunction[], known: Lookup): ReadonlyMap<string, readonly PciFunction[]> =>
  Map.groupBy(
    all.filter(
      (one) =>
        one.vendor === VENDOR &&
        one.class.startsWith(ACCELERATOR) &&
        one.physfn === null &&
        // a card of this vendor that the table gives to another driver is no FPGA
        (known(one)?.driver ?? NAME) === NAME,
    ),
    slotOf,
  )

/**
 * Its ids or its kernel driver say that it is a management function, or a user function beside it does: other cards of
 * this vendor may have several functions, too.
 */
const isManagement = (found: PciFunction, functions: readonly PciFunction[], known: Lookup): boolean => {
  if (found.driver === MANAGEMENT_DRIVER || showsGolden(known(found))) return true
  const { product } = nextProduct(found)
  return (
    !isUser(known(found)) && (isUser(known(nextProduct(found))) || functions.some((one) => one.product === product))
  )
}
const STAYS = 'it is the management function of its card, which stays with the host'
/** Why no driver gives the function to guests, in words; null: it is no management function, or they get those too. */
export const whyKept = (
  found: PciFunction,
  all: readonly PciFunction[],
  { known, withManagement }: Omit<AlveoOptions, 'sysfsRoot'>,
): string | null => {
  if (withManagement || found.vendor !== VENDOR) return null
  const functions = bySlot(all, known).get(slotOf(found)) ?? []
  return functions.includes(found) && isManagement(found, functions, known) ? STAYS : null
}

export const termsOf = (found: PciFunction, all: readonly PciFunction[], options: AlveoOptions): Terms => {
  const functions = bySlot(all, options.known).get(slotOf(found)) ?? []
  const mates = givenOf(functions, options)
  if (!mates.includes(found)) return { kept: functions.includes(found) ? STAYS : null }
  return { mates, above: functions.find((one) => !mates.includes(one)) }
}

export const cardsOf = async (
  io: HostIo,
  options: AlveoOptions,
  whyNotIn: RuleOfUse['whyNot'],
): Promise<readonly Card[]> => {
  const { sysfsRoot, known } = options
  const all = await readPciFunctions(io, sysfsRoot)
  const whyNot = await whyNotIn(io, all)
  const cards: Card[] = []
  for (const functions of bySlot(all, known).values()) {
    const [seen] = functions as [PciFunction, ...PciFunction[]]
    const first = { ...seen, address: { ...seen.address, function: '0' } }
    const row = known(seen)
    const [isPair, given] = [arePair(functions, known), givenOf(functions, options)]
    const [isGolden, isGivenAsPair] = [showsGolden(row), isPair && options.withManagement === true]
    const shows = await shownImage(io, sysfsRoot, functions.at(-1)!)
    let withheld: string | null = null
    for (const one of given) withheld ??= await whyNot(one, { mates: given })
    cards.push({ first, functions, given, known: row, isGolden, isPair, isGivenAsPair, shows, withheld })
  }
  return cards
}

export const isWithoutXrt = ({ known }: Card): boolean =>
  known?.driver === NAME && WITHOUT_XRT.includes(known.family ?? '')
/** Why nothing can be done with the card, in words; null: it can be used. */
export const unusable = (card: Card): string | null => {
  if (card.isGolden) return 'it shows its factory image: it needs a shell'
  if (!isHalf(card)) return null
  return card.given.length > 0
    ? 'only one of its two functions is there'
    : 'only its management function is there, which stays with the host: its user function comes with a shell'
}
