/**
 * `xilinx_fpga_driver` (drivers.md 3.4): Alveo cards, which show a management function and a user function. Both belong
 * to one accelerator and are given to a guest together. The user partition is programmed through the user function; the
 * shell is left alone.
 *
 * XILINX-1 programming has succeeded when the card itself then shows the UUID of the image;
 * XILINX-2 before the card is written the driver forgets what was loaded, so that an interrupted programming leaves an
 *    unknown state.
 */
import { codeOf, textOf } from '../../errorText.ts'
import type { ReportedDeployable, ReportedDevice } from '../../hardware.ts'
import type { DeployableName, HostName } from '../../identifiers.ts'
import { BadImage } from '../../images.ts'
import { formatPciAddress, hexNumber, hexText, type PciAddress, pciJson } from '../../pci.ts'
import { spacedJson } from '../../spacedJson.ts'
import type { KnownCard, Lookup } from '../cards/knownCards.ts'
import { pciNames } from '../cards/pciNames.ts'
import type { Driver, HostIo } from '../driver.ts'
import { readIfThere } from '../files.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { XRT_FOLDER } from '../programs.ts'
import { passedHandle, passThrough } from '../pci/passThrough.ts'
import type { RuleOfUse } from '../pci/ruleOfUse.ts'
import { pciFolder, type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import { imageIdOf, type LoadedImage, type LoadedImages, loadedImages, reportedImage } from './loadedImages.ts'
import { imageUuid, readXclbin, XCLBIN_HEAD_BYTES } from './xclbin.ts'

export type XilinxFpgaOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
  /** Where the program of XRT is. */
  readonly xrtFolder?: string
}

const NAME = 'xilinx_fpga_driver'
const VENDOR = '10ee'
const ACCELERATOR = '1200'
/** The program of XRT: what `xrt-smi`, which is newer, keeps of the commands for Alveo may not work. */
const TOOLS = ['xbutil', 'xrt-smi']
/** They are loaded by AMI (`ami_tool`), not by XRT. */
const WITHOUT_XRT = ['V80', 'V80P']
/** The caller's deadline ends a programming earlier. */
const PROGRAM_MS = 600_000
const MODEL_MAX = 255

type Card = {
  /** The management function, or the only one. Its address names the card, also while the kernel does not show it. */
  readonly first: PciFunction
  readonly functions: readonly PciFunction[]
  readonly known: KnownCard | null
  /** In factory recovery state: nothing can be done with it. */
  readonly isGolden: boolean
  /** Its kind has two functions. */
  readonly isPair: boolean
  /** The UUID of the image that the user function shows; null: none, or it is not served by its kernel driver. */
  readonly shows: string | null
  /** Why no guest may have one of its functions; null: guests may. */
  readonly withheld: string | null
}

const slotOf = ({ address }: PciFunction): string => formatPciAddress({ ...address, function: '0' })
/** The function through which the user partition is programmed. */
const userOf = ({ functions }: Card): PciFunction => functions.at(-1)!
const isUser = (row: KnownCard | null): boolean => row?.driver === NAME && row.name.endsWith('user function')
/** Of a card that should have two functions, one is not there: it is being reset, or was unplugged a moment ago. */
const isHalf = ({ isPair, functions }: Card): boolean => isPair && functions.length < 2
const isUsable = (card: Card): boolean => !card.isGolden && !isHalf(card)

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

const cardsOf = async (
  io: HostIo,
  { sysfsRoot, known }: XilinxFpgaOptions,
  whyNotIn: RuleOfUse['whyNot'],
): Promise<readonly Card[]> => {
  const all = await readPciFunctions(io, sysfsRoot)
  const whyNot = await whyNotIn(io, all)
  const cards: Card[] = []
  for (const functions of bySlot(all, known).values()) {
    const [seen] = functions as [PciFunction, ...PciFunction[]]
    const first = { ...seen, address: { ...seen.address, function: '0' } }
    const row = known(seen)
    const isPair = functions.length > 1 || isUser(row) || isUser(known(nextProduct(seen)))
    const isGolden = row?.driver === NAME && row.name.endsWith('golden image')
    const shows = await shownImage(io, sysfsRoot, functions.at(-1)!)
    let withheld: string | null = null
    for (const one of functions) withheld ??= await whyNot(one, { mates: functions })
    cards.push({ first, functions, known: row, isGolden, isPair, shows, withheld })
  }
  return cards
}

const isWithoutXrt = ({ known }: Card): boolean => known?.driver === NAME && WITHOUT_XRT.includes(known.family ?? '')
/** Why nothing can be done with the card, in words; null: it can be used. */
const unusable = (card: Card): string | null => {
  if (card.isGolden) return 'it shows its factory image: it needs a shell'
  return isHalf(card) ? 'only one of its two functions is there' : null
}

const nameOf = (hostname: HostName, { first }: Card): string =>
  deployableName(hostname, formatPciAddress(first.address))

const functionTrait = (id: string): string => traitName('CUSTOM_FPGA_FUNCTION_ID_XILINX', id.replaceAll('-', '_'))

