/** Stops the servers of a run that was killed and therefore could not stop them itself. */
import { spawn } from 'node:child_process'

export type Guard = { readonly dismiss: () => void }
type Command = readonly string[]

const ENDED = 'ended'
const TRIES = '1 2 3 4 5 6 7 8 9 10'

const quoted = (argument: string): string => `'${argument.replaceAll("'", String.raw`'\''`)}'`
/** The stop is retried, because a server that is still starting may not accept it yet. */
const tried = (command: Command): string => {
  const line = command.map(quoted).join(' ')
  return `for try in ${TRIES}; do ${line} && break; sleep 0.5; done`
}

/**
 * The guard reads from a pipe that only this process holds open. However this process ends, the pipe is closed and the
 * guard acts.
 */
export const guarded = (stops: readonly Command[]): Guard => {
  const script = `read -r word; [ "$word" = ${ENDED} ] && exit; ${stops.map(tried).join('; ')}`
  const guard = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return { dismiss: () => void guard.stdin.end(`${ENDED}\n`) }
}
