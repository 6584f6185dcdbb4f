/** What can be done with a dead letter. */
import { type Action, REASON } from './action.ts'
import { at } from './api.ts'
import type { Letter } from './letterShapes.ts'
import { shell } from './view/words.ts'

const unsendable = (state: string): string => `${state}, unsendable`
/** A letter cannot be sent again whose message was not kept whole, or is neither a report nor an order of a host. */
export const letterActionState = ({ state, replay_refusal: refusal }: Letter): string =>
  refusal === null ? state : unsendable(state)

const KEPT = { ...REASON, hint: 'kept with the dead letter' }

export const LETTER_ACTIONS: readonly Action[] = [
  {
    kind: 'letters',
    name: 'replay',
    label: 'Send again',
    rule: 'cyborg:dead_letter:replay',
    eventless: true,
    fields: [KEPT],
    method: 'POST',
    sentence:
      'Its message goes to its topic once more, as it was. Who could not read or handle it tries anew: mend the cause first, or it comes back as another dead letter. An inventory that was refused for its content is passed over until the control that refused it restarts.',
    path: (id) => at`/dead_letters/${id}/replay`,
    command: (id) => shell`accelerando dead-letter replay ${id} --reason TEXT`,
    states: ['open', 'replayed', 'dropped'],
    otherwise:
      'its message was not kept whole, or is neither a report nor an order of a host: facts and states are in the journal',
  },
  {
    kind: 'letters',
    name: 'drop',
    label: 'Drop',
    grave: true,
    rule: 'cyborg:dead_letter:drop',
    eventless: true,
    fields: [KEPT],
    method: 'POST',
    sentence:
      'It is no longer listed as open and not counted on the overview. Nothing is removed: it stays on its topic as long as the topic keeps it, with your name and the reason, and can still be sent again.',
    path: (id) => at`/dead_letters/${id}/drop`,
    command: (id) => shell`accelerando dead-letter drop ${id} --reason TEXT`,
    states: ['open', unsendable('open')],
    otherwise: 'it was sent again or dropped already',
  },
]
