/**
 * Shows the question before an action, and carries the action out. The API decides and records the action; its answer
 * is shown. Each form has an id, from which and from what was typed follows the id of the command: sending a form twice
 * is one command, and sending it with other values another.
 */
import { createHash, hash } from 'node:crypto'
import type { Context } from 'hono'
import type { Ids } from '../vocabulary/clock.ts'
import { canonicalUuid, uuidOfHash } from '../vocabulary/uuid.ts'
import { type Action, type Ending, type Field, LIST_OF, REASON, type Stand, type Typed, bodyOf } from './action.ts'
import { actionOf, hindrance } from './actions.ts'
import { queryOfDone } from './doneArguments.ts'
import type { Look, Looking, Painted, Show } from './looking.ts'
import { standFor } from './pages/things.ts'
import { eventIdBefore, eventIdIn, newestEventId } from './recorded.ts'
import type { Impact } from './shapes.ts'
import { type Loaded, loaded, pageError } from './loaded.ts'
import type { Bodies } from './view/screen.ts'

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
  letters: 'Dead letter',
  differences: 'Difference',
  ignored: 'Ignored difference',
  programs: 'Deployable',
} as const

const targetOf = (c: Context): ActionTarget => {
  const { kind = '', id = '', name = '' } = c.req.param() as Readonly<Record<string, string>>
  const action = actionOf(kind, name)
  const of = `${kind}/${encodeURIComponent(id)}`
  const list = action?.makes ? kind : action && LIST_OF[action.kind]
  return { kind, id: action?.makes ? '' : id, back: list ?? of, here: `${of}/do/${name}`, action }
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

type Shown = Pick<
  Bodies['act'],
  'error' | 'not' | 'facts' | 'concerned' | 'repairs' | 'commandId' | 'since' | 'sent'
> & {
  readonly choices?: Stand['choices']
  readonly values: Typed
}
const painted = ({ id, back }: ActionTarget, action: Action, { values, choices = {}, ...more }: Shown): Painted => ({
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
    checks: isChecked(action),
    fields: [...(action.fields ?? []), ...(action.grave ? [confirming(id)] : [])].map((field) => ({
      ...field,
      value: values[field.name] ?? '',
      choices: choices[field.name] ?? [],
    })),
    ...more,
  },
})

const unknown = (c: Context, target: ActionTarget, { who }: Looking, show: Show): Promise<Response> => {
  const { error } = pageError('missing', 'This cannot be done here.')
  return show(c, target.here, who, { view: 'trouble', title: 'Not found', body: { error } }, 404)
}

const overlong = (fields: readonly Field[], typed: Typed): string | null => {
  const long = fields.find(({ name, max }) => (typed[name] ?? '').length > max)
  if (long === undefined) return null
  const { title, name, max } = long
  return `Nothing was done. ${title || name}: at most ${max} characters; these are ${typed[name]!.length}.`
}
/** Stands for a reason that is not typed yet; a dry run does not record it. */
const UNSAID = 'to be given'
/** The first field without a value, of those on which depends whom the action would concern. */
const unsaid = ({ fields = [] }: Action, typed: Typed): Field | undefined =>
  fields.find(
    ({ name, optional, kind }) => name !== REASON.name && optional !== true && kind !== 'hidden' && typed[name] === '',
  )
/** Whether it depends on what is typed whom the action would concern. */
const isChecked = ({ dryRun, fields = [] }: Action): boolean =>
  dryRun === true && fields.some(({ name }) => name !== REASON.name)
const concernedBy = async ({ api }: Looking, action: Action, id: string, typed: Typed): Promise<Loaded<Impact>> => {
  const flaw = overlong(action.fields ?? [], typed)
  if (flaw !== null) return pageError('refused', flaw)
  const body = bodyOf(action, { ...typed, reason: typed['reason'] || UNSAID })
  return body.ok ? api.wouldConcern(action.method, action.path(id), body.value ?? undefined) : body
}

/** Whether the page that follows can show what was recorded. */
const hasEvents = ({ endedAs, eventless }: Action): boolean => endedAs === undefined && eventless !== true

const NEW: Stand = { state: 'none', known: {} }
const filledIn = (fields: readonly Field[], known: Typed): Typed =>
  Object.fromEntries(fields.map(({ name, from = name }) => [name, known[from] ?? '']))

export const actionPage = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const target = targetOf(c)
  const looking = await look(c, target.here)
  if (looking instanceof Response) return looking
  const { action, id } = target
  if (action === undefined) return unknown(c, target, looking, show)
  const {
    state,
    known,
    facts = [],
    choices,
    not: own = null,
    repairs = null,
  } = action.makes ? NEW : await standFor({ api: looking.api, id }, action.kind)
  // what was found out says more than the table of states, but not whether the caller may
  const isAllowed = looking.may[action.rule] !== false
  const not = (isAllowed ? own : null) ?? hindrance(action, state, looking.may)
  const values = filledIn(action.fields ?? [], known)
  const isAsked = not === null && action.dryRun === true && unsaid(action, values) === undefined
  const [concerned, since] = await Promise.all([
    isAsked ? concernedBy(looking, action, id, values) : null,
    not === null && hasEvents(action) ? newestEventId(looking.api) : '',
  ])
  const asked = {
    error: null,
    not,
    values,
    choices,
    facts,
    concerned,
    repairs,
    commandId: ids.uuid(),
    since,
    sent: null,
  }
  return show(c, target.here, looking.who, painted(target, action, asked))
}

