/**
 * Carries out an order through its driver. Throws the error of an order that fails; `Final` means that another try
 * cannot help.
 */
import type { ImageUuid } from '../vocabulary/identifiers.ts'
import {
  BadImage,
  type Image,
  type ImageFile,
  type ImageFiles,
  type ImageTerm,
  codedProblem,
  digestIn,
  digestText,
  functionsOf,
  isFinal,
  noImage,
} from '../vocabulary/images.ts'
import { isForAny, misfitOf } from '../vocabulary/imageFits.ts'
import type { Driver, HostIo, Slot } from '../drivers/driver.ts'
import type { LoadedFacts, ReportedDeployable, ReportedDevice, ReportedHandle } from '../vocabulary/hardware.ts'
import { type Tracer, inSpan } from '../vocabulary/trace.ts'
import type { Cleaned } from '../vocabulary/cleaning.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { Loaded } from '../vocabulary/loaded.ts'
import type { Order } from '../wire/orders.ts'
import type { Cleaner } from './cleaning.ts'
import { type Functions, undividable } from './functions.ts'
import type { Section } from './sections.ts'
import { cardsShown, misplaced } from './whereabouts.ts'

export class Final extends Error {}
/**
 * Refuses an order for a card that is not at its place; null: it is. A release is worth another try: the control gives
 * it again when it knows where the card is.
 */
export const refuseMisplaced = ({ type }: Order, reason: string | null): void => {
  if (reason !== null) throw type === 'ReleaseSlot' ? new Error(reason) : new Final(reason)
}
/** The driver has released the slot, and nothing on this host cleans it. */
export class Uncleaned extends Final {}

/** The code by which programs recognize this failure: the card holds another image than the control has recorded. */
const IMAGE_CHANGED = 'image_changed'

export type Tools = {
  readonly drivers: ReadonlyMap<string, Driver>
  readonly io: HostIo
  readonly images: ImageFiles
  readonly tracer: Tracer
  /** Discovers the driver's devices; the discovery begins after the call. */
  readonly look: (driver: string) => Promise<Section | null>
  /**
   * Keeps the description of the functions that the card will have, from the image; called before the card is written.
   */
  readonly keepFunctions: Functions['keep']
  readonly cleaner: Cleaner
  readonly clock: Pick<Clock, 'monotonic'>
}
export type OrderOutcome = {
  readonly bitstreamId?: string
  readonly cleaned?: Cleaned
  readonly loaded?: Loaded
  /** True: the inventory may have changed. */
  readonly changed: boolean
}

const slotOf = (order: Extract<Order, { readonly handle: unknown }>): Slot => ({
  uuid: order.slot,
  deployable: order.deployable,
  type: order.handle.type,
  info: order.handle.info,
  ...('again' in order ? { again: true } : {}),
})

const openImage = async ({ images }: Tools, image: ImageUuid, term: ImageTerm): Promise<ImageFile> => {
  const opened = await images.open(image, term)
  if (opened.found) return opened
  const reason = codedProblem(image, opened)
  throw isFinal(opened) ? new Final(reason) : new Error(reason)
}

type Shown = ReportedDeployable & {
  readonly device: ReportedDevice
  /** The image on the card. A part of a card that reports no image of its own has the image of the card. */
  readonly holds: Pick<ReportedDeployable, 'bitstreamId' | 'bitstream'>
}
const heldIn = (all: readonly ReportedDeployable[], one: ReportedDeployable): Shown['holds'] => {
  if (one.bitstreamId !== undefined) return one
  const others = all.filter((each) => each !== one)
  const above = others.find(({ name }) => name === one.parent)
  return above ? heldIn(others, above) : {}
}
/**
 * Returns the deployable as the driver reports it now, with the vendor of its device; null: the driver does not show
 * it.
 */
