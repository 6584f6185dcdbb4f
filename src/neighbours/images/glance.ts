/**
 * Requests to Glance (Image API v2): descriptions, paged lists, and bytes from a position on. No function here rejects
 * or retries.
 *
 * GLANCE-1 a search finds public images and those of trusted projects only, whatever else this account may read: any
 *    project may give an image the properties that are searched for (decision 0064). Glance is asked for just these, so
 *    that others cannot fill the list either;
 * GLANCE-2 an image that is asked for by its id is described whoever owns it: only an administrator names an id, in a
 *    profile or in a request to program.
 */
import * as v from 'valibot'
import type { AllImages, ImageCatalogue, ImageSearch } from '../../actors/neighbours.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import { type Image, type ImageProblem, type NoImage, noImage } from '../../vocabulary/images.ts'
import { type Answer, NotInCatalogue } from '../openstack/send.ts'
import type { Session } from '../openstack/session.ts'
import { bitstreamIn, COMPARED_BY, TAG, type Wanted, wantedBy } from './metadata.ts'

export type GlanceOptions = {
  /** The time limit for a description, a page, or the beginning of the bytes. */
  readonly timeoutMs: number
  /** The longest time between two parts of the bytes. */
  readonly idleMs: number
  /** Ids of projects whose images a search finds, beside the project of this service. */
  readonly trustedProjects: readonly string[]
}
/** `start`: the position of the first byte in `body`. */
export type Bytes = { readonly found: true; readonly start: number; readonly body: AsyncIterable<Uint8Array> }
export type Glance = ImageCatalogue & {
  /**
   * The bytes from a position on, or from the beginning if Glance sends no part. Null: the image ends before that
   * position.
   */
  readonly bytes: (image: ImageUuid, from: number, signal: AbortSignal) => Promise<Bytes | NoImage | null>
  /** Why Glance does not answer or does not let this service read; null: it does. */
  readonly look: () => Promise<NoImage | null>
  /** Why Glance could not be asked the last time; null: it could, or there is no Glance. */
  readonly whyFailing: () => string | null
  /** The service catalogue had no Glance when it was last looked up. */
  readonly isAbsent: () => boolean
}

export const IMAGE_SERVICE = 'image'
const PAGE = 100
const PAGES_MAX = 20
/** What a search looks at, for people who miss an image. */
const AMONG = "public images, and those of the service's project and of glance.trusted_projects"
const LIST = v.object({ images: v.pipe(v.array(v.unknown()), v.maxLength(1000)), next: v.optional(v.string()) })
/** The link to the next page must stay within the same service. */
const NEXT = /^\/v2\/images\?[\x21-\x7e]{1,8000}$/

/**
 * Other statuses may pass. A 401 here was given to a new token as well, so the trouble is with the account and not with
 * the image.
 */
const PROBLEMS: Readonly<Record<number, ImageProblem>> = {
  204: 'inactive',
  400: 'unusable',
  403: 'forbidden',
  404: 'unknown',
  410: 'unknown',
}
const problemOf = (status: number): NoImage => {
  const why = PROBLEMS[status]
  return why === undefined ? noImage('unavailable', `the image service answers ${status}`) : noImage(why)
}
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
const unreadable = noImage('unavailable', 'the answer of the image service cannot be read')

const startOf = (range: string | undefined): number => Number(/^bytes (\d{1,15})-/.exec(range ?? '')?.[1] ?? Number.NaN)

/** Asks Glance, and remembers whether it could be asked. */
const createAsking = (session: Session, timeoutMs: number) => {
  let whyFailing: string | null = null
  const isAbsent = () => session.lacks(IMAGE_SERVICE)
  const unanswered = (error: unknown): NoImage => {
    const reason = textOf(error)
    whyFailing = error instanceof NotInCatalogue ? null : reason
    return noImage('unavailable', reason)
  }
  /** The address in the catalogue may or may not contain the version. */
  const base = async (): Promise<string> => ((await session.entry(IMAGE_SERVICE)).url.endsWith('/v2') ? '' : '/v2')
  const reached = async <Got extends { readonly status: number }>(
    path: string,
    ask: (path: string) => Promise<Got>,
  ): Promise<Got | NoImage> => {
    try {
      const answer = await ask(`${await base()}${path}`)
      whyFailing = answer.status >= 500 || answer.status === 401 ? `it answers ${answer.status}` : null
      return answer
    } catch (error) {
      return unanswered(error)
    }
  }
  const get = async (path: string): Promise<Answer | NoImage> => {
    const answer = await reached(path, (whole) =>
      session.call({ service: IMAGE_SERVICE, method: 'GET', path: whole, timeoutMs }),
    )
    return 'found' in answer || answer.status === 200 ? answer : problemOf(answer.status)
  }
  /** The project of this service; null: it has none. */
  const own = async (): Promise<string | null | NoImage> => {
    try {
      return (await session.entry(IMAGE_SERVICE)).projectId
    } catch (error) {
      return unanswered(error)
    }
  }
  return { reached, get, own, whyFailing: () => whyFailing, isAbsent }
}
type Get = ReturnType<typeof createAsking>['get']