type Form = Readonly<Record<string, unknown>>
type Sent = {
  readonly looking: Looking
  readonly target: ActionTarget
  readonly action: Action
  readonly form: Form
}
const typedIn = (fields: readonly Field[], form: Form): Typed =>
  Object.fromEntries(
    fields.map(({ name }) => {
      const value = form[name]
      // a form is sent with other ends of lines than it was shown with
      return [name, typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : '']
    }),
  )
const SENT = /^[\w-]{43}$/
const sentIn = ({ sent }: Form): string | null => (typeof sent === 'string' && SENT.test(sent) ? sent : null)
const commandIn = (form: Form): string | null =>
  typeof form['command'] === 'string' ? canonicalUuid(form['command']) : null
/** The command that the form stands for with these values: its own, if it has been sent with them before. */
const commandOf = (form: Form, formId: string, sent: string): string =>
  sentIn(form) === sent ? formId : uuidOfHash(createHash('sha1').update(`${formId} ${sent}`).digest(), 5)
type Way = { readonly request: string; readonly since: string }
/** Where the page leads to afterwards. */
const placeAfter = ({ after, kind, name }: Action, back: string, typed: Typed, { request, since }: Way): string => {
  const place =
    after === 'list' ? kind : after === 'named' ? `${kind}/${encodeURIComponent(typed['name'] ?? '')}` : back
  return `${place}?${queryOfDone({ done: name, request, ...(since !== '' && { since }) })}`
}
const placeOfEnding = ({ name }: Action, id: string, ending: Ending): Loaded<string> => {
  if (ending.place === undefined) return pageError('refused', ending.text)
  const place = ending.place(id)
  return loaded(`${place}${place.includes('?') ? '&' : '?'}${queryOfDone({ done: name, ended: ending.name })}`)
}
/** The action is carried out; the answer is the page that follows. */
const carriedOut = async (
  { looking: { api }, target: { id, back }, action, form }: Sent,
  { commandId, typed, body }: { readonly commandId: string; readonly typed: Typed; readonly body: object | null },
): Promise<Loaded<string>> => {
  const change = hasEvents(action) ? await newestEventId(api) : ''
  const done = await api.change(commandId, action.method, action.path(id), body ?? undefined, action.limitMs)
  if (!done.ok) return done
  const { requestId: request, answer } = done.value
  if (action.endedAs !== undefined) {
    const ended = action.endedAs(answer)
    return ended.ok ? placeOfEnding(action, id, ended.value) : ended
  }
  const since = hasEvents(action) ? await eventIdBefore(api, request, { form: eventIdIn(form['since']), change }) : ''
  return loaded(placeAfter(action, back, typed, { request, since }))
}

/** The body of the request, unless the form itself is not as it has to be. */
const meant = (action: Action, id: string, form: Form, typed: Typed): Loaded<object | null> => {
  const long = overlong(action.fields ?? [], typed)
  if (long !== null) return pageError('refused', long)
  if (action.grave && typedIn([confirming(id)], form)['confirm'] !== confirmationOf(id))
    return pageError('refused', `Nothing was done. To confirm, type ${confirmationOf(id)} as it is written.`)
  return bodyOf(action, typed)
}

/** The form as it was typed, with whom the action would concern; nothing is changed. */
const checkedPage = async (
  c: Context,
  { looking, target, action, form }: Sent,
  { show, ids }: Acting,
): Promise<Response> => {
  const values = typedIn(action.fields ?? [], form)
  const missing = unsaid(action, values)
  const concerned =
    missing === undefined
      ? await concernedBy(looking, action, target.id, values)
      : pageError('refused', `${missing.title} is needed.`)
  const kept = { commandId: commandIn(form) ?? ids.uuid(), since: eventIdIn(form['since']), sent: sentIn(form) }
  const shown = { error: null, not: null, values, facts: [], concerned, repairs: null, ...kept }
  return show(c, target.here, looking.who, painted(target, action, shown))
}

/** What the form showed of the entity. A repair of drift is not tried once more for it. */
const standAgain = async ({ api }: Looking, { kind }: Action, id: string): Promise<Stand> =>
  LIST_OF[kind] === undefined || kind === 'drift' ? NEW : standFor({ api, id }, kind)

export const act = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const target = targetOf(c)
  const looking = await look(c, target.here)
  if (looking instanceof Response) return looking
  const { action, id } = target
  if (action === undefined) return unknown(c, target, looking, show)
  const form = await c.req.parseBody()
  if (isChecked(action) && form['check'] !== undefined)
    return checkedPage(c, { looking, target, action, form }, { look, show, ids })
  const typed = typedIn(action.fields ?? [], form)
  const sent = hash('sha256', JSON.stringify(typed), 'base64url')
  const commandId = commandOf(form, commandIn(form) ?? ids.uuid(), sent)
  const body = meant(action, id, form, typed)
  const next = body.ok
    ? await carriedOut({ looking, target, action, form }, { commandId, typed, body: body.value })
    : body
  if (next.ok) return c.redirect(`../../../${next.value}`, 303)
  // an answer that did not come may have been recorded: the same command is sent again then, unless it is edited
  const { facts = [], choices } = await standAgain(looking, action, id)
  const again = {
    error: next.error,
    not: null,
    values: typed,
    facts,
    choices,
    concerned: null,
    repairs: null,
    commandId,
    since: eventIdIn(form['since']),
    sent,
  }
  return show(c, target.here, looking.who, painted(target, action, again), 409)
}