/** Its UUID is all that a card says of the loaded image; what the image does, the image store has said. */
const deployableOf = (hostname: HostName, card: Card, loaded: LoadedImage | undefined): ReportedDeployable => {
  const { first, functions, known, isGolden, isPair, shows } = card
  const traits = [
    // a group that requires this trait gets two accelerator requests
    ...(isPair ? ['CUSTOM_FPGA_XILINX'] : []),
    traitName('CUSTOM_FPGA_PRODUCT_ID', first.product),
    ...(known?.family ? [traitName('CUSTOM_FPGA_XILINX', known.family)] : []),
    ...[shows, loaded?.functionId].flatMap((id) => (id ? [functionTrait(id)] : [])),
    ...(known?.traits ?? []),
  ]
  return {
    name: nameOf(hostname, card),
    numAccelerators: 1,
    driverName: 'XILINX',
    attributes: [
      ...attributesOf(known?.resourceClass ?? 'FPGA', traits),
      ...(isGolden ? [{ key: 'state', value: 'golden' }] : []),
    ],
    handles: functions.map((one) => ({ ...passedHandle(one), ...(isPair ? { set: 0 } : {}) })),
    // the host must know under which guests a card must not be written
    hostWork: true,
    programmable: isUsable(card) && !isWithoutXrt(card),
    ...reportedImage(loaded),
  }
}

const deviceOf = (card: Card, model: string, one: ReportedDeployable): ReportedDevice => ({
  type: 'FPGA',
  vendor: VENDOR,
  model: model.slice(0, MODEL_MAX).toWellFormed(),
  stdBoardInfo: spacedJson({ product_id: card.first.product, controller: 'Processing accelerators' }),
  vendorBoardInfo: spacedJson({ vendor_info: 'fpga_vb_info' }),
  controlPath: { type: 'PCI', info: pciJson(card.first.address) },
  deployables: [one],
  ...(isUsable(card) ? {} : { stub: true }),
})

/** Throws when XRT is not installed. */
const toolIn = async (io: HostIo, folder: string): Promise<string> => {
  const there = await io.list(folder).catch((error: unknown): readonly string[] => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  const name = TOOLS.find((one) => there.includes(one))
  if (name === undefined)
    throw new Error(
      `${folder}: has none of ${TOOLS.join(', ')}; is XRT installed, and does fpga.xrt_folder say where its programs are?`,
    )
  return `${folder}/${name}`
}

const headerOf = async (io: HostIo, imagePath: string): Promise<ReturnType<typeof readXclbin>> => {
  const head = await io.head(imagePath, XCLBIN_HEAD_BYTES)
  try {
    return readXclbin(head)
  } catch (error) {
    throw new BadImage('unusable', `${imagePath}: ${textOf(error)}`)
  }
}

/** While a guest has the user function, the card does not say what is loaded. */
const withLastSeen = async (
  images: LoadedImages,
  io: HostIo,
  look: () => Promise<readonly Card[]>,
): Promise<readonly Card[]> => {
  const since = images.writes()
  const cards = await look()
  const showing = cards.map((card) => ({
    deployable: nameOf(io.hostname, card),
    shows: card.shows ?? '',
    hidden: userOf(card).isForGuests,
  }))
  const shown = await images.shown(io, showing, since)
  return cards.map((card) => ({ ...card, shows: shown(nameOf(io.hostname, card)) || null }))
}

export const xilinxFpgaDriver = (options: XilinxFpgaOptions): Driver => {
  const { sysfsRoot, known, xrtFolder = XRT_FOLDER } = options
  const through = passThrough(sysfsRoot, (_io, found, all) => ({ mates: bySlot(all, known).get(slotOf(found)) ?? [] }))
  const images = loadedImages(NAME)
  const namesOf = pciNames(known)
  const cardNamed = async (io: HostIo, deployable: DeployableName): Promise<Card> => {
    const card = (await cardsOf(io, options, through.whyNot)).find((one) => nameOf(io.hostname, one) === deployable)
    if (card === undefined) throw new Error(`${io.hostname} has no ${deployable}`)
    const why = unusable(card) ?? (isWithoutXrt(card) ? 'it is loaded by AMI (ami_tool), not by XRT' : null)
    if (why !== null) throw new Error(`${deployable} cannot be programmed: ${why}`)
    return card
  }
  return {
    name: NAME,
    discover: async (io) => {
      const seen = await withLastSeen(images, io, () => cardsOf(io, options, through.whyNot))
      const cards = seen.filter(({ withheld }) => withheld === null)
      const modelOf = await namesOf(
        io,
        cards.map(({ first }) => first),
      )
      const imageOf = await images.read(io)
      through.offer(cards.flatMap(({ functions }): readonly PciAddress[] => functions.map(({ address }) => address)))
      return cards.map((card) => {
        const loaded = imageOf(nameOf(io.hostname, card), card.shows ?? '')
        return deviceOf(card, modelOf(card.first), deployableOf(io.hostname, card, loaded))
      })
    },
    leftOut: async (io) =>
      (await cardsOf(io, options, through.whyNot)).flatMap((card) => {
        const reason = unusable(card) ?? card.withheld
        return reason === null ? [] : [{ address: formatPciAddress(card.first.address), reason }]
      }),
    prepare: through.prepare,
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(sysfsRoot),
    program: async (io, deployable, imagePath, signal, facts = {}) => {
      signal.throwIfAborted()
      const card = await cardNamed(io, deployable)
      const { uuid } = await headerOf(io, imagePath)
      const tool = await toolIn(io, xrtFolder)
      signal.throwIfAborted()
      await images.forget(io, deployable)
      const args = ['program', '--device', formatPciAddress(userOf(card).address), '--user', imagePath]
      await io.change(deployable, tool, args, PROGRAM_MS, signal)
      const { shows } = await cardNamed(io, deployable)
      if (shows !== uuid)
        throw new Error(
          `${deployable} does not show image ${uuid} of ${imagePath} after programming, but ${shows ?? 'none'}`,
        )
      await images.note(io, deployable, { image: imageIdOf(imagePath), shows: uuid, ...facts }, uuid)
    },
  }
}
