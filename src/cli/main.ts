/** The entry point of the command line. */
import { withCommands } from './commandLine.ts'

process.on('unhandledRejection', (error) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exit(70)
})

// a reader that closes the pipe needs no more output
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

await withCommands().parseAsync(process.argv)
