/** The files in which a host keeps data: what is told of a text that could not take the place of the former one. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fileDisk } from '../../src/host/disk.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('disk')
afterAll(folder.remove)

test('a file is replaced as a whole, in a folder that is made for it', async () => {
  const path = join(folder.path, 'new', 'file')
  await fileDisk.replace(path, 'one')
  await fileDisk.replace(path, 'two')
  expect([await fileDisk.read(path), await readFile(path, 'utf8')]).toEqual(['two', 'two'])
})
test('whoever replaces a file hears of it when the new text could not take its place', async () => {
  const path = join(folder.path, 'taken')
  await mkdir(path)
  await writeFile(join(path, 'entry'), '')
  await expect(fileDisk.replace(path, 'text')).rejects.toMatchObject({ syscall: 'rename' })
})
