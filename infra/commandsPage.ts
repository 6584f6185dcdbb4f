/** The help of every command, as a terminal of 120 columns shows it. */
import { CommandRow } from '../src/cli/commandRow.ts'
import { withCommands } from '../src/cli/commandLine.ts'

const COLUMNS = 120
const namesOf = (command: CommandRow): string =>
  command.parent === null ? command.name() : `${namesOf(command.parent)} ${command.name()}`
const sectionsOf = (command: CommandRow): readonly string[] => [
  `## ${namesOf(command)}`,
  `\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``,
  ...command.commands.flatMap(sectionsOf),
]

/** Flags and defaults are a contract for the scripts of operators: each change of one is seen here. */
export const commandsPage = (): string => {
  const program = withCommands(new CommandRow().configureHelp({ helpWidth: COLUMNS }))
  return `${['# Commands', ...sectionsOf(program)].join('\n\n')}\n`
}
