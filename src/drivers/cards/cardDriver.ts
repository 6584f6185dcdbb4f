/**
 * A driver of cards that consist of one PCI function each and are handed to a guest as a whole. What it offers is data
 * (`cardKinds.ts`).
 */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import { formatPciAddress, type PciAddress, pciJson } from '../../vocabulary/pci.ts'
import type { Driver, HostIo, LeftOut } from '../driver.ts'
import { MEASURING, type MeasuringPrograms } from '../programs.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName } from '../names.ts'
import { passedHandle, passThrough } from '../pci/passThrough.ts'
import { type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import type { CardKind, Offer } from './cardKinds.ts'
import type { Lookup } from './knownCards.ts'
import { pciNames } from './pciNames.ts'

export type CardOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
  /** The programs of vendors that tell measurements. */
  readonly measuring?: MeasuringPrograms
  /** Functions that this driver leaves to another one. */
  readonly skip?: (address: PciAddress) => boolean
}
type Candidate = { readonly found: PciFunction; readonly offer: Offer; readonly leftOut: string | null }
/** A report's limit for models. */
const MODEL_MAX = 255

const reported = (hostname: HostName, { found, offer }: Candidate, model: string): ReportedDevice => ({
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
      // whether it may be given away is looked at once more before a guest gets it
      hostWork: true,
      programmable: false,
    },
  ],
})

type CardDriver = Driver & Required<Pick<Driver, 'leftOut' | 'inUse' | 'measure'>>

export const cardDriver = (
  kind: CardKind,
  { sysfsRoot, known, measuring = MEASURING, skip }: CardOptions,
): CardDriver => {
  const through = passThrough(sysfsRoot)
  const namesOf = pciNames(known)

  const candidates = async (io: HostIo): Promise<readonly Candidate[]> => {
    const all = await readPciFunctions(io, sysfsRoot)
    const whyNot = await through.whyNot(io, all)
    const seen: Candidate[] = []
    for (const found of all) {
      const offer = kind.offer(found, known(found))
      if (offer !== null && !skip?.(found.address)) seen.push({ found, offer, leftOut: await whyNot(found) })
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
      return offered.map((one) => reported(io.hostname, one, nameOf(one.found)))
    },
    leftOut: async (io) =>
      (await candidates(io)).flatMap(({ found, leftOut }): readonly LeftOut[] =>
        leftOut === null ? [] : [{ address: formatPciAddress(found.address), reason: leftOut }],
      ),
    prepare: through.prepare,
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(sysfsRoot, kind.tool?.(measuring)),
  }
}
