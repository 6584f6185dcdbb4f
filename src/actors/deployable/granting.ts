/**
 * The rules by which a deployable refuses to grant a handle, as a table, in the order in which they are judged. A grant
 * is refused by the first rule that applies; an explanation of a refusal lists all of them. Pure.
 */
import type { HandleUuid, ImageUuid } from '../../vocabulary/identifiers.ts'
import { openClaims } from '../../vocabulary/attachedFunctions.ts'
import { type Decision, accept, refuse } from '../runtime/decider.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import { mayWrite } from './image.ts'
import { orderFor } from './orders.ts'
import { type Deployable, type SlotHandle, busy, takenHandles } from './state.ts'
import { type Mates, handleFor, partOf } from './units.ts'

type GrantRequest = Pick<
  Extract<DeployableCommand, { type: 'Grant' }>,
  'arq' | 'bitstream' | 'handle' | 'mates' | 'heldBelow'
>
type Found = NonNullable<ReturnType<typeof handleFor>>

export const NOT_PROGRAMMABLE = 'it cannot be programmed'
export const PROGRAMMED_NOW = 'it is being programmed'
/** The host refuses programming under the same condition (FENCE-5). */
export const NOT_RELEASED =
  'its host may still have a quarantined handle of it prepared, so it cannot be programmed now'
export const WITHHELD_BELOW =
  'a handle of it is quarantined, so its root cannot be programmed now; release the handle first'
export const notReleased = ({ handles }: Deployable): boolean =>
  Object.values(handles).some(({ state, prepared }) => state === 'quarantined' && prepared)

export const DIVIDED =
  'the image that it holds gave it functions of their own, so no bind replaces it: an operator has to program it'

type Shares = (handle: SlotHandle) => boolean
/**
 * Whether an order most likely only compares the card with a recorded image. If it programs the card all the same, the
 * host's fence protects other slots.
 */
const onlyCompared = (held: Deployable, image: ImageUuid | undefined, asked: GrantRequest): boolean =>
  image === held.bitstreamId && (held.hostWork || image === asked.bitstream)
/**
 * While a preparation programs an image, the region is granted only to requests that wait for the same load (Q6). The
 * first handle of another load.
 */
const loading = (held: Deployable, asked: GrantRequest): SlotHandle | undefined =>
  Object.values(held.handles).find(
    (handle) =>
      handle.pending?.type === 'PrepareSlot' &&
      mayWrite(handle.pending) &&
      !onlyCompared(held, handle.pending.bitstream, asked) &&
      !sharing(asked.bitstream)(handle),
  )
/**
 * Selects the handles for which the same image is being loaded, for whomever or for mates only: the host loads it once
 * for all of them, and only compares the card with it for those after the first.
 */
const sharing =
  (bitstream: ImageUuid | null, mates: Mates | null = null): Shares =>
  ({ arq, pending }) =>
    arq !== null &&
    (mates === null || mates.includes(arq)) &&
    pending?.type === 'PrepareSlot' &&
    pending.bitstream === bitstream
const beingProgrammed = (held: Deployable, asked: GrantRequest): string | null => {
  if (held.program) return PROGRAMMED_NOW
  const other = loading(held, asked)
  if (other === undefined) return null
  const isMate = other.arq !== null && other.arq !== asked.arq && matesOf(asked).includes(other.arq)
  return isMate ? 'another request of the same bind asks for another image on it' : PROGRAMMED_NOW
}

/** The image that must be loaded before the grant; null: none is asked for, or the region holds it already. */
const imageToLoad = ({ bitstreamId }: Deployable, { bitstream }: Pick<GrantRequest, 'bitstream'>): ImageUuid | null =>
  bitstream === bitstreamId ? null : bitstream
const matesOf = ({ arq, mates = [arq] }: GrantRequest): Mates => mates

export const GRANT_RULES = [
  'device_disabled',
  'device_failing',
  'device_missing',
  'being_programmed',
  'not_programmable',
  'in_use',
  'not_released',
  'divided',
  'no_free_handle',
  'whole_unit',
] as const
export type GrantRule = (typeof GRANT_RULES)[number]
/** The reason why a rule forbids the grant; null: it does not. */
type Judge = (held: Deployable, asked: GrantRequest) => string | null
/** The rules that do not concern single handles. */
const OF_THE_WHOLE: Readonly<Record<Exclude<GrantRule, 'no_free_handle' | 'whole_unit'>, Judge>> = {
  device_disabled: ({ status }) => (status === 'maintaining' ? 'its device is in maintenance' : null),
  device_failing: ({ failing }) => (failing === undefined ? null : `its device is failing: ${failing}`),
  device_missing: ({ presence }) => (presence === 'present' ? null : `its device is ${presence}`),
  being_programmed: beingProgrammed,
  not_programmable: (held, asked) => (imageToLoad(held, asked) && !held.programmable ? NOT_PROGRAMMABLE : null),
  in_use: (held, asked) => {
    if (!imageToLoad(held, asked)) return null
    if (busy(held, sharing(asked.bitstream))) return 'another request uses it, so it cannot be programmed now'
    return asked.heldBelow === 'in_use' ? 'another request uses a part of it, so it cannot be programmed now' : null
  },
  not_released: (held, asked) => {
    if (!imageToLoad(held, asked)) return null
    if (notReleased(held)) return NOT_RELEASED
    return asked.heldBelow === 'not_released' ? 'a part of it is quarantined, so it cannot be programmed now' : null
  },
  divided: (held, asked) => (imageToLoad(held, asked) && held.nodes > 0 ? DIVIDED : null),
}

