/** The permitted transitions of an attach handle (data-model 11.4). */
export const HANDLE_STATES = ['free', 'held', 'releasing', 'quarantined', 'missing'] as const
export type HandleState = (typeof HANDLE_STATES)[number]
export const HANDLE_MOVES = [
  'grant',
  'release',
  'releaseWithWork',
  'done',
  'failed',
  'quarantine',
  'clear',
  'vanish',
  'return',
] as const
export type HandleMove = (typeof HANDLE_MOVES)[number]

/**
 * `done` and `failed` are answers of the host, which a quarantined handle may still wait for.
 * `vanish` does not change a handle that is held or being released, because no report may remove a handle that an ARQ
 * holds. Neither does it change a quarantined handle (HANDLE-1); the transition from quarantined to `missing` is only
 * replayed from rows of releases up to 0.2.0. `quarantine` of a missing handle: the handle is in doubt (`rowsLost.ts`).
 */
export const MOVES: Record<HandleState, Partial<Record<HandleMove, HandleState>>> = {
  free: { grant: 'held', quarantine: 'quarantined', vanish: 'missing' },
  held: { release: 'free', releaseWithWork: 'releasing' },
  releasing: { done: 'free', failed: 'quarantined', releaseWithWork: 'releasing', quarantine: 'quarantined' },
  quarantined: {
    done: 'free',
    failed: 'quarantined',
    quarantine: 'quarantined',
    clear: 'free',
    releaseWithWork: 'releasing',
    vanish: 'missing',
  },
  missing: { return: 'free', quarantine: 'quarantined' },
}
export const next = (from: HandleState, move: HandleMove): HandleState | undefined => MOVES[from][move]
export const diagram = (): string =>
  [
    'stateDiagram-v2',
    ...HANDLE_STATES.flatMap((from) =>
      HANDLE_MOVES.flatMap((move) => (MOVES[from][move] ? [`  ${from} --> ${MOVES[from][move]}: ${move}`] : [])),
    ),
  ].join('\n')
