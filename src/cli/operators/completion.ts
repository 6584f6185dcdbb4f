/** Completion in shells: passes the tree of commands to a library that supports the shells. */
import { type Command, RootCommand } from '@bomb.sh/tab'
import type { Argument, Option } from 'commander'
import { out } from '../command.ts'
import type { CommandRow } from '../commandRow.ts'

type CompletedCommand = Pick<Command, 'option' | 'argument'>
type Values = NonNullable<Argument['argChoices']>

const tellOption = (
  completed: CompletedCommand,
  { long, short, description, required, optional, argChoices }: Option,
): void => {
  if (long === undefined) return
  const [name, letter] = [long.replace(/^--/, ''), short?.replace(/^-/, '')]
  const values: Values = argChoices ?? []
  // an option with a value of its own kind has no proposals
  if (required || optional)
    completed.option(name, description, (say) => values.forEach((value) => say(value, '')), letter)
  else completed.option(name, description, letter)
}
const tellArgument = (completed: CompletedCommand, argument: Argument): void => {
  const values: Values = argument.argChoices ?? []
  completed.argument(argument.name(), (say) => values.forEach((value) => say(value, '')), argument.variadic)
}

/**
 * Hidden commands and options are not proposed. A family also proposes the options of the command that runs when none
 * is named.
 */
export const completionOf = (program: CommandRow): RootCommand => {
  const root = new RootCommand()
  const help = program.createHelp()
  const tell = (completed: CompletedCommand, command: CommandRow): void => {
    for (const option of help.visibleOptions(command)) tellOption(completed, option)
    for (const argument of command.registeredArguments) tellArgument(completed, argument)
  }
  const walk = (command: CommandRow, path: readonly string[]): void => {
    for (const one of help.visibleCommands(command) as CommandRow[]) {
      if (one.name() === 'help') continue
      const names = [...path, one.name()]
      const completed = root.command(names.join(' '), one.description())
      tell(completed, one)
      if (one.usualCommand !== null) tell(completed, one.usualCommand)
      walk(one, names)
    }
  }
  tell(root, program)
  walk(program, [])
  return root
}

/** The function of bash-completion that the library's script needs, for a bash that has not loaded it. */
const WORDS_OF_BASH = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
  words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
  cur=\${words[cword]} prev=\${words[cword - 1]}
}`
/** Prints the script for a shell. */
export const printScript = (program: CommandRow, shell: string): void => {
  if (shell === 'bash') out(WORDS_OF_BASH)
  completionOf(program).setup(program.name(), program.name(), shell)
}
