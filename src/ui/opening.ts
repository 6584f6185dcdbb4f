/** The page that opens a timeline from a file. The file is read and forgotten: nothing of it is kept or compared. */
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Look, Show } from './looking.ts'
import { FILE_MAX, TOO_LARGE, openedFile } from './timelineFile.ts'
import type { Bodies, Who } from './view/screen.ts'
import { waysOf } from './view/ways.ts'

export const OPENING = '/ui/timeline'
/** For the parts of the form beside the file, in bytes. */
const FORM_REST = 4096

export const opening = (app: Hono, look: Look, show: Show): void => {
  const known = new WeakMap<Context, Who>()
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
  app.post(
    OPENING,
    bodyLimit({ maxSize: FILE_MAX + FORM_REST, onError: (c) => draw(c, TOO_LARGE, 413) }),
    async (c) => {
      const file = await openedFile((await c.req.parseBody())['file'])
      return draw(c, file, file.ok ? 200 : 400)
    },
  )
}
