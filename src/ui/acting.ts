/**
 * Shows the question before an action, and carries the action out. The API decides and records the action; its answer is shown. Each form has the id of a
 * command, so that sending it twice is one command.
 */
import type { Context } from 'hono'
import type { Ids } from '../clock.ts'
import { canonicalUuid } from '../uuid.ts'
import { actionOf, hindrance, type Action } from './actions.ts'
import type { Looking, Painted, Show } from './looking.ts'
import { stateFor } from './pages/things.ts'
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
} as const
const REASON_MAX = 1000

const targetOf = (c: Context): ActionTarget => {
  const { kind = '', id = '', name = '' } = c.req.param() as Readonly<Record<string, string>>
  const back = `${kind}/${encodeURIComponent(id)}`
  return { kind, id, back, here: `${back}/do/${name}`, action: actionOf(kind, name) }
}

const painted = (
  { id, back }: ActionTarget,
  action: Action,
  more: Pick<Bodies['act'], 'trouble' | 'not' | 'typed' | 'concerned' | 'commandId'>,
): Painted => ({
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
    reason: action.reason ? 'asked' : 'none',
    ...more,
  },
})

const unknown = (c: Context, place: ActionTarget, { who }: Looking, show: Show): Promise<Response> => {
  const { trouble } = pageError('missing', 'This cannot be done here.')
  return show(c, place.here, who, { view: 'trouble', title: 'Not found', body: { trouble } }, 404)
}

/** Asks with a placeholder, since no reason is known yet; a dry run does not record it. */
const concernedBy = ({ api }: Looking, { dryRun, method, path, reason }: Action, id: string) =>
  dryRun ? api.wouldConcern(method, path(id), reason ? { reason: 'to be given' } : undefined) : null

export const actionPage = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const place = targetOf(c)
  const looking = await look(c, place.here)
  if (looking instanceof Response) return looking
  if (place.action === undefined) return unknown(c, place, looking, show)
  const state = await stateFor({ api: looking.api, id: place.id }, place.kind)
  const not = hindrance(place.action, state, looking.may)
  const concerned = not === null ? await concernedBy(looking, place.action, place.id) : null
  const asked = { trouble: null, not, typed: '', concerned, commandId: ids.uuid() }
  return show(c, place.here, looking.who, painted(place, place.action, asked))
}

export const act = async (c: Context, { look, show, ids }: Acting): Promise<Response> => {
  const place = targetOf(c)
  const looking = await look(c, place.here)
  if (looking instanceof Response) return looking
  const { action, id, back } = place
  if (action === undefined) return unknown(c, place, looking, show)
  const form = await c.req.parseBody()
  const typed = typeof form['reason'] === 'string' ? form['reason'].trim().slice(0, REASON_MAX) : ''
  const commandId = (typeof form['command'] === 'string' ? canonicalUuid(form['command']) : null) ?? ids.uuid()
  const body = action.reason ? { reason: typed } : undefined
  const done = await looking.api.change(commandId, action.method, action.path(id), body)
  if (!done.ok) {
    // an answer that did not come may have been recorded: the same command is sent again then
    const again = { trouble: done.trouble, not: null, typed, concerned: null, commandId }
    return show(c, place.here, looking.who, painted(place, action, again), 409)
  }
  const said = new URLSearchParams({ done: action.name, request: done.value }).toString()
  return c.redirect(`../../../${action.after === 'list' ? place.kind : back}?${said}`, 303)
}
