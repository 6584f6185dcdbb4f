/** Asks for confirmation before something is destroyed: on a terminal by a question, elsewhere by requiring `--yes`. */
import { createInterface } from 'node:readline/promises'
import type { CommandRow } from './commandRow.ts'
import { Failure, misused } from './exits.ts'

export const confirmable = (command: CommandRow): CommandRow =>
  command.option('-y, --yes', 'do not ask; needed where there is no terminal')

/** Rejects without a confirmation. `what`: a sentence that says what will happen. */
export const confirmed = async ({ yes }: { readonly yes?: true }, what: string): Promise<void> => {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw misused(`${what} There is no terminal to ask: add --yes`)
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${what} Go on? [y/N] `)
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new Failure('interrupted', 'nothing was changed')
  } finally {
    asking.close()
  }
}
