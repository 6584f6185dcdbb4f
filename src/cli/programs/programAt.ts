/** Finds the path of a program on this machine. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join, resolve, sep } from 'node:path'

/**
 * The path of the program in one of the folders of `searchPath`, unless `program` is a path itself. Null: there is none
 * that may be run.
 */
export const programAt = async (program: string, searchPath: string): Promise<string | null> => {
  const folders = program.includes(sep) ? [''] : searchPath.split(delimiter).filter(Boolean)
  for (const folder of folders) {
    const path = join(folder, program)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return resolve(path)
  }
  return null
}
