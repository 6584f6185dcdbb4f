/**
 * Simulated cards that change their places. The driver inside knows each card by the address that it was made for; to
 * the host a card is where it is plugged in now, and its serial number says which one it is.
 */
import { cardOf } from '../../src/vocabulary/card.ts'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { jsonIn } from '../../src/vocabulary/jsonText.ts'
import { type PciAddress, formatPciAddress, pciAddressOf, pciInfo, pciJson } from '../../src/vocabulary/pci.ts'
import { addressInName, atDistance, distanceFrom, movedName } from '../../src/vocabulary/pciMoves.ts'

/** For the driver inside: there is no card at that address. */
export const NO_CARD = 'no card'
/** By the number of the card: the number of its place; null: it is not plugged in. Place `n` is that of card `n`. */
export type Places = readonly (number | null)[]

const baseOf = ({ controlPath }: ReportedDevice): PciAddress => pciAddressOf(jsonIn(controlPath.info))!
type Info = Slot['info']
const movedInfo = (info: Info, from: PciAddress, to: PciAddress): Info => {
  const address = pciAddressOf(info)
  const distance = address && distanceFrom(from, address)
  return distance === null ? info : { ...info, ...pciInfo(atDistance(to, distance)) }
}

/** Says nothing by which a card could be known. */
const nameless = (device: ReportedDevice): ReportedDevice => ({
  ...device,
  stdBoardInfo: null,
  vendorBoardInfo: null,
  card: { kind: {}, marks: {} },
})

/**
 * `devices`: what the driver shows while all cards are plugged in. `isNameless`: cards do not say which ones they are.
 */
export const movingCards = (devices: readonly ReportedDevice[], isNameless = false) => {
  const bases = devices.map(baseOf)
  let places: Places = bases.map((_, card) => card)
  /** Null: there is no card now. */
  const cardIn = (deployable: string): number | null => {
    const address = addressInName(deployable)
    const place = bases.findIndex((base) => address && formatPciAddress(base) === formatPciAddress(address))
    const card = places.indexOf(place)
    return place < 0 || card < 0 ? null : card
  }
  /** The name under which the driver inside knows the card that is there. */
  const inside = (deployable: string): string => {
    const card = cardIn(deployable)
    return card === null ? `${NO_CARD} in ${deployable}` : movedName(deployable, bases[places[card]!]!, bases[card]!)
  }
  const shown = (device: ReportedDevice): ReportedDevice | null => {
    const card = bases.findIndex((base) => formatPciAddress(base) === formatPciAddress(baseOf(device)))
    const place = places[card] ?? null
    if (place === null) return null
    const [from, to] = [bases[card]!, bases[place]!]
    const deployables = device.deployables.map((one) => ({
      ...one,
      name: movedName(one.name, from, to),
      handles: one.handles.map((handle) => ({ ...handle, info: movedInfo(handle.info, from, to) })),
    }))
    const told = isNameless ? nameless(device) : device
    return { ...told, controlPath: { ...device.controlPath, info: pciJson(to) }, deployables }
  }
  /** The same hardware as the driver inside knows it. */
  const slotInside = <One extends Pick<Slot, 'deployable' | 'info'>>(slot: One): One => {
    const card = cardIn(slot.deployable)
    const info = card === null ? slot.info : movedInfo(slot.info, bases[places[card]!]!, bases[card]!)
    return { ...slot, deployable: inside(slot.deployable), info }
  }
  /** The name by which the host knows it; null: its card is not plugged in. */
  const outside = (deployable: string): string | null => {
    const address = addressInName(deployable)
    const card = bases.findIndex((base) => address && formatPciAddress(base) === formatPciAddress(address))
    const place = places[card] ?? null
    return place === null ? null : movedName(deployable, bases[card]!, bases[place]!)
  }
  const around = (driver: SimulatedDriver): Driver => ({
    ...driver,
    discover: async (io) => (await driver.discover(io)).flatMap((device) => shown(device) ?? []),
    prepare: (io, slot, signal) => driver.prepare(io, slotInside(slot), signal),
    release: (io, slot, signal) => driver.release(io, slotInside(slot), signal),
    program: (io, deployable, ...rest) => driver.program(io, inside(deployable), ...rest),
    inUse: async (io) =>
      (await driver.inUse(io)).flatMap((one) => {
        const card = bases.findIndex((base) => pciAddressOf(one.info)?.bus === base.bus)
        const place = places[card] ?? null
        return place === null ? [] : [{ ...one, info: movedInfo(one.info, bases[card]!, bases[place]!) }]
      }),
    measure: async (io, paths, signal) => {
      const cards = paths.flatMap((path) => {
        const place = bases.findIndex((base) => pciJson(base) === path)
        const card = places.indexOf(place)
        return place < 0 || card < 0 ? [] : [{ path, own: pciJson(bases[card]!) }]
      })
      const { devices: measured, ...rest } = await driver.measure(
        io,
        cards.map(({ own }) => own),
        signal,
      )
      const told = measured.flatMap((one) =>
        cards.filter(({ own }) => own === one.controlPath).map(({ path }) => ({ ...one, controlPath: path })),
      )
      return { ...rest, devices: told }
    },
    cardAt: async (_io, deployable) => {
      const card = cardIn(deployable)
      return card === null || isNameless ? null : cardOf(devices[card]!)
    },
  })
  return {
    around,
    inside,
    slotInside,
    outside,
    get places(): Places {
      return places
    },
    plug: (now: Places): void => void (places = now),
  }
}
export type MovingCards = ReturnType<typeof movingCards>
