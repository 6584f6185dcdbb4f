/**
 * The folder of a program. It contains a private key and a ledger, so only the user of the program should have access.
 */
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import { StartProblem } from './startProblem.ts'

const OTHERS_MAY_WRITE = 0o002

/** Why another user could replace files in the folder; null: only the user of the program could. */
export const exposureOf = (
  { uid, mode }: { readonly uid: number; readonly mode: number },
  user: number | undefined,
): string | null => {
  if ((mode & OTHERS_MAY_WRITE) !== 0) return 'everybody on this machine may write to it'
  return user === undefined || uid === user ? null : `it belongs to another user (${uid})`
}

/**
 * Makes the folder and those above it. Not with the option `recursive`: Node then tries for ever where a folder is
 * there and takes no other, as `/proc`.
 */
const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder)
  } catch (error) {
    const above = dirname(folder)
    if (codeOf(error) === 'EEXIST' && (await stat(folder)).isDirectory()) return
    if (codeOf(error) !== 'ENOENT' || above === folder || (await stat(above).catch(() => null)) !== null) throw error
    await makeFolder(above)
    await mkdir(folder)
  }
}

export const makeDataFolder = async (folder: string, log: Log): Promise<void> => {
  try {
    await makeFolder(folder)
    const exposure = exposureOf(await stat(folder), process.getuid?.())
    if (exposure !== null) log.warn({ folder, reason: exposure }, 'data.folderExposed')
  } catch (error) {
    throw new StartProblem(
      `data: ${folder} is not a folder that this program may write to (${messageOf(error)}); name another one by --data`,
      { cause: error },
    )
  }
}