const shown = async ({ look }: Tools, { driver, deployable }: Order): Promise<Shown | null> => {
  const section = await look(driver)
  if (section?.status !== 'ok') throw new Error(section?.error ?? `the driver ${driver} is not enabled on this host`)
  for (const device of section.devices) {
    const found = device.deployables.find(({ name }) => name === deployable)
    if (found) return { ...found, device, holds: heldIn(device.deployables, found) }
  }
  return null
}

const shownFor = async (tools: Tools, order: Order) => {
  const now = await shown(tools, order)
  if (now === null) throw new Error(`the driver ${order.driver} does not show ${order.deployable}`)
  return now
}

const called = (tools: Tools, { driver, trace }: Order, call: string, work: () => Promise<void>): Promise<void> =>
  inSpan(tools.tracer.part('internal', `driver ${call}`, trace, { 'accelerando.driver': driver }), work)

type Terms = ImageTerm & {
  /**
   * Returns why a deployable with these handles must not be programmed now; null: it may be. Absent: nothing is
   * prepared on this host.
   */
  readonly refusalToProgram?: ((handles: readonly ReportedHandle[]) => string | null) | undefined
  /** Other slots that a release covers. */
  readonly also: readonly Slot[]
}

/** Checks IMAGE-FITS, FUNCTIONS-4 and FENCE-5 by the deployable as the driver reports it now. */
const refuseToProgram = async (
  tools: Tools,
  order: Order,
  { image }: ImageFile,
  { refusalToProgram }: Terms,
): Promise<void> => {
  if (refusalToProgram === undefined && isForAny(image)) return
  const now = await shownFor(tools, order)
  const set = 'attributes' in order ? (order.attributes ?? {}) : {}
  const attribute = (wanted: string): string | null =>
    now.attributes.find(({ key }) => key === wanted)?.value ?? set[wanted] ?? null
  const hardware = { vendor: now.device.vendor, attribute }
  const misfit =
    misfitOf(image, hardware, order.type === 'Program' ? 'program' : 'bind') ?? undividable(now, now.device, image)
  if (misfit !== null) throw new Final(codedProblem(image.uuid, noImage('unsuitable', misfit)))
  const refusal = refusalToProgram?.(now.handles) ?? null
  if (refusal !== null) throw new Final(refusal)
}

const factsOf = (image: Image): LoadedFacts => {
  const [functionId] = functionsOf(image)
  const { digest } = image
  return { ...(functionId === undefined ? {} : { functionId }), ...(digest && { digest: digestText(digest) }) }
}

/**
 * Whether the image that the card holds is another one than the store has under its id now (IMAGE-4). What cannot be
 * compared counts as the same.
 */
const isReplaced = async (
  { images }: Tools,
  image: ImageUuid,
  { digest, functionId }: LoadedFacts,
  term: ImageTerm,
): Promise<boolean> => {
  const now = digest === undefined ? undefined : await images.compare?.(image, digestIn(digest), term)
  if (now === undefined) return false
  if (!now.found && (now.why === 'unusable' || now.why === 'corrupt')) throw new Final(codedProblem(image, now))
  // the card still holds the image that the store has no more, or cannot read at present
  if (!now.found) return false
  const [does] = functionsOf(now.image)
  return now.isSame === false || does !== functionId
}

const wholeMs = (ms: number): number => Math.max(0, Math.round(ms))
const program = async (tools: Tools, driver: Driver, order: Order, image: ImageUuid, term: Terms): Promise<Loaded> => {
  if (driver.program === undefined) throw new Final(`the driver ${driver.name} cannot program`)
  const { signal } = term
  const { monotonic } = tools.clock
  const begunAt = monotonic()
  const file = await openImage(tools, image, term)
  const fetchedAt = monotonic()
  const { path, close } = file
  try {
    await refuseToProgram(tools, order, file, term)
    signal.throwIfAborted()
    await tools.keepFunctions(order.deployable, file.image)
    const facts = factsOf(file.image)
    await called(tools, order, 'program', () =>
      driver.program!(tools.io, order.deployable, path, signal, facts).catch((error: unknown) => {
        throw error instanceof BadImage
          ? new Final(codedProblem(image, noImage(error.why, error.message)), { cause: error })
          : error
      }),
    )
    return { fetchMs: wholeMs(fetchedAt - begunAt), programMs: wholeMs(monotonic() - fetchedAt) }
  } finally {
    close()
  }
}

