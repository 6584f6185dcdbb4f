/** The exit codes of commands: one table for all commands, the help, the documents and the tests. */

export const EXITS = {
  done: { code: 0, means: 'It is done. A reader of the output that closes the pipe counts as done, too.' },
  failed: { code: 1, means: 'It failed for another reason than the following ones.' },
  usage: { code: 2, means: 'The command line or the configuration is not usable. Nothing was done.' },
  notFound: { code: 3, means: 'What was named does not exist.' },
  denied: { code: 4, means: 'Not signed in, or not allowed.' },
  conflict: { code: 5, means: 'It contradicts what is recorded; nothing was changed.' },
  waited: { code: 6, means: 'It was accepted, but was not finished when the time of --wait was over.' },
  findings: {
    code: 7,
    means: 'It was looked at, and there is something to see to: no host fits, a problem, a difference, a violation.',
  },
  unreached: { code: 8, means: 'The service could not be reached, or could not answer now.' },
  interrupted: { code: 130, means: 'Interrupted with Ctrl-C before it was done.' },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly means: string }>>
export type ExitName = keyof typeof EXITS

/** The exit codes of every command; commands name any others that they use. */
export const USUAL_EXITS: readonly ExitName[] = ['done', 'failed', 'usage', 'interrupted']
/** Additional exit codes of commands that call the API. */
export const API_EXITS: readonly ExitName[] = ['notFound', 'denied', 'conflict', 'unreached']

export const endWith = (exit: ExitName): void => {
  process.exitCode = EXITS[exit].code
}

type About = {
  /** The command that an operator should try next. */
  readonly next?: string | undefined
  /** The id of the failed request in the log of the service. */
  readonly requestId?: string | undefined
  /** The command that explains the kind of failure. */
  readonly about?: string | undefined
  readonly cause?: unknown
}
/** An expected failure of a command: one sentence, and its exit code. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exit: ExitName
  readonly next: string | undefined
  readonly requestId: string | undefined
  readonly about: string | undefined
  constructor(exit: ExitName, message: string, { next, requestId, about, cause }: About = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.exit = exit
    this.next = next
    this.requestId = requestId
    this.about = about
  }
}
/** A wrong argument or combination of arguments. */
export const misused = (message: string, cause?: unknown): Failure => new Failure('usage', message, { cause })

const OF_STATUS: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'denied',
  403: 'denied',
  404: 'notFound',
  409: 'conflict',
  423: 'conflict',
  429: 'unreached',
  502: 'unreached',
  503: 'unreached',
  504: 'unreached',
}
/** The exit code for an HTTP status that is a refusal. */
export const exitOfStatus = (status: number): ExitName => OF_STATUS[status] ?? 'failed'

/** Lines of the form `code  meaning`, for the help of the program. */
export const exitLines = (names: readonly ExitName[]): readonly string[] =>
  names
    .map((name) => EXITS[name])
    .toSorted((one, other) => one.code - other.code)
    .map(({ code, means }) => `  ${String(code).padEnd(4)} ${means}`)
