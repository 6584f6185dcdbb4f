/** The contract of image stores, on a folder. */
import { createHash, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { folderCatalogue, folderFiles } from '../../../src/neighbours/images/folder.ts'
import { imageContract } from '../../contracts/images.contract.ts'
import { tempFolder } from '../../support/program.ts'

const { path, remove } = tempFolder('images')
afterAll(remove)

imageContract(() => ({
  catalogue: folderCatalogue(path),
  files: folderFiles(path),
  put: async (description, bytes) => {
    const uuid = randomUUID()
    const hash = createHash('sha512').update(bytes).digest('hex')
    const told = { os_hash_algo: 'sha512', os_hash_value: hash, ...description }
    writeFileSync(join(path, `${uuid}.json`), JSON.stringify(told))
    writeFileSync(join(path, `${uuid}.bin`), bytes)
    return uuid
  },
}))
