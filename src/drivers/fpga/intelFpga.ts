/**
 * `intel_fpga_driver` (drivers.md 3.2): Intel's FPGA cards. The card is a device with one deployable; its attach
 * handles are the virtual functions and, of OFS boards, the further physical ones that are kept for guests; or the
 * physical one where there are neither. `fpgaconf` programs its region.
 *
 * INTEL-1 an image is written only when its header names the type of the card's region, and the function that the image
 *    store says it has;
 * INTEL-2 programming has succeeded when the card itself then shows the functions that the image holds; the exit status
 *    alone proves nothing;
 * INTEL-3 before the card is written the driver forgets what was loaded, so that an interrupted programming leaves an
 *    unknown state.
 */
import type { LoadedFacts, ReportedDevice } from '../../vocabulary/hardware.ts'
import type { DeployableName, HostName } from '../../vocabulary/identifiers.ts'
import { BadImage } from '../../vocabulary/images.ts'
import { formatPciAddress, hexNumber, type PciAddress, pciJson } from '../../vocabulary/pci.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import type { KnownCard, Lookup } from '../cards/knownCards.ts'
import type { Driver, HostIo, LeftOut } from '../driver.ts'
import { readIfThere } from '../files.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { FPGACONF } from '../programs.ts'
import { cardNow } from '../pci/cards.ts'
import { virtualOf } from '../pci/inUse.ts'
import { passedHandle, passThrough } from '../pci/passThrough.ts'
import type { RuleOfUse } from '../pci/ruleOfUse.ts'
import { pciFolder, type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import { GBS_HEAD_BYTES, plainId, readGbs } from './gbs.ts'
import { type FpgaPart, readFpgaPart } from './intelSysfs.ts'
import { imageIdOf, type LoadedImage, type LoadedImages, loadedImages, reportedImage } from './loadedImages.ts'

export type IntelFpgaOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
  /** The program of the OPAE SDK. */
  readonly fpgaconf?: string
}
const NAME = 'intel_fpga_driver'
/** The caller's deadline ends a programming earlier. */
const PROGRAM_MS = 600_000

type Card = {
  readonly pf: PciFunction
  readonly known: KnownCard | null
  readonly vfs: readonly PciFunction[]
  /** Of OFS boards: their other accelerators. */
  readonly further: readonly PciFunction[]
  readonly own: FpgaPart
  /** Of all functions of the card. */
  readonly functions: readonly string[]
  /** What guests get: its functions for guests, or the card itself, without what no guest may have. */
  readonly given: readonly PciFunction[]
  readonly withheld: readonly LeftOut[]
}

const isCard = (found: PciFunction, known: KnownCard | null, part: FpgaPart): boolean =>
  found.physfn === null && (known?.driver === NAME ? known.vfOf === null : found.vendor === '8086' && part.served)

