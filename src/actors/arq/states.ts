/**
 * The permitted transitions of an accelerator request (rest-api 8.3). Refusals, the state diagram and a test are
 * derived from this table.
 */

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
/** The API never shows `Absent` (before creation) and `Gone` (after removal). */
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
 * When the host has a release to carry out, the deployable waits for it and the ARQ does not: `unbind` ends in Unbound
 * and `remove` in Gone at once. If the release fails while the ARQ is still Unbound, the ARQ is shown as UnbindFailed.
 * No transition leads to `Deleting`: the state exists so that ARQs of an imported store can be read and deleted.
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
/** The states that the filter `bind_state=resolved` selects (rest-api 4.3). */
export const RESOLVED: readonly ArqState[] = ['Bound', 'BindFailed', 'Deleting']
export const UNRESOLVED: readonly ArqState[] = ARQ_STATES.filter((state) => !RESOLVED.includes(state))

export const diagram = (): string =>
  [
    'stateDiagram-v2',
    ...STATUSES.flatMap((from) =>
      MOVE_NAMES.flatMap((move) => (MOVES[from][move] ? [`  ${from} --> ${MOVES[from][move]}: ${move}`] : [])),
    ),
  ].join('\n')
