/** Ends the servers of a run that was killed, and therefore could not end them itself. */
import { spawn } from 'node:child_process'

export type Guard = { readonly dismiss: () => void }
type Command = readonly string[]

const ENDED = 'ended'
const TRIES = '1 2 3 4 5 6 7 8 9 10'

const quoted = (argument: string): string => `'${argument.replaceAll("'", String.raw`'\''`)}'`
/** A server that was just being started may not be ready to be stopped. */
const tried = (command: Command): string => {
  const line = command.map(quoted).join(' ')
  return `for try in ${TRIES}; do ${line} && break; sleep 0.5; done`
}

/** It reads from a pipe that only this process holds open: the end of this process, however it comes, ends the pipe. */
export const guarded = (stops: readonly Command[]): Guard => {
  const script = `read -r word; [ "$word" = ${ENDED} ] && exit; ${stops.map(tried).join('; ')}`
  const guard = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return { dismiss: () => void guard.stdin.end(`${ENDED}\n`) }
}
