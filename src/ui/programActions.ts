/** The actions on what programmable deployables hold. */
import type { Action, Field, Stand, Typed } from './action.ts'
import type { ProgramDetail } from './answerShapes.ts'
import { at } from './api.ts'
import { type Loaded, loaded } from './loaded.ts'
import { many, shell } from './view/words.ts'

/** The API answers after 20 s at the latest, also while the host is still at work. */
const LOAD_MS = 30_000
/** The longest spelling of a UUID: `urn:uuid:`, and braces around it. */
const UUID_MAX = 47
const IMAGE: Field = { name: 'image', title: 'Image', hint: 'its UUID in the image store', max: UUID_MAX }
const FORMER: Field = { name: 'image', title: '', from: 'former', kind: 'hidden', max: UUID_MAX }

const patch = ({ image = '' }: Typed): Loaded<object> =>
  loaded([{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }])
const path = (id: string) => at`/deployables/${id}/program`
/** Ready, and an image is recorded that it held before. */
export const WITH_FORMER = 'ready, with a former image'
const COMMON = { kind: 'programs', grave: true, rule: 'cyborg:deployable:program', method: 'PATCH' } as const

export const PROGRAM_ACTIONS: readonly Action[] = [
  {
    ...COMMON,
    name: 'load',
    label: 'Load an image',
    fields: [IMAGE],
    limitMs: LOAD_MS,
    sentence:
      'Its host writes the image into the card now, before a request asks for it. What the card holds is lost; nothing of it is offered meanwhile.',
    path,
    body: patch,
    command: (id) => shell`accelerando bitstream preload ${id} --image UUID`,
    states: ['ready', WITH_FORMER],
    otherwise: 'nothing can be loaded into it now',
  },
  {
    ...COMMON,
    name: 'revert',
    label: 'Load the former image',
    fields: [FORMER],
    limitMs: LOAD_MS,
    sentence:
      'The image that it held before is loaded again, if the image store still gives it and it fits. What the card holds is lost.',
    path,
    body: patch,
    command: (id) => shell`accelerando bitstream revert ${id}`,
    states: [WITH_FORMER],
    otherwise: 'no image is recorded that it held before',
  },
]

const named = ({ uuid, name }: { readonly uuid: string; readonly name: string | null }): string =>
  name === null ? uuid : `${name} (${uuid})`
const usersOf = ({ arqs, arqs_left_out: more }: ProgramDetail): string =>
  arqs.length === 0 ? 'nobody' : `${many(arqs.length + more, 'request')}: ${arqs.join(', ')}`
const storeSays = ({ image, image_problem: problem, image_uuid: held }: ProgramDetail): string => {
  if (held === null) return 'no image is recorded, so there is nothing to verify'
  if (image === null) return problem ?? 'it does not say'
  return `it still has the image${image.digest === null ? ', without a digest' : `, ${image.digest}`}`
}
const choiceOf = ({ images, images_left_out: more, images_problem: problem }: ProgramDetail): string => {
  if (problem !== null) return problem
  return `${many(images.length + more, 'image fits', 'images fit')} its hardware`
}
export const programStand = (detail: ProgramDetail): Stand => {
  const { refusal, former_image_uuid: former, image_uuid: held, images } = detail
  return {
    state: former === null ? 'ready' : WITH_FORMER,
    // a detail that is known replaces what the row of the action can say
    ...(refusal !== null && { not: refusal }),
    known: { former: former ?? '' },
    choices: { image: images.map((each) => ({ value: each.uuid, title: named(each) })) },
    facts: [
      ['Deployable', `${detail.name} of host ${detail.hostname}`],
      ['Holds', held ?? 'no known image'],
      ['Image store', storeSays(detail)],
      ['Held before', former ?? 'nothing that is recorded'],
      ['In use by', usersOf(detail)],
      ['To choose from', choiceOf(detail)],
    ],
  }
}
