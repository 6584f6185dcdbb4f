/**
 * The actions that the console offers, one row each. The API decides; a row only hides an action that the API is known
 * to refuse.
 */
import { type Action, type Kind, LIST_OF, REASON } from './action.ts'
import { at } from './api.ts'
import { IGNORE, REPAIR, UNIGNORE } from './driftAction.ts'
import { LETTER_ACTIONS } from './letterActions.ts'
import { PROBE } from './probeAction.ts'
import { PROFILE_ACTIONS } from './profileActions.ts'
import { PROGRAM_ACTIONS } from './programActions.ts'
import { AT_WORK, NO_NOVA, SETTLED, UNCLEANED, withKey, withKeys } from './actionStates.ts'
import type { Offer } from './view/screen.ts'
import { HOST_STATES } from './view/states.ts'
import { shell } from './view/words.ts'

export const ACTIONS: readonly Action[] = [
  {
    kind: 'devices',
    name: 'disable',
    label: 'Disable',
    rule: 'cyborg:device:disable',
    dryRun: true,
    method: 'POST',
    sentence: 'Nothing on this device is granted any more. What is bound on it stays bound.',
    path: (id) => at`/devices/${id}/disable`,
    command: (id) => shell`accelerando device disable ${id}`,
    states: ['enabled'],
    otherwise: 'it is disabled already',
  },
  {
    kind: 'devices',
    name: 'enable',
    label: 'Enable',
    rule: 'cyborg:device:enable',
    method: 'POST',
    sentence: 'The parts of this device can be granted again.',
    path: (id) => at`/devices/${id}/enable`,
    command: (id) => shell`accelerando device enable ${id}`,
    states: ['maintaining'],
    otherwise: 'it is enabled already',
  },
  {
    kind: 'handles',
    name: 'quarantine',
    label: 'Quarantine',
    grave: true,
    rule: 'cyborg:handle:quarantine',
    fields: [REASON],
    method: 'POST',
    sentence: 'No request is granted this attach handle until an operator releases it.',
    path: (id) => at`/handles/${id}/quarantine`,
    command: (id) => shell`accelerando handle quarantine ${id} --reason TEXT`,
    states: ['free', 'releasing'],
    otherwise: 'only a handle that nobody has can be quarantined',
  },
  {
    kind: 'handles',
    name: 'release',
    label: 'Release',
    rule: 'cyborg:handle:release',
    fields: [REASON],
    method: 'POST',
    sentence: 'You confirm that it is clean. It can be granted to any project again.',
    path: (id) => at`/handles/${id}/release`,
    command: (id) => shell`accelerando handle release ${id} --reason TEXT`,
    states: ['quarantined', AT_WORK, UNCLEANED],
    otherwise: 'it is not quarantined',
  },
  {
    kind: 'handles',
    name: 'clean',
    label: 'Clean',
    rule: 'cyborg:handle:clean',
    fields: [REASON],
    method: 'POST',
    sentence:
      'Its host cleans it by the command that is chosen there. It can be granted again when that has succeeded.',
    path: (id) => at`/handles/${id}/clean`,
    command: (id) => shell`accelerando handle clean ${id} --reason TEXT`,
    states: ['quarantined'],
    otherwise: 'it is not quarantined',
    reasons: {
      [AT_WORK]: 'its host is at work on it',
      [UNCLEANED]: 'neither a command nor a playbook that cleans it is chosen on its host',
    },
  },
  {
    kind: 'hosts',
    name: 'retire',
    label: 'Retire',
    grave: true,
    rule: 'cyborg:host:retire',
    dryRun: true,
    fields: [REASON],
    method: 'POST',
    sentence: 'Nothing on this host is offered any more; each device leaves the inventory as soon as nobody uses it.',
    path: (id) => at`/hosts/${id}/retire`,
    command: (id) => shell`accelerando host retire ${id} --reason TEXT`,
    states: withKeys(['up', 'stale', 'down']),
    otherwise: 'it is out of service already, or was never in it',
  },
  {
    kind: 'hosts',
    name: 'restore',
    label: 'Restore',
    rule: 'cyborg:host:restore',
    fields: [REASON],
    method: 'POST',
    sentence: 'Its devices are offered again with its next report.',
    path: (id) => at`/hosts/${id}/restore`,
    command: (id) => shell`accelerando host restore ${id} --reason TEXT`,
    states: withKeys(['retired', 'removed']),
    otherwise: 'it is neither retired nor removed',
  },
  {
    kind: 'hosts',
    name: 'approve',
    label: 'Accept its key',
    rule: 'cyborg:host:approve',
    fields: [REASON],
    method: 'POST',
    sentence:
      'What this host reports under the key that waits is recorded from now on. Compare the key with the one that the host prints.',
    path: (id) => at`/hosts/${id}/approve`,
    command: (id) => shell`accelerando host approve ${id} --reason TEXT`,
    states: Object.keys(HOST_STATES).map(withKey),
    otherwise: 'no key of it waits',
  },
  {
    kind: 'arqs',
    name: 'force-unbind',
    label: 'Unbind by force',
    grave: true,
    rule: 'cyborg:arq:force_unbind',
    fields: [REASON],
    method: 'POST',
    sentence:
      'For an instance that does not exist any more, or a host that will not return. An instance that still runs loses the device.',
    path: (id) => at`/accelerator_requests/${id}/force_unbind`,
    command: (id) => shell`accelerando arq force-unbind ${id} --reason TEXT`,
    states: ['BindStarted', 'Bound', 'BindFailed', 'UnbindFailed'],
    otherwise: 'nothing is bound',
  },
  {
    kind: 'arqs',
    name: 'delete',
    label: 'Delete',
    grave: true,
    rule: 'cyborg:arq:delete',
    method: 'DELETE',
    after: 'list',
    sentence: 'The request ends. Its timeline can still be read for a while.',
    path: (id) => at`/accelerator_requests?arqs=${id}`,
    command: (id) => shell`openstack accelerator arq delete ${id}`,
    states: ['Initial', 'Unbound'],
    otherwise: 'an instance has it: Nova deletes it with the instance',
  },
  {
    kind: 'instances',
    name: 'resend',
    label: 'Tell Nova once more',
    rule: 'cyborg:delivery:resend',
    fields: [REASON],
    method: 'POST',
    sentence:
      'Nova is told how the binds of this instance ended, also what it has refused or was not reached for. It ignores what nobody waits for.',
    path: (id) => at`/deliveries/${id}/resend`,
    command: (id) => shell`accelerando delivery resend ${id} --reason TEXT`,
    states: [SETTLED],
    otherwise: 'no bind of it has ended',
    reasons: { [NO_NOVA]: 'no Nova is configured that could be told' },
  },
  PROBE,
  ...LETTER_ACTIONS,
  ...PROFILE_ACTIONS,
  REPAIR,
  IGNORE,
  UNIGNORE,
  ...PROGRAM_ACTIONS,
]

