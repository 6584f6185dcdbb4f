/** Helpers shared by all commands. Standard output carries only results; logs go to standard error. */
import { hostname } from 'node:os'
import type { Command } from 'commander'
import { type Config, loadConfig } from './config/config.ts'
import { lacks } from './config/programs.ts'
import { readText } from './config/readText.ts'
import { inOneLine } from '../text.ts'

/** Adds a command or a family of commands to the program. Modules that a command needs are loaded when it is called. */
export type Register = (program: Command) => void
export type Flags = Readonly<Record<string, unknown>>

export const out = (line: string) => void process.stdout.write(`${line}\n`)
/** Lines may repeat what others have written: names in Placement, texts of files, answers of services. */
export const outLines = (lines: readonly string[]): void => {
  for (const line of lines) out(inOneLine(line))
}
export const complain = (text: string) => {
  process.stderr.write(`${text.split('\n').map(inOneLine).join('\n')}\n`)
  process.exitCode = 1
}

/** Null: the problem was printed and the exit code is set. */
export const configured = (flags: Flags): Config | null => {
  const loaded = loadConfig({ flags, env: process.env, readFile: readText, osHostname: hostname() })
  if (loaded.ok) return loaded.config
  complain(`The configuration is not usable:\n${loaded.problems.map((problem) => `  - ${problem}`).join('\n')}`)
  return null
}

/** Whether a required option of the program is missing. If so, it was printed and the exit code is set. */
export const lacking = (program: 'control' | 'host', config: Config): boolean => {
  const problems = lacks(program, config)
  if (problems.length > 0) complain(`A ${program} cannot start:\n${problems.map((each) => `  - ${each}`).join('\n')}`)
  return problems.length > 0
}

/** Wraps an action so that its failure is printed as one sentence instead of a stack trace. */
export const withPlainErrors =
  <Given extends readonly unknown[]>(act: (...given: Given) => Promise<void>) =>
  async (...given: Given) => {
    try {
      await act(...given)
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error))
    }
  }
