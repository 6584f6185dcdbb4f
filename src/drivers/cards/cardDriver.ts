/**
 * A driver of cards that consist of one PCI function each and are handed to a guest as a whole. What it offers is data
 * (`cardKinds.ts`).
 */
import type { ReportedDevice } from '../../hardware.ts'
import type { HostName } from '../../identifiers.ts'
import { formatPciAddress, type PciAddress, pciAddressOf, pciJson } from '../../pci.ts'
import type { Driver, HostIo, LeftOut, Slot } from '../driver.ts'
import { MEASURING, type MeasuringPrograms } from '../programs.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName } from '../names.ts'
import { passedHandle, passThrough } from '../pci/passThrough.ts'
import { type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import type { CardKind, Offer } from './cardKinds.ts'
import { driveNotOffered, driveUser, isDrive } from '../pci/drivesInUse.ts'
import { hostNetwork } from '../pci/ownNetwork.ts'
import type { Lookup } from './knownCards.ts'
import { pciNames } from './pciNames.ts'

export type CardOptions = {
  readonly sysfsRoot: string
  /** Every bind first checks that the device is still present. */
  readonly check: boolean
  readonly known: Lookup
  /** The programs of vendors that tell measurements. */
  readonly measuring?: MeasuringPrograms
  /** Virtual functions are not offered. */
  readonly withoutVfs?: boolean
  /** Functions that this driver leaves to another one. */
  readonly skip?: (address: PciAddress) => boolean
}
type Candidate = { readonly found: PciFunction; readonly offer: Offer; readonly leftOut: string | null }
/** A report's limit for models. */
const MODEL_MAX = 255

const reported = (hostname: HostName, { found, offer }: Candidate, model: string, check: boolean): ReportedDevice => ({
  type: offer.type,
  vendor: found.vendor,
  model: model.slice(0, MODEL_MAX).toWellFormed(),
  stdBoardInfo: offer.stdBoardInfo,
  vendorBoardInfo: offer.vendorBoardInfo,
  controlPath: { type: 'PCI', info: pciJson(found.address) },
  deployables: [
    {
      name: deployableName(hostname, formatPciAddress(found.address)),
      numAccelerators: 1,
      driverName: offer.driverName,
      attributes: attributesOf(offer.resourceClass, offer.traits),
      handles: [passedHandle(found)],
      // what the host uses itself is looked at once more before a guest gets it
      hostWork: check || isDrive(found) || offer.type === 'NIC',
      programmable: false,
    },
  ],
})

/** Why a network card is not offered, in words: the host needs it, or virtual functions of it are in use. */
const networkUse = async (
  io: HostIo,
  sysfsRoot: string,
  all: readonly PciFunction[],
): Promise<(found: PciFunction) => Promise<string | null>> => {
  const needed = await hostNetwork(io, sysfsRoot)
  const divided = new Set(all.flatMap(({ physfn }) => (physfn === null ? [] : [formatPciAddress(physfn)])))
  return async ({ address }) =>
    divided.has(formatPciAddress(address)) ? 'it has virtual functions, which would go away with it' : needed(address)
}

/** What may have come into use since the last look: a drive, or a network card through which the host is reached. */
const refuseUsed = async (
  io: HostIo,
  slot: Slot,
  { kind, sysfsRoot, known }: Pick<CardOptions, 'sysfsRoot' | 'known'> & { readonly kind: CardKind },
): Promise<void> => {
  const pci = pciAddressOf(slot.info)
  if (pci === null) return
  const address = formatPciAddress(pci)
  const own = (await readPciFunctions(io, sysfsRoot)).find((one) => formatPciAddress(one.address) === address)
  if (own === undefined) return
  const user = isDrive(own) ? await driveUser(io, sysfsRoot, pci) : null
  if (user !== null) throw new Error(`slot ${slot.uuid}: the drive is not given to a guest: ${user}`)
  if (kind.offer(own, known(own))?.type !== 'NIC') return
  const reason = await (await hostNetwork(io, sysfsRoot))(pci)
  if (reason !== null) throw new Error(`slot ${slot.uuid}: the host needs the network card: ${reason}`)
}

type CardDriver = Driver & Required<Pick<Driver, 'leftOut' | 'inUse' | 'measure'>>

export const cardDriver = (
  kind: CardKind,
  { sysfsRoot, check, known, measuring = MEASURING, withoutVfs = false, skip }: CardOptions,
): CardDriver => {
  const through = passThrough(sysfsRoot)
  const namesOf = pciNames((ids) => known(ids)?.name ?? null)

  const reasonAgainst = async (io: HostIo, found: PciFunction): Promise<string | null> => {
    if (withoutVfs && found.physfn !== null) return 'it is a virtual function, and gpu_devices.filter_sriov_vfs is set'
    return isDrive(found) ? driveNotOffered(io, sysfsRoot, found.address) : null
  }
  const candidates = async (io: HostIo): Promise<readonly Candidate[]> => {
    const all = await readPciFunctions(io, sysfsRoot)
    const offers = all.flatMap((found) => {
      const offer = kind.offer(found, known(found))
      return offer === null || skip?.(found.address) ? [] : [{ found, offer }]
    })
    const hasNetwork = offers.some(({ offer }) => offer.type === 'NIC')
    const network = hasNetwork ? await networkUse(io, sysfsRoot, all) : async () => null
    const seen: Candidate[] = []
    for (const { found, offer } of offers) {
      const leftOut = (await reasonAgainst(io, found)) ?? (offer.type === 'NIC' ? await network(found) : null)
      seen.push({ found, offer, leftOut })
    }
    return seen
  }

  return {
    name: kind.driver,
    discover: async (io) => {
      const offered = (await candidates(io)).filter(({ leftOut }) => leftOut === null)
      const functions = offered.map(({ found }) => found)
      const nameOf = await namesOf(io, functions)
      through.offer(functions.map(({ address }) => address))
      return offered.map((one) => reported(io.hostname, one, nameOf(one.found), check))
    },
    leftOut: async (io) =>
      (await candidates(io)).flatMap(({ found, leftOut }): readonly LeftOut[] =>
        leftOut === null ? [] : [{ address: formatPciAddress(found.address), reason: leftOut }],
      ),
    prepare: async (io, slot, signal) => {
      await through.prepare(io, slot, signal)
      await refuseUsed(io, slot, { kind, sysfsRoot, known })
    },
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(sysfsRoot, kind.tool?.(measuring)),
  }
}
