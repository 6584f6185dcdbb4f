/**
 * The console: pages for people, on a listener of its own. It is a client of the API with the rights of its user, and
 * shows nothing that the API does not tell this user.
 */
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { messageOf } from '../vocabulary/errorText.ts'
import { actionPage, act } from './acting.ts'
import { POLICY } from './document.ts'
import { doneIn } from './done.ts'
import { page, serveDocuments } from './documentPages.ts'
import { OPENING, opening } from './opening.ts'
import { type Look, STATUSES, type Show, TEXT_MAX, type UiParts, looker, shower } from './looking.ts'
import { find } from './pages/find.ts'
import * as answers from './pages/answers.ts'
import * as letters from './pages/letters.ts'
import * as lists from './pages/lists.ts'
import type { Load, LoadedPage } from './pages/loader.ts'
import * as things from './pages/things.ts'
import { GROUPS_MAX } from './profileActions.ts'
import { foreign } from './session.ts'
import { signing } from './signing.ts'
import { errorOf, pageError } from './loaded.ts'
import { traceEventsOf } from './traceEvents.ts'
import { pastIn } from './view/ways.ts'

/** In bytes. */
const FORM_MAX = 32 * 1024
/** The text of groups is sent encoded: each character as at most nine bytes. */
const ACTION_FORM_MAX = FORM_MAX + 9 * GROUPS_MAX
const ACTION_FORM = /^\/ui\/[^/]+\/[^/]+\/do\/[^/]+$/
const YEAR_SECONDS = 31_536_000

const PAGES: Readonly<Record<string, Load>> = {
  arqs: lists.arqs,
  hosts: lists.hosts,
  handles: lists.handles,
  devices: lists.devices,
  profiles: lists.profiles,
  drift: lists.drift,
  deliveries: lists.deliveries,
  letters: letters.letters,
  explain: answers.explain,
  capacity: answers.capacity,
  usage: answers.usage,
  events: answers.events,
  programs: answers.programs,
  system: lists.system,
}
const THINGS: Readonly<Record<string, Load>> = {
  arqs: things.arq,
  instances: things.instance,
  hosts: things.host,
  devices: things.device,
  handles: things.handle,
  profiles: things.profile,
  letters: letters.letter,
}

const serveAssets = (app: Hono, { assets }: UiParts): void => {
  app.get('/ui/assets/:hash/:name{.+}', async (c) => {
    const { get, hash } = await assets()
    const asset = get(c.req.param('name'))
    // another hash belongs to another version, whose pages must not get files of this one
    if (asset === undefined || c.req.param('hash') !== hash) return c.text('there is no such file', 404)
    const accepted = c.req.header('accept-encoding') ?? ''
    const coding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
    return c.body(new Uint8Array(coding === null ? asset.plain : asset[coding]), 200, {
      'content-type': asset.type,
      'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
      vary: 'accept-encoding',
      ...(coding !== null && { 'content-encoding': coding }),
    })
  })
}

/** Sets the headers of every answer, and judges the origin of a request as the API does. */
const guard = (app: Hono, { barred, log }: UiParts): void => {
  app.use('*', async (c, next) => {
    // a link on another site may lead here; only the person who follows the link sees the page
    const visits = c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate'
    const header = (name: string) => (visits && name === 'sec-fetch-site' ? undefined : c.req.header(name))
    const reason = barred(header) ?? (c.req.method === 'POST' ? foreign(c) : null)
    if (reason === null) await next()
    else c.res = c.text(reason, 403)
    // the pages of documents have a content policy of their own
    if (!c.res.headers.has('content-security-policy')) c.res.headers.set('content-security-policy', POLICY)
    c.res.headers.set('x-content-type-options', 'nosniff')
    c.res.headers.set('referrer-policy', 'same-origin')
  })
  const onError = (c: Context) => c.text('The form is larger than the console takes.', 413)
  const limitedTo = (maxSize: number) => bodyLimit({ maxSize, onError })
  const [form, actionForm] = [limitedTo(FORM_MAX), limitedTo(ACTION_FORM_MAX)]
  app.use('/ui/*', (c, next) => {
    // its own limit is larger
    if (c.req.path === OPENING) return next()
    return (ACTION_FORM.test(c.req.path) ? actionForm : form)(c, next)
  })
  app.onError((error, c) => {
    log.error({ err: error, path: c.req.path }, 'ui.failed')
    return c.text(`The console failed: ${messageOf(error)}`, 500)
  })
}

