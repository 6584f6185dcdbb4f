/** Where a program lies on this machine. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join, resolve, sep } from 'node:path'

/** Where the program is: below one of the folders of `searchPath`, unless it names a folder itself. Null: there is none that may be run. */
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
