/** The permitted transitions of an accelerator request (rest-api 8.3). Refusals, diagram and test are derived from this table. */

export const ARQ_STATES = [
  'Initial',
  'BindStarted',
  'Bound',
  'Unbound',
  'BindFailed',
  'UnbindFailed',
  'Deleting',
] as const
export type ArqState = (typeof ARQ_STATES)[number]
/** `Absent` before creation and `Gone` after removal are never shown. */
export type Status = ArqState | 'Absent' | 'Gone'
export const STATUSES: readonly Status[] = ['Absent', ...ARQ_STATES, 'Gone']

export const MOVE_NAMES = [
  'create',
  'bind',
  'bound',
  'bindFailed',
  'unbind',
  'releaseFailed',
  'released',
  'remove',
] as const
export type Move = (typeof MOVE_NAMES)[number]

/**
 * A release that the host has yet to carry out belongs to the deployable, so an ARQ leaves at once: `unbind` ends in Unbound and `remove` in
 * Gone. Should that release fail while the ARQ is still Unbound, it is shown as UnbindFailed. Nothing here enters `Deleting`: it is
 * kept so that a store that was filled elsewhere can be read and cleaned.
 */
export const MOVES: Record<Status, Partial<Record<Move, Status>>> = {
  Absent: { create: 'Initial' },
  Initial: { bind: 'BindStarted', unbind: 'Unbound', remove: 'Gone' },
  BindStarted: { bound: 'Bound', bindFailed: 'BindFailed', unbind: 'Unbound', remove: 'Gone' },
  Bound: { unbind: 'Unbound', remove: 'Gone' },
  Unbound: { bind: 'BindStarted', unbind: 'Unbound', releaseFailed: 'UnbindFailed', remove: 'Gone' },
  BindFailed: { unbind: 'Unbound', remove: 'Gone' },
  UnbindFailed: { unbind: 'Unbound', released: 'Unbound', remove: 'Gone' },
  Deleting: { remove: 'Gone' },
  Gone: {},
}

export const next = (from: Status, move: Move): Status | undefined => MOVES[from][move]
export const statesThatAllow = (move: Move): readonly Status[] => STATUSES.filter((state) => MOVES[state][move])
/** What `bind_state=resolved` means (rest-api 4.3). */
export const RESOLVED: readonly ArqState[] = ['Bound', 'BindFailed', 'Deleting']
export const UNRESOLVED: readonly ArqState[] = ARQ_STATES.filter((state) => !RESOLVED.includes(state))

export const diagram = (): string =>
  [
    'stateDiagram-v2',
    ...STATUSES.flatMap((from) =>
      MOVE_NAMES.flatMap((move) => (MOVES[from][move] ? [`  ${from} --> ${MOVES[from][move]}: ${move}`] : [])),
    ),
  ].join('\n')
