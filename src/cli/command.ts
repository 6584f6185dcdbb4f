/** Helpers shared by all commands. Standard output carries only results; logs go to standard error. */
import { hostname } from 'node:os'
import { messageOf } from '../vocabulary/errorText.ts'
import type { CommandRow } from './commandRow.ts'
import { type Config, loadConfig } from './config/config.ts'
import { lacks } from './config/programs.ts'
import { readText } from './config/readText.ts'
import { databaseAway } from './databaseAway.ts'
import { endWith, EXITS, type ExitName, Failure } from './exits.ts'
import { inOneLine, visibleJson } from '../vocabulary/text.ts'

/** Adds a command or a family of commands to the program. Modules that a command needs are loaded when it is called. */
export type Register = (program: CommandRow) => void
export type Flags = Readonly<Record<string, unknown>>

export const out = (line: string) => void process.stdout.write(`${line}\n`)
/**
 * Lines may contain text from outside (names in Placement, files, answers of services), so control characters are
 * removed.
 */
export const outLines = (lines: readonly string[]): void => {
  for (const line of lines) out(inOneLine(line))
}
export const complain = (text: string, exit: ExitName = 'failed') => {
  process.stderr.write(`${text.split('\n').map(inOneLine).join('\n')}\n`)
  endWith(exit)
}

/** Null: the problem was printed and the exit code is set. */
export const configured = (given: Flags): Config | null => {
  const loaded = loadConfig({ flags: given, env: process.env, readFile: readText, osHostname: hostname() })
  if (loaded.ok) {
    for (const warning of loaded.warnings) process.stderr.write(`${inOneLine(`warning: ${warning}`)}\n`)
    return { ...loaded.config, inForce: loaded.inForce }
  }
  complain(
    `The configuration is not usable:\n${loaded.problems.map((problem) => `  - ${problem}`).join('\n')}`,
    'usage',
  )
  return null
}

/** Whether a required option of the program is missing. If so, the problem was printed and the exit code is set. */
export const lacking = (program: 'control' | 'host', config: Config): boolean => {
  const problems = lacks(program, config)
  if (problems.length > 0)
    complain(`A ${program} cannot start:\n${problems.map((each) => `  - ${each}`).join('\n')}`, 'usage')
  return problems.length > 0
}

const FOR_PROGRAMS: readonly unknown[] = ['json', 'jsonl']
/**
 * Prints a failure in one sentence, with the next step and the id of the service's log entry; as JSON if the result
 * would have been JSON.
 */
const tell = (error: unknown, given: readonly unknown[]): void => {
  const failure = error instanceof Failure ? error : databaseAway(error)
  const { exit = 'failed', requestId, about: place } = failure ?? {}
  const text = messageOf(failure ?? error)
  // commander gives an action its command last
  const row = given.at(-1) as CommandRow
  const next = failure?.next ?? (exit === 'usage' ? `${row.path} --help` : undefined)
  const { format } = row.optsWithGlobals<{ readonly format?: string }>()
  const id = requestId === undefined ? '' : ` (${requestId})`
  const lines = [
    `${text}${id}`,
    ...(next === undefined ? [] : [`next: ${next}`]),
    ...(place === undefined ? [] : [`see: ${place}`]),
  ]
  if (!FOR_PROGRAMS.includes(format)) return complain(lines.join('\n'), exit)
  const about = {
    error: text,
    exit_code: EXITS[exit].code,
    next: next ?? null,
    request_id: requestId ?? null,
    see: place ?? null,
  }
  complain(visibleJson(about), exit)
}

/** Wraps an action so that a failure is printed in one sentence instead of a stack trace, and sets the exit code. */
export const withPlainErrors =
  <Given extends readonly unknown[]>(act: (...given: Given) => Promise<void>) =>
  async (...given: Given) => {
    try {
      await act(...given)
    } catch (error) {
      tell(error, given)
    }
  }