/** Of boards that are made by the vendor of the card, which tell them apart. */
const subsystemOf = async (io: HostIo, sysfsRoot: string, { address, vendor }: PciFunction) => {
  const folder = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`
  const read = async (file: string) =>
    hexNumber(((await readIfThere(io, `${folder}/${file}`)) ?? '').trim())
      ?.toString(16)
      .padStart(4, '0')
  const subsystem = (await read('subsystem_vendor')) === vendor ? await read('subsystem_device') : undefined
  return subsystem === undefined ? {} : { subsystem }
}
const slotOf = ({ address }: PciFunction): string => formatPciAddress({ ...address, function: '0' })
/** OFS boards show their accelerators as further functions, beside the one that is served or comes first. */
const isBesides = ({ pf, own }: Pick<Card, 'pf' | 'own'>, others: readonly Pick<Card, 'pf' | 'own'>[]): boolean =>
  !own.served &&
  others.some(
    (one) => slotOf(one.pf) === slotOf(pf) && (one.own.served || one.pf.address.function < pf.address.function),
  )

const OFS = { vendor: '8086', product: 'bcce' }
/** Why no entry for a kind of function takes this one, in words; null: it does not program others of its board. */
export const whyProgramming = (found: PciFunction, all: readonly PciFunction[]): string | null => {
  const isOfs = ({ vendor, product }: PciFunction): boolean => vendor === OFS.vendor && product === OFS.product
  const isFirst = isOfs(found) && found.address.function === '0'
  return isFirst && all.some((one) => one !== found && isOfs(one) && slotOf(one) === slotOf(found))
    ? 'its card is programmed through it, so it stays with the host unless its entry has "mode": "pf"'
    : null
}

/** Of a further function: its virtual ones, or itself, where somebody has kept it for guests. */
const partsOf = (pf: PciFunction, all: readonly PciFunction[]): readonly PciFunction[] => {
  const vfs = virtualOf(pf, all)
  return vfs.length > 0 ? vfs : [pf].filter(({ isForGuests }) => isForGuests)
}

/** By the table, and what the kernel's FPGA driver serves although the table does not know it. */
const cardsOf = async (
  io: HostIo,
  { sysfsRoot, known }: IntelFpgaOptions,
  whyNotIn: RuleOfUse['whyNot'],
): Promise<readonly Card[]> => {
  const all = await readPciFunctions(io, sysfsRoot)
  const whyNot = await whyNotIn(io, all)
  const found: Pick<Card, 'pf' | 'own'>[] = []
  for (const pf of all) {
    const own = await readFpgaPart(io, sysfsRoot, pf.address)
    if (isCard(pf, known(pf), own)) found.push({ pf, own })
  }
  const cards: Card[] = []
  const [besides, first] = [found.filter((one) => isBesides(one, found)), found.filter((one) => !isBesides(one, found))]
  for (const { pf, own } of first) {
    const vfs = virtualOf(pf, all)
    const further = besides.filter((one) => slotOf(one.pf) === slotOf(pf)).flatMap((one) => partsOf(one.pf, all))
    const forGuests = [...vfs, ...further]
    const parts = await Promise.all(vfs.map((vf) => readFpgaPart(io, sysfsRoot, vf.address)))
    const functions = [...new Set([own, ...parts].flatMap((part) => part.functions))].toSorted()
    const given: PciFunction[] = []
    const withheld: LeftOut[] = []
    for (const one of forGuests.length > 0 ? forGuests : [pf]) {
      const reason = await whyNot(one)
      if (reason === null) given.push(one)
      else withheld.push({ address: formatPciAddress(one.address), reason })
    }
    const row = known({ ...pf, ...(await subsystemOf(io, sysfsRoot, pf)) })
    cards.push({ pf, known: row, vfs, further, own, functions, given, withheld })
  }
  return cards
}

const functionsIn = ({ functions }: Card): string => functions.join(',')
/** What the card shows of what is loaded: functions, in the types of region that the shell has. */
const showsOf = (card: Card): string => `${card.own.regions.join(',')}/${functionsIn(card)}`

const traitsOf = ({ known, own, functions }: Card): readonly string[] =>
  own.served
    ? [
        'CUSTOM_FPGA_INTEL',
        ...(known?.family ? [traitName('CUSTOM_FPGA_INTEL', known.family)] : []),
        ...functions.map((id) => traitName('CUSTOM_FPGA_FUNCTION_ID_INTEL', id)),
        ...own.regions.map((id) => traitName('CUSTOM_FPGA_REGION_INTEL', id)),
        ...(known?.traits ?? []),
      ]
    : []

const nameOf = (hostname: HostName, { pf }: Card): string => deployableName(hostname, formatPciAddress(pf.address))

const reported = (hostname: HostName, card: Card, loaded: LoadedImage | undefined): ReportedDevice => {
  const { pf, known, own, given } = card
  const [region, ...others] = own.regions
  return {
    type: 'FPGA',
    vendor: `0x${pf.vendor}`,
    model: 'miss_model_info',
    stdBoardInfo: spacedJson({ product_id: `0x${pf.product}` }),
    vendorBoardInfo: 'miss_vb_info',
    controlPath: { type: 'PCI', info: pciJson(pf.address) },
    deployables: [
      {
        name: nameOf(hostname, card),
        numAccelerators: given.length,
        driverName: 'intel',
        attributes: [
          ...attributesOf(known?.resourceClass ?? 'FPGA', traitsOf(card)),
          ...(region !== undefined && others.length === 0 ? [{ key: 'region_uuid', value: region }] : []),
        ],
        handles: given.map(passedHandle),
        // the host must know under which guests a region must not be written
        hostWork: true,
        // a board without a region has nothing that an image could be written to
        programmable: !own.served || own.regions.length > 0,
        ...reportedImage(loaded),
      },
    ],
    ...(own.served ? {} : { stub: true }),
  }
}

const fpgaconfArgs = (card: Card, all: readonly Card[], image: string): readonly string[] => {
  const { domain, bus, device, function: fn } = card.pf.address
  const same = ({ pf: { address } }: Card) =>
    address.bus === bus && address.device === device && address.function === fn
  // older releases of the program do not know segments, so it is given only where it tells two cards apart
  const segment = Number.parseInt(domain, 16) !== 0 || all.filter(same).length > 1 ? ['--segment', `0x${domain}`] : []
  return [...segment, '--bus', `0x${bus}`, '--device', `0x${device}`, '--function', `0x${fn}`, image]
}

/** While a guest has a virtual function, the card does not say what is loaded. */
const withLastSeen = async (
  images: LoadedImages,
  { io, sysfsRoot }: { readonly io: HostIo; readonly sysfsRoot: string },
  look: () => Promise<readonly Card[]>,
): Promise<readonly Card[]> => {
  const since = images.writes()
  const cards = await look()
  const showing = cards.map(async (card) => ({
    deployable: nameOf(io.hostname, card),
    card: await cardNow(io, sysfsRoot, formatPciAddress(card.pf.address)),
    shows: functionsIn(card),
    hidden: card.vfs.some(({ isForGuests }) => isForGuests),
  }))
  const shown = await images.shown(io, await Promise.all(showing), since)
  return cards.map((card) => ({ ...card, functions: shown(nameOf(io.hostname, card)).split(',').filter(Boolean) }))
}

export const intelFpgaDriver = (options: IntelFpgaOptions): Driver => {
  const { sysfsRoot, fpgaconf = FPGACONF } = options
  const through = passThrough(sysfsRoot)
  const images = loadedImages(NAME)

  const cardNamed = async (
    io: HostIo,
    deployable: DeployableName,
  ): Promise<{ readonly card: Card; readonly all: readonly Card[] }> => {
    const all = await cardsOf(io, options, through.whyNot)
    const card = all.find((one) => nameOf(io.hostname, one) === deployable)
    if (card === undefined) throw new Error(`${io.hostname} has no ${deployable}`)
    if (!card.own.served)
      throw new Error(`${deployable}: no FPGA driver of the kernel serves ${formatPciAddress(card.pf.address)}`)
    return { card, all }
  }

  return {
    name: NAME,
    discover: async (io) => {
      const cards = await withLastSeen(images, { io, sysfsRoot }, () => cardsOf(io, options, through.whyNot))
      const imageOf = await images.read(io)
      through.offer(cards.flatMap(({ given }): readonly PciAddress[] => given.map(({ address }) => address)))
      return cards.map((card) => reported(io.hostname, card, imageOf(nameOf(io.hostname, card), showsOf(card))))
    },
    leftOut: async (io) =>
      (await cardsOf(io, options, through.whyNot)).flatMap(({ pf, vfs, further, own, withheld }) => {
        const address = formatPciAddress(pf.address)
        if (!own.served) return [{ address, reason: 'no FPGA driver of the kernel serves it' }]
        return [
          ...(vfs.length > 0 ? [{ address, reason: 'its virtual functions are offered instead' }] : []),
          ...(vfs.length === 0 && further.length > 0
            ? [{ address, reason: 'its functions for guests are offered instead' }]
            : []),
          ...withheld,
        ]
      }),
    prepare: through.prepare,
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(options.sysfsRoot),
    program: async (io, deployable, imagePath, signal, facts = {}) => {
      signal.throwIfAborted()
      const { card, all } = await cardNamed(io, deployable)
      const functions = functionsFor(card, { deployable, imagePath }, await io.head(imagePath, GBS_HEAD_BYTES), facts)
      signal.throwIfAborted()
      await images.forget(io, deployable)
      await io.change(deployable, fpgaconf, fpgaconfArgs(card, all, imagePath), PROGRAM_MS, signal)
      const after = (await cardNamed(io, deployable)).card
      const missing = functions.filter((id) => !after.functions.includes(id))
      if (missing.length > 0)
        throw new Error(
          `${deployable} does not show function ${missing.join(', ')} of ${imagePath} after programming, but ${after.functions.join(', ') || 'none'}`,
        )
      const own = await cardNow(io, sysfsRoot, formatPciAddress(after.pf.address))
      const loaded = { image: imageIdOf(imagePath), shows: showsOf(after), ...facts }
      await images.note(io, { deployable, shows: functionsIn(after), card: own }, loaded)
    },
  }
}

/** The functions of the image that is to be written into the card; throws when the card must not get it (INTEL-1). */
const functionsFor = (
  card: Card,
  { deployable, imagePath }: { readonly deployable: DeployableName; readonly imagePath: string },
  head: Uint8Array,
  { functionId = '' }: LoadedFacts,
): readonly string[] => {
  const { region, functions } = headerOf(head, imagePath)
  if (!card.own.regions.includes(region))
    throw new BadImage(
      'unsuitable',
      `${imagePath} is made for a region of type ${region}, and ${deployable} has ${card.own.regions.join(', ') || 'none'}`,
    )
  const told = plainId(functionId)
  // other texts are no ids of functions on a card of this kind
  if (/^[0-9a-f]{32}$/.test(told) && !functions.includes(told))
    throw new BadImage(
      'unusable',
      `its description says function ${functionId}, and its header holds ${functions.join(', ')}`,
    )
  return functions
}
const headerOf = (head: Uint8Array, imagePath: string): ReturnType<typeof readGbs> => {
  try {
    return readGbs(head)
  } catch (error) {
    throw new BadImage('unusable', `${imagePath}: ${(error as Error).message}`)
  }
}
