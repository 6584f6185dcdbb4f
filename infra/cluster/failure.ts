/**
 * The message for the operator when a part does not start: which part, why, the last lines of its log, and what to do.
 */
import { readFileSync } from 'node:fs'
import { Hindered, type Part } from './part.ts'

const LINES_MAX = 20

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '')

/** The error output of a program that failed, instead of its command line. */
export const reasonOf = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: unknown; readonly message?: unknown }
  if (typeof stderr === 'string' && stderr.trim() !== '') return stderr.trim()
  return typeof message === 'string' ? message : String(error)
}

const tailOf = (file: string): readonly string[] => {
  try {
    const lines = linesOf(readFileSync(file, 'utf8')).slice(-LINES_MAX)
    return lines.length === 0 ? [] : [`last lines of ${file}:`, ...lines.map((line) => `  ${line}`)]
  } catch {
    return []
  }
}

export class PartFailure extends Error {
  constructor(part: Pick<Part, 'name' | 'logs' | 'advice'>, error: unknown) {
    const [first = '', ...more] = linesOf(reasonOf(error))
    // This error already explains the cause, so the log is not shown.
    const [log, advice] = error instanceof Hindered ? [[], error.advice] : [part.logs.flatMap(tailOf), part.advice]
    const lines = [`${part.name} did not start: ${first}`, ...more.slice(-LINES_MAX), ...log, `what to do: ${advice}`]
    super(lines.join('\n  '), { cause: error })
  }
}
