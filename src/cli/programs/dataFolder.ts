/**
 * The folder of a program. It contains a private key and a ledger, so only the user of the program should have access.
 */
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { exposedOn } from './exposure.ts'
import { StartProblem } from './startProblem.ts'

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
    for (const { path, reason } of await exposedOn(folder)) log.warn({ folder: path, reason }, 'data.folderExposed')
  } catch (error) {
    throw new StartProblem(
      `data: ${folder} is not a folder that this program may write to (${messageOf(error)}); name another one by --data`,
      { cause: error },
    )
  }
}