/** Files that pages offer for download. */
const files = (app: Hono, look: Look, { clock }: Pick<UiParts, 'clock'>): void => {
  app.get('/ui/arqs/:id/timeline.json', async (c) => {
    const looking = await look(c, `arqs/${encodeURIComponent(c.req.param('id'))}/timeline.json`)
    if (looking instanceof Response) return looking
    const read = await things.timelineWithEvents(looking.api, c.req.param('id'), things.momentOf(c.req.query()))
    return read.ok ? c.json(read.value) : c.json(read.error, STATUSES[read.error.kind])
  })
  app.get('/ui/letters/:id/bytes', async (c) => {
    const id = c.req.param('id')
    const looking = await look(c, `letters/${encodeURIComponent(id)}/bytes`)
    if (looking instanceof Response) return looking
    const read = await letters.letterIn(looking.api, id)
    if (!read.ok) return c.json(read.error, STATUSES[read.error.kind])
    return c.body(read.value.value, 200, {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="dead-letter-${read.value.uuid}"`,
      'cache-control': 'no-store',
    })
  })
  app.get('/ui/arqs/:id/trace-events.json', async (c) => {
    const looking = await look(c, `arqs/${encodeURIComponent(c.req.param('id'))}/trace-events.json`)
    if (looking instanceof Response) return looking
    const [asOf, now] = [things.momentOf(c.req.query()), clock.now()]
    const read = await things.timelineWithEvents(looking.api, c.req.param('id'), asOf)
    if (!read.ok) return c.json(read.error, STATUSES[read.error.kind])
    return c.json(traceEventsOf(read.value, pastIn(asOf, now) ?? now))
  })
  app.get('/ui/usage.csv', async (c) => {
    const looking = await look(c, 'usage.csv')
    if (looking instanceof Response) return looking
    const csv = await answers.usageCsv({ ...looking, id: '', query: c.req.query() })
    if (!csv.ok) return c.json(csv.error, STATUSES[csv.error.kind])
    return c.body(csv.value, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage.csv"',
      'cache-control': 'no-store',
    })
  })
}

const finding = (app: Hono, look: Look, show: Show): void => {
  app.get('/ui/find', async (c) => {
    const looking = await look(c, 'find')
    if (looking instanceof Response) return looking
    const text = (c.req.query('q') ?? '').trim().slice(0, TEXT_MAX)
    const place = text === '' ? './' : await find(looking.api, text)
    if (place !== null) return c.redirect(place, 302)
    const { error } = pageError('missing', `Nothing that you may see has the UUID or the name ${text}.`)
    return show(c, 'find', looking.who, { view: 'trouble', title: 'Not found', body: { error } }, 404)
  })
}

/** The program has a limit of its own, which is shorter. */
const BUNDLE_MS = 90_000
const FILE_HEADERS = ['content-type', 'content-disposition', 'cache-control']
/** What the API makes for download is passed on; where it refuses, a page says why. */
const supportBundle = (app: Hono, look: Look, show: Show): void => {
  app.get('/ui/system/support-bundle', async (c) => {
    const here = 'system/support-bundle'
    const looking = await look(c, here)
    if (looking instanceof Response) return looking
    const file = await looking.api.file('/system/support_bundle', BUNDLE_MS)
    if (!file.ok) {
      const { error } = file
      const painted = { view: 'trouble', title: 'Support bundle', body: { error } } as const
      return show(c, here, looking.who, painted, STATUSES[error.kind])
    }
    const headers = FILE_HEADERS.map((name): [string, string] => [name, file.value.headers.get(name) ?? ''])
    return new Response(file.value.body, { headers })
  })
}

/** An address of no page is answered by a page that leads on. */
const nowhere = (app: Hono, look: Look, show: Show): void => {
  app.notFound(async (c) => {
    if (!c.req.path.startsWith('/ui/')) return c.html(page(c.req.path, 'There is no such page', ''), 404)
    const here = c.req.path.slice('/ui/'.length)
    const looking = await look(c, here)
    if (looking instanceof Response) return looking
    const { error } = pageError('missing', 'The console has no page at this address.')
    return show(c, here, looking.who, { view: 'trouble', title: 'Not found', body: { error } }, 404)
  })
}

export const createUi = (parts: UiParts): Hono => {
  const app = new Hono()
  const show = shower(parts)
  const look = looker(parts)
  guard(app, parts)
  serveAssets(app, parts)
  serveDocuments(app, parts.documents)
  signing(app, parts, show)
  app.get('/', (c) => c.redirect('ui/', 302))
  app.get('/ui', (c) => c.redirect('ui/', 302))
  const draw = async (c: Context, here: string, load: Load, id = ''): Promise<Response> => {
    const looking = await look(c, here)
    if (looking instanceof Response) return looking
    // the first page of a user who may not read the overview is the list of requests
    if (here === '' && looking.may['cyborg:overview:get'] === false) return c.redirect('arqs', 302)
    const query = c.req.query()
    // a browser that refreshes its page asks again by itself, so only a full page waits; it is loaded after the wait
    const waits = c.req.header('accept') !== 'application/json'
    const done = await doneIn({ api: looking.api, clock: parts.clock }, here, { query, waits })
    const painted: LoadedPage = await load({ ...looking, id, query })
    const trouble = errorOf(painted.body)
    return show(c, here, looking.who, { ...painted, done }, trouble === null ? 200 : STATUSES[trouble.kind])
  }
  app.get('/ui/', (c) => draw(c, '', lists.home))
  for (const [place, load] of Object.entries(PAGES)) app.get(`/ui/${place}`, (c) => draw(c, place, load))
  for (const [kind, load] of Object.entries(THINGS))
    app.get(`/ui/${kind}/:id`, (c) =>
      draw(c, `${kind}/${encodeURIComponent(c.req.param('id'))}`, load, c.req.param('id')),
    )
  app.get('/ui/profiles/:id/versions', (c) => {
    const id = c.req.param('id')
    return draw(c, `profiles/${encodeURIComponent(id)}/versions`, things.versions, id)
  })
  app.get('/ui/stream', async (c) => {
    const looking = await look(c, 'stream')
    if (looking instanceof Response) return looking
    const after = c.req.header('last-event-id') ?? null
    const { status, body, headers } = await looking.api.stream(after, c.req.raw.signal)
    const type = headers.get('content-type') ?? 'text/plain'
    return new Response(body, {
      status,
      headers: { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    })
  })
  finding(app, look, show)
  files(app, look, parts)
  opening(app, look, show, parts)
  supportBundle(app, look, show)
  const acting = { look, show, ids: parts.ids }
  app.get('/ui/:kind/:id/do/:name', (c) => actionPage(c, acting))
  app.post('/ui/:kind/:id/do/:name', (c) => act(c, acting))
  nowhere(app, look, show)
  return app
}
