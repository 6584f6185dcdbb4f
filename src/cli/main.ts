/** The entry point of the command line. */
import { CommandRow } from './commandRow.ts'
import { withCommands } from './commandLine.ts'

process.on('unhandledRejection', (error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(70)
})

await withCommands(new CommandRow()).parseAsync(process.argv)
