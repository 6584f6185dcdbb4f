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
 * A quarantined handle may wait for its host to release it: `done` and `failed` are that host's answer.
 * `vanish` of a handle that is held or being released changes nothing: nothing that an ARQ holds is ever removed by a
 * report. The same holds for a quarantined handle (HANDLE-1); its move to `missing` is
 * only replayed from rows of releases up to 0.2.0. `quarantine` of a missing handle: it is in doubt (`rowsLost.ts`).
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