export const actionOf = (kind: string, name: string): Action | undefined =>
  ACTIONS.find((action) => action.kind === kind && action.name === name)

/** The action that leads to this page when it is done. */
export const actionOn = (place: string, name: string): Action | undefined =>
  ACTIONS.find((action) => (LIST_OF[action.kind] ?? action.kind) === place && action.name === name)

/** The reason not to offer the action; null: none is known. */
export const hindrance = (action: Action, state: string, may: Readonly<Record<string, boolean>>): string | null => {
  if (may[action.rule] === false) return `your roles do not allow ${action.rule}`
  return action.states.includes(state) ? null : (action.reasons?.[state] ?? action.otherwise)
}

const offerOf = (action: Action, state: string, may: Readonly<Record<string, boolean>>): Offer => ({
  name: action.name,
  label: action.label,
  grave: action.grave ?? false,
  not: hindrance(action, state, may),
})
export const offersOf = (kind: Kind, state: string, may: Readonly<Record<string, boolean>>): readonly Offer[] =>
  ACTIONS.filter((action) => action.kind === kind && !action.makes).map((action) => offerOf(action, state, may))
/** What the list of these entities offers. */
export const makersOf = (kind: Kind, may: Readonly<Record<string, boolean>>): readonly Offer[] =>
  ACTIONS.filter((action) => action.kind === kind && action.makes).map((action) => offerOf(action, 'none', may))
