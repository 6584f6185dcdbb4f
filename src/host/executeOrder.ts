/** Carries out an order through its driver. Throws what went wrong; `Final` means that trying again cannot help. */
import type { ImageUuid } from '../identifiers.ts'
import type { Driver, HostIo, Slot } from '../drivers/driver.ts'
import { type Tracer, inSpan } from '../trace.ts'
import type { Order } from '../wire/orders.ts'
import type { Section } from './sections.ts'

/** Where bitstream images are found; the control side has a port of the same shape. */
export type Images = {
  readonly find: (
    imageUuid: ImageUuid,
  ) => Promise<
    { readonly found: true; readonly path: string } | { readonly found: false; readonly why: 'unknown' | 'none' }
  >
}

export class Final extends Error {}

export type Tools = {
  readonly drivers: ReadonlyMap<string, Driver>
  readonly io: HostIo
  readonly images: Images
  readonly tracer: Tracer
  /** Discovers the driver's devices; the discovery begins after the call. */
  readonly look: (driver: string) => Promise<Section | null>
}
export type OrderOutcome = {
  readonly bitstreamId?: string
  /** The inventory may look different now. */
  readonly changed: boolean
}

const slotOf = (order: Extract<Order, { readonly handle: unknown }>): Slot => ({
  uuid: order.slot,
  deployable: order.deployable,
  type: order.handle.type,
  info: order.handle.info,
})

const imagePath = async (images: Images, image: string): Promise<string> => {
  const found = await images.find(image)
  if (found.found) return found.path
  throw new Final(found.why === 'none' ? 'no image store is configured on this host' : `there is no image ${image}`)
}

/** The deployable as the driver reports it now; null: it is not there. */
const shown = async ({ look }: Tools, { driver, deployable }: Order) => {
  const section = await look(driver)
  if (section?.status !== 'ok') throw new Error(section?.error ?? `the driver ${driver} is not enabled on this host`)
  const all = section.devices.flatMap(({ deployables }) => deployables)
  return all.find(({ name }) => name === deployable) ?? null
}

const called = (tools: Tools, { driver, trace }: Order, call: string, work: () => Promise<void>): Promise<void> =>
  inSpan(tools.tracer.part('internal', `driver ${call}`, trace, { 'accelerando.driver': driver }), work)

const program = async (
  tools: Tools,
  driver: Driver,
  order: Order,
  image: string,
  signal: AbortSignal,
): Promise<void> => {
  if (driver.program === undefined) throw new Final(`the driver ${driver.name} cannot program`)
  const path = await imagePath(tools.images, image)
  signal.throwIfAborted()
  await called(tools, order, 'program', () => driver.program!(tools.io, order.deployable, path, signal))
}

/** `also`: other slots that a release covers. */
export const carryOut = async (
  tools: Tools,
  order: Order,
  signal: AbortSignal,
  also: readonly Slot[] = [],
): Promise<OrderOutcome> => {
  const driver = tools.drivers.get(order.driver)
  if (driver === undefined) throw new Final(`the driver ${order.driver} is not enabled on this host`)
  signal.throwIfAborted()
  switch (order.type) {
    case 'PrepareSlot': {
      const { bitstream } = order
      // asked afresh: what an earlier report showed may have been programmed over since
      const load = bitstream !== undefined && (await shown(tools, order))?.bitstreamId !== bitstream
      if (load) await program(tools, driver, order, bitstream, signal)
      signal.throwIfAborted()
      await called(tools, order, 'prepare', () => driver.prepare(tools.io, slotOf(order), signal))
      return { changed: load, ...(bitstream === undefined ? {} : { bitstreamId: bitstream }) }
    }
    case 'ReleaseSlot':
      for (const slot of [...also, slotOf(order)])
        await called(tools, order, 'release', () => driver.release(tools.io, slot, signal))
      return { changed: false }
    case 'Program':
      await program(tools, driver, order, order.image, signal)
      return { changed: true, bitstreamId: order.image }
    case 'Probe': {
      const found = await shown(tools, order)
      if (found === null) throw new Error(`the driver ${order.driver} does not show ${order.deployable}`)
      return { changed: true, ...(found.bitstreamId === undefined ? {} : { bitstreamId: found.bitstreamId }) }
    }
  }
}
