/**
 * A command as a row of the table of commands: name, aliases, arguments and options for commander, with the exit codes
 * and the columns of its output. Help, completion, documents and tests are derived from these rows.
 */
import { Command, type ErrorOptions, type HelpContext } from 'commander'
import { EXITS, type ExitName, USUAL_EXITS, exitLines } from './exits.ts'

export class CommandRow extends Command {
  declare readonly commands: readonly CommandRow[]
  declare parent: CommandRow | null
  /** Of commander, which has no types for them. */
  declare _defaultCommandName?: string
  declare unknownCommand: () => never
  #exits: readonly ExitName[] = []
  #columns: readonly string[] = []
  #also: readonly string[] = []
  #examples: readonly string[] = []
  #usual: CommandRow | null = null

  override createCommand(name?: string): CommandRow {
    return new CommandRow(name)
  }

  /** Commander calls this for a wrong command line, and would use exit code 1. */
  override error(message: string, options?: ErrorOptions): never {
    // a word after the name of a family is a mistyped command, not an argument of the command that runs without one
    if (options?.code === 'commander.excessArguments' && this.parent?._defaultCommandName === this.name())
      return this.parent.unknownCommand()
    return super.error(`${message}\nnext: ${this.path} --help`, { ...options, exitCode: EXITS.usage.code })
  }

  /** A family of commands without a command shows its help and counts as an error. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'function') return super.help(context)
    if (context?.error) process.exitCode = EXITS.usage.code
    return super.help(context)
  }

  /** Adds exit codes to those that every command has. */
  endsWith(...names: readonly ExitName[]): this {
    this.#exits = [...new Set([...this.#exits, ...names])]
    return this
  }

  get exits(): readonly ExitName[] {
    return [...new Set([...USUAL_EXITS, ...this.#exits])].toSorted((one, other) => EXITS[one].code - EXITS[other].code)
  }

  /** Sets the command of the family that runs when none is named. */
  usually(command: CommandRow): this {
    this.#usual = command
    return this
  }

  get usualCommand(): CommandRow | null {
    return this.#usual
  }

  /** Sets former names, under which the program registers the command a second time, hidden. */
  alsoCalled(...names: readonly string[]): this {
    this.#also = names
    return this
  }

  get otherNames(): readonly string[] {
    return [...this.aliases(), ...this.#also]
  }

  /** Adds whole command lines as examples to the help. */
  example(...lines: readonly string[]): this {
    this.#examples = [...this.#examples, ...lines]
    return this
  }

  get examples(): readonly string[] {
    return this.#examples
  }

  showsColumns(names: readonly string[]): this {
    this.#columns = names
    return this
  }

  /** Column names in the order of the output; empty: the output is not a table. */
  get columns(): readonly string[] {
    return this.#columns
  }

  /** The name of the command after the names of its families. */
  get path(): string {
    return this.parent === null ? this.name() : `${this.parent.path} ${this.name()}`
  }

  override helpInformation(context?: HelpContext): string {
    const parts = [
      ...(this.#examples.length > 0 ? [`Examples:\n${this.#examples.map((line) => `  ${line}`).join('\n')}`] : []),
      ...(this.#columns.length > 0 ? [`Columns: ${this.#columns.join(', ')}`] : []),
      ...(this.#exits.length > 0 ? [`Exit codes besides 0, 1, 2 and 130:\n${exitLines(this.#exits).join('\n')}`] : []),
    ]
    return [super.helpInformation(context).trimEnd(), ...parts].join('\n\n') + '\n'
  }
}