/** Makes sure that the card holds the image for which the slot is prepared (IMAGE-2, IMAGE-3, IMAGE-4). */
const imageFor = async (
  tools: Tools,
  driver: Driver,
  order: Extract<Order, { readonly type: 'PrepareSlot' }>,
  term: Terms,
): Promise<OrderOutcome> => {
  const { bitstream, expects } = order
  const wanted = bitstream ?? expects
  if (wanted === undefined) return { changed: false }
  // a new discovery, since the card may have been programmed after an earlier report
  const { bitstreamId: holds, bitstream: facts = {} } = (await shown(tools, order))?.holds ?? {}
  const isOther = holds !== wanted
  if (!isOther && !(await isReplaced(tools, wanted, facts, term))) return { changed: false, bitstreamId: wanted }
  if (bitstream === undefined) {
    const what = isOther
      ? `${holds ?? 'no known image'}, not image ${wanted}`
      : `image ${wanted} as it was before it was replaced in the image store`
    throw new Final(`${IMAGE_CHANGED}: ${order.deployable} holds ${what}`)
  }
  const loaded = await program(tools, driver, order, bitstream, term)
  return { changed: true, bitstreamId: bitstream, loaded }
}

/** Cleans after the release has ended: whatever happens here, the slot is no longer prepared. */
const clean = async (
  { cleaner, tracer }: Tools,
  order: Extract<Order, { readonly type: 'ReleaseSlot' }>,
  signal: AbortSignal,
): Promise<{ readonly cleaned?: Cleaned }> => {
  const { driver, number, trace } = order
  const span = tracer.part('internal', 'cleaning', trace, { 'accelerando.driver': driver })
  const cleaned = await inSpan(span, () => cleaner.clean({ driver, number, slot: slotOf(order) }, signal))
  if (cleaned !== null) return { cleaned }
  if (order.clean)
    throw new Uncleaned(`it has to be cleaned, and this host has neither a command nor a playbook for ${driver}`)
  return {}
}

/** The last discovery may have been before the card was exchanged (ORDERS-7). */
const refuseOtherCard = async ({ io }: Tools, driver: Driver, order: Order): Promise<void> => {
  const { card, deployable } = order
  const there = card ? ((await driver.cardAt?.(io, deployable)) ?? null) : null
  refuseMisplaced(order, misplaced(order, cardsShown([[deployable, there]])))
}

export const executeOrder = async (tools: Tools, order: Order, term: Terms): Promise<OrderOutcome> => {
  const { signal, also } = term
  const driver = tools.drivers.get(order.driver)
  if (driver === undefined) throw new Final(`the driver ${order.driver} is not enabled on this host`)
  signal.throwIfAborted()
  await refuseOtherCard(tools, driver, order)
  switch (order.type) {
    case 'PrepareSlot': {
      const image = await imageFor(tools, driver, order, term)
      signal.throwIfAborted()
      await called(tools, order, 'prepare', () => driver.prepare(tools.io, slotOf(order), signal))
      return image
    }
    case 'ReleaseSlot':
      for (const slot of [...also, slotOf(order)])
        await called(tools, order, 'release', () => driver.release(tools.io, slot, signal))
      return { changed: false, ...(await clean(tools, order, signal)) }
    case 'Program':
      return { changed: true, bitstreamId: order.image, loaded: await program(tools, driver, order, order.image, term) }
    case 'Probe': {
      const found = await shownFor(tools, order)
      return { changed: true, ...(found.bitstreamId === undefined ? {} : { bitstreamId: found.bitstreamId }) }
    }
  }
}
