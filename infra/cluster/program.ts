/** A control or a host as a part: a process that prints `ready` and logs to a file. */
import { appendFileSync } from 'node:fs'
import { type Program, runProgram } from '../../test/support/program.ts'
import type { Part } from './part.ts'

type Options = {
  readonly name: string
  readonly args: () => readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
}

const READY = /^ready (\S+)$/m
const READY_MS = 60_000

export const programPart = ({ name, args, env, logFile }: Options): Part => {
  let program: Program | null = null
  let address = ''
  const begin = (): Program => {
    const begun = runProgram({ args: args(), env })
    program = begun
    const gone = (): void => {
      appendFileSync(logFile, begun.stderr())
      if (program === begun) program = null
    }
    begun.exited.then(gone, gone)
    return begun
  }
  return {
    name,
    start: async () => {
      const begun = begin()
      const [, said] = await begun.said(READY, READY_MS).catch(async (error: unknown) => {
        await program?.end('SIGKILL')
        throw error
      })
      address = said!
    },
    pid: () => program?.pid ?? null,
    address: () => address,
    stop: async () => {
      await program?.end('SIGTERM').catch(() => program?.end('SIGKILL'))
    },
    // The last log lines are part of the error, because the file contains them only after the process has ended.
    logs: [],
    advice: 'fix the error above and start again',
  }
}
