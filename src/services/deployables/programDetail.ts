/**
 * What there is to know before something is loaded into a deployable: who uses it, whether it could be programmed now,
 * which images of the store fit it, and whether the store still has the image that it holds.
 */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import { misfitOf } from '../../vocabulary/imageFits.ts'
import { type Digest, type Image, type NoImage, digestIn, digestText, imageProblem } from '../../vocabulary/images.ts'
import type { Caller, Control } from '../../actors/control.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { ProgramDetail } from '../../actors/deployable/programming.ts'
import { type Deployable, hardwareOf } from '../../actors/deployable/state.ts'
import { MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { WOULD_BE_DONE, refusalFound } from '../kernel/dryRun.ts'
import { type Kernel, causeOf } from '../kernel/kernel.ts'
import { type Guess, guessOf, silenceOf, start } from './program.ts'
import { programmingOf } from './programs.ts'

/** Stands for whichever image may be chosen: no rule about the deployable depends on it, and nothing is recorded. */
const ANY_IMAGE: ImageUuid = '00000000-0000-4000-8000-000000000000'

const listProblem = ({ why, detail }: NoImage): string =>
  why === 'none' ? 'no image store is configured' : (detail ?? 'the image store cannot be read at present')

/** The digest of the image that the card holds, as its host reports it; null: not known. */
const digestHeld = ({ attributes, bitstreamId }: Deployable): Digest | null => {
  const reported = attributes.filter(({ origin }) => origin === 'driver')
  const image = reported.find(({ key, value }) => key === 'bitstream_id' && value === bitstreamId)
  const digest = image && reported.find(({ key, parent }) => key === 'digest' && parent === image.uuid)
  return digest === undefined ? null : digestIn(digest.value)
}
/** That the store has other bytes under the id than were loaded (IMAGE-4), as far as both digests can be compared. */
const replaced = (held: Deployable, { digest: stored }: Image): string | null => {
  const loaded = digestHeld(held)
  return loaded !== null && stored?.algorithm === loaded.algorithm && stored.value !== loaded.value
    ? `it has other bytes under this id by now, ${digestText(stored)}: the card holds ${digestText(loaded)}`
    : null
}

export const createProgramDetail = (kernel: Kernel): Control['deployables']['programDetail'] => {
  const { images, clock, region } = kernel

  const refusalOf = async (caller: Caller, { uuid, host }: Deployable): Promise<Outcome<string | null>> => {
    const cause = causeOf(caller)
    const trial = start({ uuid, image: ANY_IMAGE, deadline: clock.now() }, caller, cause.by ?? 'nobody')
    const tried = await transact(kernel, {
      subject: `deployable ${uuid}`,
      cause,
      guess: () => guessOf(kernel, uuid),
      plan: (draft, guess) => (trial(draft, guess) === MOVED ? MOVED : draft.refuse(WOULD_BE_DONE)),
    })
    const refusal = refusalFound(tried)
    if (!refusal.ok || refusal.value !== null) return refusal
    return silenceOf(kernel, host)
  }
  const usersOf = async (guess: Guess): Promise<Outcome<ProgramDetail['users']>> => {
    const below = await allOf(guess.below.map((one) => region.readCurrent(deployable, deployableKey(one))))
    if (!below.ok) return below
    const all = [guess.root, ...below.value.map(({ state }) => state)]
    return done([...new Set(all.flatMap(({ handles }) => Object.values(handles).flatMap(({ arq }) => arq ?? [])))])
  }
  const inStore = async (held: Deployable): Promise<ProgramDetail['inStore']> => {
    const { bitstreamId: image } = held
    if (image === null) return null
    const found = await images.find(image)
    return found.found
      ? { image: found.image, problem: replaced(held, found.image) }
      : { image: null, problem: imageProblem(image, found) }
  }
  const choices = async (held: Deployable): Promise<ProgramDetail['choices']> => {
    if (!held.programmable) return { images: [], problem: null }
    const found = await images.search({ by: 'all' })
    if (!found.found) return { images: [], problem: listProblem(found) }
    const fits = found.images.filter((image) => misfitOf(image, hardwareOf(held), 'program') === null)
    return { images: fits, problem: null }
  }
  return async (caller, uuid) => {
    const guess = await guessOf(kernel, uuid)
    if (!guess.ok) return guess
    const { root } = guess.value
    const programming = programmingOf(root)
    const [refusal, users] = [await refusalOf(caller, root), await usersOf(guess.value)]
    if (!refusal.ok) return refusal
    if (!users.ok) return users
    const [stored, fitting] = await Promise.all([inStore(root), choices(root)])
    return done({ ...programming, refusal: refusal.value, users: users.value, inStore: stored, choices: fitting })
  }
}
