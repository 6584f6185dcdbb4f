/** Commands, run by a shell. */
import { spawn } from 'node:child_process'

const COMMANDS_MS = 180_000
/** What was printed. Rejects with that and the errors unless each command succeeds. */
export const shell = async (script: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMANDS_MS,
  })
  let [printed, complained] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (complained += part))
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`exit ${code} of\n${script}\n${printed}\n${complained}`)
  return printed
}