/** A free handle whose PCI function nobody has, neither by itself nor as a part of another function (data-model R7). */
const freeHandle = (held: Deployable, mates: Mates, wanted?: HandleUuid): Found | undefined => {
  const handles = Object.values(held.handles)
  const taken = openClaims()
  // only in these cases can two handles of a deployable attach the same hardware
  if (handles.some(({ physfn, unseen }) => physfn !== undefined || unseen)) taken.add('taken', takenHandles(held))
  const isFree = (one: SlotHandle): boolean => one.state === 'free' && taken.against('free', [one]) === null
  if (wanted === undefined) return handleFor(handles, mates, isFree)
  const handle = held.handles[wanted]
  return handle && isFree(handle) ? { handle, unit: [handle] } : undefined
}

/** Whether a handle is free for the next of these requests; rules about the whole deployable are not checked. */
export const hasFree = (held: Deployable, mates: Mates): boolean => freeHandle(held, mates) !== undefined

export type Obstacle = { readonly rule: GrantRule; readonly why: string }
export type Granting = { readonly ok: true; readonly handle: SlotHandle } | ({ readonly ok: false } & Obstacle)

/** The handle that the request gets, or the first rule that forbids the grant. */
export const grantable = (held: Deployable, asked: GrantRequest): Granting => {
  for (const [rule, judge] of WHOLE) {
    const why = judge(held, asked)
    if (why !== null) return { ok: false, rule, why }
  }
  const mates = matesOf(asked)
  const found = freeHandle(held, mates, asked.handle)
  if (!found) return { ok: false, rule: 'no_free_handle', why: 'no free attach handle' }
  // an import records handles that are in use already, so it may take a part of a unit
  const part = asked.handle === undefined ? partOf(found.unit, mates) : null
  return part === null ? { ok: true, handle: found.handle } : { ok: false, rule: 'whole_unit', why: part }
}
const WHOLE = Object.entries(OF_THE_WHOLE) as readonly (readonly [keyof typeof OF_THE_WHOLE, Judge])[]

/** All rules about the whole deployable that forbid the grant. */
export const wholeObstacles = (held: Deployable, asked: GrantRequest): readonly Obstacle[] =>
  WHOLE.flatMap(([rule, judge]) => {
    const why = judge(held, asked)
    return why === null ? [] : [{ rule, why }]
  })

export const conflict = (held: Deployable, why: string) =>
  refuse({ kind: 'conflict', reason: `deployable ${held.name}: ${why}` })

/** Whether the card may be programmed if it does not hold the image that is asked for. */
const mayBeLoaded = (held: Deployable, asked: GrantRequest): boolean =>
  held.programmable &&
  held.nodes === 0 &&
  asked.heldBelow === undefined &&
  !notReleased(held) &&
  !busy(held, sharing(asked.bitstream, matesOf(asked)))

type Command = Extract<DeployableCommand, { type: 'Grant' }>
/**
 * The image to load (`bitstream`), or the image that the host only compares with the card (`expects`), by IMAGE-3. Both
 * null: none is asked for.
 */
const imageFor = (
  held: Deployable,
  asked: Command,
): { readonly bitstream: ImageUuid | null; readonly expects: ImageUuid | null } => {
  const { bitstream, expects = null } = asked
  if (bitstream === null) return { bitstream, expects }
  return imageToLoad(held, asked) !== null || mayBeLoaded(held, asked)
    ? { bitstream, expects: null }
    : { bitstream: null, expects: bitstream }
}

export const grant = (held: Deployable, command: Command): Decision<DeployableEvent> => {
  const granted = grantable(held, command)
  if (!granted.ok) return conflict(held, granted.why)
  const { arq, deadline, requestId, trace, requestedCleaning } = command
  const [{ handle }, image] = [granted, imageFor(held, command)]
  const order =
    held.hostWork || image.bitstream !== null || image.expects !== null
      ? orderFor(held, handle, { type: 'PrepareSlot', arq, deadline, requestId, trace, ...image })
      : null
  return accept({
    type: 'Granted',
    handle: handle.uuid,
    arq,
    order,
    ...(requestedCleaning && { cleaning: requestedCleaning }),
  })
}
