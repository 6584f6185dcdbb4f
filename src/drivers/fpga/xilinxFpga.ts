/**
 * `xilinx_fpga_driver` (drivers.md 3.4): Alveo cards, which show a management function and a user function. The user
 * partition is programmed through the user function; the shell is left alone.
 *
 * XILINX-1 programming has succeeded when the card itself then shows the UUID of the image;
 * XILINX-2 before the card is written the driver forgets what was loaded, so that an interrupted programming leaves an
 *    unknown state;
 * XILINX-3 guests get the user function only, because whoever has the management function can rewrite the shell of the
 *    card, which the next guest meets. An operator may have both given together (`withManagement`).
 */
import { codeOf, textOf } from '../../vocabulary/errorText.ts'
import type { ReportedDeployable, ReportedDevice } from '../../vocabulary/hardware.ts'
import type { DeployableName, HostName } from '../../vocabulary/identifiers.ts'
import { BadImage } from '../../vocabulary/images.ts'
import { formatPciAddress, type PciAddress, pciJson } from '../../vocabulary/pci.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import { pciNames } from '../cards/pciNames.ts'
import type { Driver, HostIo } from '../driver.ts'
import { cardNow } from '../pci/cards.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { XRT_FOLDER } from '../programs.ts'
import { passedHandle, passThrough } from '../pci/passThrough.ts'
import {
  type AlveoOptions,
  type Card,
  cardsOf,
  isUsable,
  isWithoutXrt,
  NAME,
  VENDOR,
  termsOf,
  unusable,
  userOf,
} from './alveoCards.ts'
import { imageIdOf, type LoadedImage, type LoadedImages, loadedImages, reportedImage } from './loadedImages.ts'
import { readXclbin, XCLBIN_HEAD_BYTES } from './xclbin.ts'

export type XilinxFpgaOptions = AlveoOptions & {
  /** Where the program of XRT is. */
  readonly xrtFolder?: string
}

/** The program of XRT: what `xrt-smi`, which is newer, keeps of the commands for Alveo may not work. */
const TOOLS = ['xbutil', 'xrt-smi']
/** The caller's deadline ends a programming earlier. */
const PROGRAM_MS = 600_000
const MODEL_MAX = 255

const nameOf = (hostname: HostName, { first }: Card): string =>
  deployableName(hostname, formatPciAddress(first.address))

const functionTrait = (id: string): string => traitName('CUSTOM_FPGA_FUNCTION_ID_XILINX', id.replaceAll('-', '_'))

/** Its UUID is all that a card says of the loaded image; what the image does, the image store has said. */
const deployableOf = (hostname: HostName, card: Card, loaded: LoadedImage | undefined): ReportedDeployable => {
  const { first, given, known, isGolden, isGivenAsPair, shows } = card
  const traits = [
    // a group that requires this trait gets two accelerator requests
    ...(isGivenAsPair ? ['CUSTOM_FPGA_XILINX'] : []),
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
    handles: given.map((one) => ({ ...passedHandle(one), ...(isGivenAsPair ? { set: 0 } : {}) })),
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
  { io, sysfsRoot }: { readonly io: HostIo; readonly sysfsRoot: string },
  look: () => Promise<readonly Card[]>,
): Promise<readonly Card[]> => {
  const since = images.writes()
  const cards = await look()
  const showing = cards.map(async (card) => ({
    deployable: nameOf(io.hostname, card),
    card: await cardNow(io, sysfsRoot, formatPciAddress(card.first.address)),
    shows: card.shows ?? '',
    hidden: userOf(card).isForGuests,
  }))
  const shown = await images.shown(io, await Promise.all(showing), since)
  return cards.map((card) => ({ ...card, shows: shown(nameOf(io.hostname, card)) || null }))
}

export const xilinxFpgaDriver = (options: XilinxFpgaOptions): Driver => {
  const { sysfsRoot, known, xrtFolder = XRT_FOLDER } = options
  const through = passThrough(sysfsRoot, (_io, found, all) => termsOf(found, all, options))
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
      const seen = await withLastSeen(images, { io, sysfsRoot }, () => cardsOf(io, options, through.whyNot))
      const cards = seen.filter(({ withheld }) => withheld === null)
      const modelOf = await namesOf(
        io,
        cards.map(({ first }) => first),
      )
      const imageOf = await images.read(io)
      through.offer(cards.flatMap(({ given }): readonly PciAddress[] => given.map(({ address }) => address)))
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
      const { shows, first } = await cardNamed(io, deployable)
      if (shows !== uuid)
        throw new Error(
          `${deployable} does not show image ${uuid} of ${imagePath} after programming, but ${shows ?? 'none'}`,
        )
      const own = await cardNow(io, sysfsRoot, formatPciAddress(first.address))
      await images.note(
        io,
        { deployable, shows: uuid, card: own },
        { image: imageIdOf(imagePath), shows: uuid, ...facts },
      )
    },
  }
}
