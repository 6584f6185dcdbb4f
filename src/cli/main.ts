/** The entry point of the command line. */
import { Command } from 'commander'
import { withCommands } from './commandLine.ts'

process.on('unhandledRejection', (error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(70)
})

await withCommands(new Command()).parseAsync(process.argv)
