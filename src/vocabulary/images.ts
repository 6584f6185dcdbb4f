/**
 * Bitstream images: their description, the reasons why one cannot be had, and the port through which a host gets the
 * bytes.
 */
import type { ImageUuid } from './identifiers.ts'

/** `algorithm` as Node names it: `sha512`. `value` in hexadecimal, lower case. */
export type Digest = { readonly algorithm: string; readonly value: string }
export type Image = {
  readonly uuid: ImageUuid
  readonly name: string | null
  /** In bytes; null: the store does not know it. */
  readonly size: number | null
  /** Null: the store has no digest, so the bytes cannot be verified. */
  readonly digest: Digest | null
  readonly tags: readonly string[]
  /** The properties that data-model.md 9.1 lists, and any others that somebody has set. */
  readonly properties: Readonly<Record<string, string>>
}

/** Two names of the same property: the newer one, and that of upstream (data-model.md 9.1). */
export const FUNCTION_KEYS = ['function_uuid', 'accel:function_id'] as const
/** The function of the image, in lower case; more than one: its properties contradict each other. */
export const functionsOf = ({ properties }: Pick<Image, 'properties'>): readonly string[] => [
  ...new Set(FUNCTION_KEYS.flatMap((key) => properties[key]?.trim().toLowerCase() || [])),
]

/** Why an image cannot be had. `final`: a retry does not help. */
const PROBLEMS = {
  none: { final: true, text: () => 'no image store is configured' },
  unknown: { final: true, text: (image) => `there is no image ${image}` },
  forbidden: { final: true, text: (image) => `this service may not read image ${image}` },
  inactive: { final: true, text: (image) => `image ${image} has no data that can be read` },
  unusable: { final: true, text: (image) => `image ${image} is not a bitstream that can be used` },
  unsuitable: { final: true, text: (image) => `image ${image} is made for other hardware` },
  unverifiable: { final: true, text: (image) => `image ${image} has no digest` },
  too_large: { final: true, text: (image) => `image ${image} is too large` },
  corrupt: { final: true, text: (image) => `the bytes of image ${image} do not match its digest` },
  unavailable: { final: false, text: (image) => `image ${image} cannot be read at present` },
} as const satisfies Record<string, { readonly final: boolean; readonly text: (image: string) => string }>
export type ImageProblem = keyof typeof PROBLEMS

export type NoImage = {
  readonly found: false
  readonly why: ImageProblem
  /** Additional information about the problem. It contains no secret. */
  readonly detail?: string
}
export const noImage = (why: ImageProblem, detail?: string): NoImage => ({
  found: false,
  why,
  ...(detail === undefined ? {} : { detail }),
})
export const isFinal = ({ why }: NoImage): boolean => PROBLEMS[why].final
/** The problem as a sentence. */
export const imageProblem = (image: ImageUuid, { why, detail }: NoImage): string =>
  [PROBLEMS[why].text(image), ...(detail === undefined ? [] : [detail])].join(': ')
/** The problem for the result of an order, with a code that programs can look for: `image_unknown`. */
export const codedProblem = (image: ImageUuid, problem: NoImage): string =>
  `image_${problem.why}: ${imageProblem(image, problem)}`

const CODED = /^image_([a-z_]+): (.+)$/s
/** The problem that `codedProblem` wrote; null: the text is about something else. */
export const problemIn = (text: string): { readonly why: ImageProblem; readonly reason: string } | null => {
  const [, why = '', reason = ''] = CODED.exec(text) ?? []
  return Object.hasOwn(PROBLEMS, why) ? { why: why as ImageProblem, reason } : null
}

/** Thrown by a driver that has read the file before it wrote anything: the fault is in the image, not in the card. */
export class BadImage extends Error {
  readonly why: 'unusable' | 'unsuitable'
  constructor(why: BadImage['why'], detail: string) {
    super(detail)
    this.why = why
  }
}

/** A digest in the form in which a host keeps and reports it. */
export const digestText = ({ algorithm, value }: Digest): string => `${algorithm}:${value}`
/** Null: the text is not a digest. */
export const digestIn = (text: string): Digest | null => {
  const [, algorithm, value] = /^([a-z0-9-]{1,20}):([0-9a-f]{32,128})$/.exec(text) ?? []
  return algorithm === undefined || value === undefined ? null : { algorithm, value }
}

/** `image`: its description in the store. `close`: ends the use of the file, which may then be deleted. */
export type ImageFile = {
  readonly found: true
  readonly image: Image
  readonly path: string
  readonly close: () => void
}
/** `withinMs`: the time after which nobody waits for the result any more. */
export type ImageTerm = { readonly withinMs: number; readonly signal: AbortSignal }
/** Gives access to the bytes of images. */
export type ImageFiles = {
  /** Never rejects. Problems that a retry can solve are retried within the time, or until the signal is aborted. */
  readonly open: (image: ImageUuid, term: ImageTerm) => Promise<ImageFile | NoImage>
  /**
   * What the store has under this id now. `isSame`: whether its bytes have this digest; null: that cannot be told.
   * Never rejects, and does not try again. Absent: the bytes of an image never change in this store.
   */
  readonly compare?: (
    image: ImageUuid,
    digest: Digest | null,
    term: ImageTerm,
  ) => Promise<{ readonly found: true; readonly image: Image; readonly isSame: boolean | null } | NoImage>
}
