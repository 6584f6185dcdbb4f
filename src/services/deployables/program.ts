/**
 * Loads an image into a deployable because an operator asked for it.
 *
 * PROGRAM-1 the order is recorded before it is sent, and its result is recorded whenever it arrives; the caller waits
 *    for `programWaitMs` at most;
 * PROGRAM-2 the deployables below the programmed one take part: none may be in use, and none is offered until the host
 *    shows it again. The append writes a row of each, so that another process that decides a grant on one of them at
 *    the same moment must decide again.
 */
import type { DeployableUuid, EntityKey, HostName, ImageUuid } from '../../vocabulary/identifiers.ts'
import { type Fault, type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { Caller, Control, DeployableRow } from '../../actors/control.ts'
import { type HeldDevice, host, hostKey } from '../../actors/host/decider.ts'
import { type Kernel, causeOf, commandOf } from '../kernel/kernel.ts'
import { misfitOf } from '../../vocabulary/imageFits.ts'
import { type NoImage, codedProblem, imageProblem, isFinal, noImage, problemIn } from '../../vocabulary/images.ts'
import { traceField } from '../../vocabulary/trace.ts'
import { NO_ANSWER, deployable, deployableKey, programmingBelow } from '../../actors/deployable/decider.ts'
import { deployableRow } from '../../actors/deployable/rows.ts'
import { type Deployable, hardwareOf } from '../../actors/deployable/state.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { belowRoot } from '../kernel/directory.ts'
import { lookUntil } from '../kernel/lookUntil.ts'
import { createRead } from './readDeployable.ts'

type Programming = { readonly deployable: DeployableRow; readonly finished: boolean }

const imageFault = (image: ImageUuid, problem: NoImage): Fault => {
  if (problem.why === 'unknown') return { kind: 'not_found', resource: 'image', id: image }
  return isFinal(problem)
    ? { kind: 'conflict', reason: `nothing can be programmed: ${codedProblem(image, problem)}` }
    : { kind: 'unavailable', reason: imageProblem(image, problem), retryAfterSeconds: 5 }
}
/** The fault of a programming that has failed, by the words in which it is recorded. */
const failureFault = (image: ImageUuid, reason: string): Fault => {
  if (reason === NO_ANSWER) return { kind: 'unavailable', reason, retryAfterSeconds: 30 }
  const found = problemIn(reason)
  if (found === null) return { kind: 'device_failure', reason }
  if (found.why === 'unknown') return { kind: 'not_found', resource: 'image', id: image }
  return isFinal(noImage(found.why))
    ? { kind: 'conflict', reason: `nothing was programmed: ${reason}` }
    : { kind: 'unavailable', reason: found.reason, retryAfterSeconds: 5 }
}

/** Why the host cannot be reached, so that no caller waits for it (rest-api 6.4); null: the host is up. */
export const silenceOf = async ({ region }: Kernel, name: HostName): Promise<Outcome<string | null>> => {
  const known = await region.readCurrent(host, hostKey(name))
  if (!known.ok) return known
  const { liveness } = known.value.state
  return done(liveness === 'up' ? null : `host ${name} is ${liveness}`)
}

type Program = { readonly uuid: DeployableUuid; readonly image: ImageUuid; readonly deadline: number }
/** What the plan needs to know before it is made. */
export type Guess = {
  readonly keys: readonly EntityKey[]
  /** The root deployable as it was when the deployables below it were looked up. */
  readonly root: Deployable
  readonly below: readonly DeployableUuid[]
}
export const guessOf = async (kernel: Kernel, uuid: DeployableUuid): Promise<Outcome<Guess>> => {
  const root = await createRead(kernel)(uuid)
  if (!root.ok) return root
  // also where the host shows none: a request may still use one
  const below = await belowRoot(kernel, uuid)
  if (!below.ok) return below
  const nodes = below.value.map(deployableKey)
  const keys = [deployableKey(uuid), ...nodes, ...(nodes.length > 0 ? [hostKey(root.value.host)] : [])]
  return done({ keys, root: root.value, below: below.value })
}

/**
 * Makes the next report of the device count as new, even if equal to the last: the deployables below are missing until
 * a report shows them.
 */
const lookAgain = (draft: Draft, { root }: Guess, by: string): void => {
  const key = hostKey(root.host)
  const changed = Object.entries(draft.state(host, key).devices)
    .filter(([, { uuid }]) => uuid === root.deviceUuid)
    .map(([canonical, held]): [string, HeldDevice] => [canonical, { ...held, digest: '' }])
  draft.decide(host, key, { type: 'LookAgain', devices: Object.fromEntries(changed), by })
}

export const start =
  ({ uuid, image, deadline }: Program, caller: Caller, by: string) =>
  (draft: Draft, guess: Guess): Deployable | typeof MOVED => {
    const key = deployableKey(uuid)
    const { revision, nodes } = draft.state(deployable, key)
    if (revision !== guess.root.revision || nodes !== guess.root.nodes) return MOVED
    draft.decide(deployable, key, {
      type: 'Program',
      image,
      deadline,
      requestId: caller.requestId,
      ...traceField(caller.trace),
    })
    const present = guess.below.filter((one) => draft.state(deployable, deployableKey(one)).presence !== 'retired')
    for (const one of present) {
      const why = programmingBelow(draft.state(deployable, deployableKey(one)))
      if (why) draft.refuse(why)
      draft.decide(deployable, deployableKey(one), { type: 'SetPresence', presence: 'missing' })
    }
    if (present.length > 0) lookAgain(draft, guess, by)
    return draft.state(deployable, key)
  }

export const createProgram = (kernel: Kernel): Control['deployables']['program'] => {
  const { clock, images, options } = kernel
  const read = createRead(kernel)
  const ended = async (uuid: DeployableUuid, image: ImageUuid, number: number): Promise<Outcome<Programming>> => {
    const isRunning = ({ program }: Deployable): boolean => program?.order.number === number
    const now = await lookUntil(kernel, {
      key: deployableKey(uuid),
      withinMs: options.programWaitMs,
      read: () => read(uuid),
      isWanted: (held) => !isRunning(held),
    })
    if (!now.ok) return now
    const finished = !isRunning(now.value)
    if (finished && now.value.programFault !== null) return refuse(failureFault(image, now.value.programFault))
    return done({ deployable: deployableRow(now.value), finished })
  }
  return async (caller, uuid, image) => {
    const known = await read(uuid)
    if (!known.ok) return known
    const found = await images.find(image)
    if (!found.found) return refuse(imageFault(image, found))
    const misfit = misfitOf(found.image, hardwareOf(known.value), 'program')
    if (misfit !== null) return refuse(imageFault(image, noImage('unsuitable', misfit)))
    const silent = await silenceOf(kernel, known.value.host)
    if (!silent.ok) return silent
    if (silent.value !== null) return refuse({ kind: 'unavailable', reason: silent.value, retryAfterSeconds: 30 })
    const deadline = clock.now() + options.programDeadlineMs
    const cause = causeOf(caller)
    const started = await transact(kernel, {
      subject: `deployable ${uuid}`,
      cause,
      ...commandOf(caller),
      guess: () => guessOf(kernel, uuid),
      plan: start({ uuid, image, deadline }, caller, cause.by ?? 'nobody'),
    })
    if (!started.ok) return started
    // null: this command was carried out before, and may still be running
    const begun = started.value === null ? await read(uuid) : done(started.value)
    return begun.ok ? ended(uuid, image, begun.value.program?.order.number ?? 0) : begun
  }
}
