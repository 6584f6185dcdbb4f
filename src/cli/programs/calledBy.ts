/** With which words a person calls this program in the shell in which it was started. */
import { relative } from 'node:path'
import { programAt } from './programAt.ts'

type Process = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The path of the script that runs. */
  readonly script: string | undefined
  readonly cwd: string
}

/** The name alone where the shell finds it: npm adds folders to its path that the shell of the caller does not have. */
export const calledBy = async ({ env, script, cwd }: Process): Promise<string> => {
  if (env['npm_command'] === 'exec') return 'npx accelerando'
  const found = env['npm_command'] === undefined && (await programAt('accelerando', env['PATH'] ?? '')) !== null
  return found || script === undefined ? 'accelerando' : `node ${relative(cwd, script)}`
}