/** All results of one search, page by page. */
const listed = async (get: Get, query: URLSearchParams): Promise<readonly unknown[] | NoImage> => {
  const found: unknown[] = []
  let path: string | undefined = `/images?${query.toString()}`
  for (let pages = 0; path !== undefined; pages++) {
    if (pages >= PAGES_MAX) return noImage('unusable', `more than ${PAGE * PAGES_MAX} images fit`)
    const answer: Answer | NoImage = await get(path)
    if ('found' in answer) return answer
    const page = v.safeParse(LIST, parsed(answer.text))
    if (!page.success) return unreadable
    const { images, next } = page.output
    found.push(...images)
    if (next !== undefined && !NEXT.test(next)) return unreadable
    path = next?.slice('/v2'.length)
  }
  return found
}
/** Which images a search finds: those with this value (GLANCE-1). */
type Owned = readonly ['visibility' | 'owner', string]
const searchWith =
  (get: Get, trusted: () => Promise<readonly Owned[] | NoImage>): Glance['search'] =>
  async (wish: ImageSearch | AllImages) => {
    const owned = await trusted()
    if ('found' in owned) return owned
    const among = `${wish.by === 'all' ? '' : COMPARED_BY[wish.by]}${AMONG}`
    for (const wanted of wish.by === 'all' ? [null] : wantedBy(wish)) {
      const images = await withOneOf(get, owned, wanted)
      if ('found' in images) return images
      if (images.length > 0) return { found: true, images, among }
    }
    return { found: true, images: [], among }
  }
/** The images with one of the properties, each once; `wanted` null: all. */
const withOneOf = async (
  get: Get,
  owned: readonly Owned[],
  wanted: Wanted | null,
): Promise<readonly Image[] | NoImage> => {
  const images = new Map<ImageUuid, Image>()
  const filters = wanted === null ? [{}] : wanted.map(([key, value]) => ({ [key]: value }))
  for (const [whose, is, of] of owned.flatMap((one) => filters.map((filter) => [...one, filter] as const))) {
    const query = { tag: TAG, status: 'active', [whose]: is, ...of, limit: String(PAGE) }
    const found = await listed(get, new URLSearchParams(query))
    if ('found' in found) return found
    for (const read of found.map(bitstreamIn)) {
      // a service that does not know this filter must not widen the search
      if (read.found && read.image.properties[whose] === is) images.set(read.image.uuid, read.image)
    }
  }
  return [...images.values()]
}

export const createGlance = (session: Session, options: GlanceOptions): Glance => {
  const { timeoutMs, idleMs, trustedProjects } = options
  const { reached, get, own, whyFailing, isAbsent } = createAsking(session, timeoutMs)
  const trusted = async (): Promise<readonly Owned[] | NoImage> => {
    const project = await own()
    if (typeof project === 'object' && project !== null) return project
    const projects = new Set([...(project === null ? [] : [project]), ...trustedProjects])
    return [['visibility', 'public'], ...[...projects].map((id): Owned => ['owner', id])]
  }
  return {
    search: searchWith(get, trusted),
    find: async (uuid) => {
      const answer = await get(`/images/${encodeURIComponent(uuid)}`)
      return 'found' in answer ? answer : bitstreamIn(parsed(answer.text))
    },
    bytes: async (uuid, from, signal) => {
      const headers = from > 0 ? { range: `bytes=${from}-` } : {}
      const answer = await reached(`/images/${encodeURIComponent(uuid)}/file`, (path) =>
        session.read({ service: IMAGE_SERVICE, path, headers, timeoutMs, idleMs, signal }),
      )
      if ('found' in answer) return answer
      const { status, body } = answer
      if (status === 200) return { found: true, start: 0, body }
      const start = startOf(answer.headers['content-range'])
      if (status === 206 && start === from) return { found: true, start, body }
      answer.drop()
      return status === 416 || status === 206 ? null : problemOf(status)
    },
    look: async () => {
      const answer = await get(`/images?tag=${TAG}&limit=1`)
      return 'found' in answer ? answer : null
    },
    whyFailing,
    isAbsent,
  }
}
