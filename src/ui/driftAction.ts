/** The action on the drift of a host. The API says in its answer what came of the repair. */
import type { Action } from './action.ts'
import { at, documentAs } from './api.ts'
import { Healed } from './shapes.ts'
import { mapped } from './told.ts'
import { shell } from './view/words.ts'

/** A repair waits 20 s for other controls, and compares before and after it. */
const REPAIR_MS = 60_000

export const REPAIR: Action = {
  kind: 'drift',
  name: 'repair',
  label: 'Repair',
  rule: 'cyborg:drift:heal',
  method: 'POST',
  limitMs: REPAIR_MS,
  sentence: 'Placement is made to show what is recorded here. What is recorded, and what runs, stays as it is.',
  path: (id) => at`/drift/heal?host=${id}&dry_run=false`,
  command: (id) => shell`accelerando drift heal --host ${[id]} --apply`,
  endedAs: (answer) => mapped(documentAs(Healed, answer), ({ healed: [{ outcome }] }) => outcome),
  endings: [
    { name: 'in_step', tone: 'good', text: 'Repaired: nothing of the host differs now.', place: () => 'drift' },
    {
      name: 'left',
      tone: 'bad',
      text: 'Not everything is repaired: the host was compared again, and what is left is shown here.',
      place: (id) => at`drift?host=${id}`,
    },
    {
      name: 'busy',
      tone: 'busy',
      text: 'Nothing was repaired: another control works on this host. Try again in a moment.',
    },
  ],
  states: ['differs'],
  otherwise: 'nothing of it can be repaired here',
}
