/**
 * The note about the action that was just carried out. The address of a page names only the action, and its request or
 * how it ended: text of others is not shown, and what was recorded is read from the API.
 */
import type { Clock } from '../vocabulary/clock.ts'
import { CANONICAL_PATTERN } from '../vocabulary/uuid.ts'
import { actionOn } from './actions.ts'
import type { Api } from './api.ts'
import type { DoneArguments } from './doneArguments.ts'
import { eventIdIn, recordedBy } from './recorded.ts'
import type { Done } from './view/screen.ts'

const REQUEST = new RegExp(`^req-${CANONICAL_PATTERN}$`)

/** `query`: of the address; `waits`: whether what is not recorded yet is waited for. */
export const doneIn = async (
  parts: { readonly api: Api; readonly clock: Pick<Clock, 'after'> },
  here: string,
  { query, waits }: { readonly query: Readonly<Record<string, string>>; readonly waits: boolean },
): Promise<Done | null> => {
  const { done: name = '', request = '', ended, since }: DoneArguments = query
  const action = actionOn(here.split('/')[0] ?? '', name)
  if (action === undefined) return null
  if (action.endings !== undefined) {
    const ending = action.endings.find((one) => one.name === ended)
    return ending === undefined ? null : { tone: ending.tone, text: ending.text }
  }
  if (!REQUEST.test(request)) return null
  if (action.eventless) return { tone: 'good', text: `${action.label}: recorded under ${request}.` }
  return recordedBy(parts, action.label, { request, since: eventIdIn(since), waits })
}
