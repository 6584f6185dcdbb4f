/**
 * Shows the question before an action, and carries the action out. The API decides and records the action; its answer
 * is shown. Each form has the id of a command, so that sending it twice is one command.
 */
import type { Context } from 'hono'
import type { Ids } from '../clock.ts'
import { canonicalUuid } from '../uuid.ts'
import { type Action, type Field, type Stand, type Typed, bodyOf } from './action.ts'
import { actionOf, hindrance } from './actions.ts'
import type { Looking, Painted, Show } from './looking.ts'
import { standFor } from './pages/things.ts'
import { pageError } from './told.ts'
import type { Bodies } from './view/screen.ts'

type Look = (c: Context, here: string) => Promise<Looking | Response>
type Acting = { readonly look: Look; readonly show: Show; readonly ids: Pick<Ids, 'uuid'> }
type ActionTarget = {
  readonly kind: string
  readonly id: string
  readonly here: string
  readonly back: string
  readonly action: Action | undefined
}

const KINDS = {
  arqs: 'Request',
  instances: 'Instance',
  hosts: 'Host',
  devices: 'Device',
  handles: 'Attach handle',
  profiles: 'Profile',
  drift: 'Drift of host',
} as const

const targetOf = (c: Context): ActionTarget => {
  const { kind = '', id = '', name = '' } = c.req.param() as Readonly<Record<string, string>>
  const action = actionOf(kind, name)
  const of = `${kind}/${encodeURIComponent(id)}`
  // no page is about the drift of one host
  const ofList = action?.makes === true || kind === 'drift'
  return { kind, id: action?.makes ? '' : id, back: ofList ? kind : of, here: `${of}/do/${name}`, action }
}

const TYPED_MAX = 255
const SHORT = 8
/** What has to be typed before a grave action: the name of the entity, or the beginning of its UUID. */
const confirmationOf = (id: string): string => (canonicalUuid(id) === null ? id : id.slice(0, SHORT))
const confirming = (id: string): Field => ({
  name: 'confirm',
  title: `Type ${confirmationOf(id)} to confirm`,
  max: TYPED_MAX,
})

type Shown = Pick<Bodies['act'], 'trouble' | 'not' | 'concerned' | 'repairs' | 'commandId'> & { readonly values: Typed }
const painted = ({ id, back }: ActionTarget, action: Action, { values, ...more }: Shown): Painted => ({
  view: 'act',
  title: action.label,
  body: {
    kind: KINDS[action.kind],
    id,
    back,
    label: action.label,
    sentence: action.sentence,
    grave: action.grave ?? false,
    command: action.command(id),
    fields: [...(action.fields ?? []), ...(action.grave ? [confirming(id)] : [])].map((field) => ({
      ...field,
      value: values[field.name] ?? '',
    })),
    ...more,
  },
})

const unknown = (c: Context, place: ActionTarget, { who }: Looking, show: Show): Promise<Response> => {
  const { trouble } = pageError('missing', 'This cannot be done here.')
  return show(c, place.here, who, { view: 'trouble', title: 'Not found', body: { trouble } }, 404)
}

/** Asks with a placeholder, since no reason is known yet; a dry run does not record it. */
const concernedBy = ({ api }: Looking, { dryRun, method, path, fields }: Action, id: string) =>
  dryRun && method !== 'PATCH'
    ? api.wouldConcern(method, path(id), fields === undefined ? undefined : { reason: 'to be given' })
    : null

const NEW: Stand = { state: 'none', known: {} }
const filledIn = (fields: readonly Field[], known: Typed): Typed =>
  Object.fromEntries(fields.map(({ name, from = name }) => [name, known[from] ?? '']))

export const actionPage = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const place = targetOf(c)
  const looking = await look(c, place.here)
  if (looking instanceof Response) return looking
  const { action, id } = place
  if (action === undefined) return unknown(c, place, looking, show)
  const { state, known, repairs = null } = action.makes ? NEW : await standFor({ api: looking.api, id }, action.kind)
  const not = hindrance(action, state, looking.may)
  const concerned = not === null ? await concernedBy(looking, action, id) : null
  const values = filledIn(action.fields ?? [], known)
  const asked = { trouble: null, not, values, concerned, repairs, commandId: ids.uuid() }
  return show(c, place.here, looking.who, painted(place, action, asked))
}

type Form = Readonly<Record<string, unknown>>
const typedIn = (fields: readonly Field[], form: Form): Typed =>
  Object.fromEntries(
    fields.map(({ name, max }) => {
      const value = form[name]
      return [name, typeof value === 'string' ? value.trim().slice(0, max) : '']
    }),
  )
const placeAfter = ({ after, kind }: Action, back: string, typed: Typed): string => {
  if (after === 'list') return kind
  return after === 'named' ? `${kind}/${encodeURIComponent(typed['name'] ?? '')}` : back
}

export const act = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const place = targetOf(c)
  const looking = await look(c, place.here)
  if (looking instanceof Response) return looking
  const { action, id, back } = place
  if (action === undefined) return unknown(c, place, looking, show)
  const form = await c.req.parseBody()
  const typed = typedIn(action.fields ?? [], form)
  const commandId = (typeof form['command'] === 'string' ? canonicalUuid(form['command']) : null) ?? ids.uuid()
  const isMeant = !action.grave || typedIn([confirming(id)], form)['confirm'] === confirmationOf(id)
  const body = isMeant
    ? bodyOf(action, typed)
    : pageError('refused', `Nothing was done. To confirm, type ${confirmationOf(id)} as it is written.`)
  const done = body.ok
    ? await looking.api.change(commandId, action.method, action.path(id), body.value ?? undefined)
    : body
  if (!done.ok) {
    // an answer that did not come may have been recorded: the same command is sent again then
    const again = { trouble: done.trouble, not: null, values: typed, concerned: null, repairs: null, commandId }
    return show(c, place.here, looking.who, painted(place, action, again), 409)
  }
  const said = new URLSearchParams({ done: action.name, request: done.value }).toString()
  return c.redirect(`../../../${placeAfter(action, back, typed)}?${said}`, 303)
}
