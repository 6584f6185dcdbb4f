/** The action that has a host report at once. The API says in its answer whether the host has answered. */
import * as v from 'valibot'
import type { Action, Ending } from './action.ts'
import { at, documentAs } from './api.ts'
import { Probe } from './shapes.ts'
import { mapped } from './loaded.ts'
import { shell } from './view/words.ts'

/** The service waits six seconds for the host. */
const PROBE_MS = 12_000
const Asked = v.object({ probe: Probe })

const ANSWERED: Ending = {
  name: 'answered',
  tone: 'good',
  text: 'The host has answered: what it reported is recorded, and shown here.',
  place: (id) => at`hosts/${id}`,
}
const SILENT: Ending = {
  name: 'silent',
  tone: 'busy',
  text: 'The question is recorded; the host has not answered yet. Its answer is shown here when it comes.',
  place: (id) => at`hosts/${id}`,
}

export const PROBE: Action = {
  kind: 'hosts',
  name: 'probe',
  label: 'Ask for a report',
  rule: 'cyborg:host:probe',
  method: 'POST',
  limitMs: PROBE_MS,
  sentence:
    'The host looks at its hardware and reports at once, as it does every minute by itself. It is asked once in ten seconds at most.',
  path: (id) => at`/hosts/${id}/probe`,
  command: (id) => shell`accelerando host probe ${id}`,
  endedAs: (answer) => mapped(documentAs(Asked, answer), ({ probe }) => (probe?.answer ? ANSWERED : SILENT)),
  endings: [ANSWERED, SILENT],
  states: ['up', 'stale', 'down', 'retired'],
  otherwise: 'its reports are not taken',
}
