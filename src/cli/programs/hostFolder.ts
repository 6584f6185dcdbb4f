/** The folder of a host program. Only one process may use it at a time, and it always belongs to the same host. */
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type FolderLock, lockFolder } from '../../persistence/folderLock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { makeDataFolder } from './dataFolder.ts'
import { StartProblem } from './startProblem.ts'

const FILE = 'host.json'
const Identity = v.pipe(v.string(), v.parseJson(), v.object({ name: v.string() }))

const rememberedIn = (path: string): string | null => {
  try {
    return v.parse(Identity, readFileSync(path, 'utf8')).name
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new StartProblem(`data: ${path} does not say whose folder this is: ${messageOf(error)}`)
  }
}
const locked = async (folder: string): Promise<FolderLock> => {
  try {
    return await lockFolder(folder)
  } catch (error) {
    throw new StartProblem(`data: ${messageOf(error)}`, { cause: error })
  }
}

/** A ledger records the state of one host's devices and must not be used for another host. */
export const openHostFolder = async (folder: string, name: string, log: Log): Promise<FolderLock> => {
  await makeDataFolder(folder, log)
  const lock = await locked(folder)
  const path = join(folder, FILE)
  try {
    const remembered = rememberedIn(path)
    if (remembered !== null && remembered !== name)
      throw new StartProblem(
        `data: ${folder} belongs to the host ${remembered}: take another folder for ${name}, or --name ${remembered}`,
      )
    if (remembered === null) {
      writeFileSync(`${path}.tmp`, `${JSON.stringify({ name })}\n`)
      renameSync(`${path}.tmp`, path)
    }
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}
