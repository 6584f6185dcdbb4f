/**
 * The page that opens a timeline from a file. The file is read and forgotten: nothing of it is kept or compared.
 *
 * OPENING-1 one user opens one file at a time, and after a large one the next only when other work had many times as
 *    long as that took. Before that, nothing of the body is read.
 */
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Clock } from '../vocabulary/clock.ts'
import { SHARES, createPlaces } from '../vocabulary/shares.ts'
import { pageError } from './loaded.ts'
import type { Look, Show } from './looking.ts'
import { FILE_MAX, TOO_LARGE, openedFile } from './timelineFile.ts'
import type { Bodies, Who } from './view/screen.ts'
import { waysOf } from './view/ways.ts'

export const OPENING = '/ui/timeline'
/** For the parts of the form beside the file, in bytes. */
const FORM_REST = 4096
const BUSY = pageError('refused', 'file: you opened another one a moment ago. Try again in some seconds.')
/** Files up to this size take no longer than other pages. */
const SMALL = 64 * 1024
/** A byte takes some 150 ns to be read and drawn; the rest is 25 times that. */
const REST_MS_PER_BYTE = 4000 / (1024 * 1024)

type Clocked = { readonly clock: Pick<Clock, 'after'> }
export const opening = (app: Hono, look: Look, show: Show, { clock }: Clocked): void => {
  const known = new WeakMap<Context, Who>()
  const places = createPlaces(SHARES.files)
  const sizes = new WeakMap<Context, number>()
  // before anything of the body is read
  app.use(OPENING, async (c, next) => {
    const looking = await look(c, 'timeline')
    if (looking instanceof Response) return looking
    known.set(c, looking.who)
    return next()
  })
  const draw = async (c: Context, file: Bodies['opened']['file'], status: number): Promise<Response> => {
    const body = { file, ways: waysOf(c.req.query()) }
    return show(c, 'timeline', known.get(c) ?? null, { view: 'opened', title: 'Open a timeline', body }, status)
  }
  app.get(OPENING, (c) => draw(c, null, 200))
  const inPlace = async (c: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const place = places.take({ projectId: JSON.stringify(known.get(c) ?? null), isAdmin: false })
    if (!place.ok) {
      c.header('retry-after', String(SHARES.files.retryAfterSeconds))
      return draw(c, BUSY, 429)
    }
    try {
      await next()
    } finally {
      const size = sizes.get(c) ?? 0
      if (size > SMALL) clock.after(size * REST_MS_PER_BYTE, place.value)
      else place.value()
    }
    return undefined
  }
  app.post(
    OPENING,
    inPlace,
    bodyLimit({ maxSize: FILE_MAX + FORM_REST, onError: (c) => draw(c, TOO_LARGE, 413) }),
    async (c) => {
      const { file: sent } = await c.req.parseBody()
      sizes.set(c, sent instanceof File ? sent.size : 0)
      const file = await openedFile(sent)
      return draw(c, file, file.ok ? 200 : 400)
    },
  )
}
