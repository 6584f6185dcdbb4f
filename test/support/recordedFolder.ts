/** A recorded host, as `accelerando device record` leaves it: the files of the host, and what programs printed. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tree } from '../drivers/recordedHostIo.ts'

const unpack = (tree: Tree, into: string): void => {
  mkdirSync(into, { recursive: true })
  for (const [name, node] of Object.entries(tree)) {
    const path = join(into, name)
    if (typeof node === 'string') writeFileSync(path, node)
    else if (typeof node['->'] === 'string') symlinkSync(node['->'], path)
    else unpack(node, path)
  }
}

export const recordedFolder = (folder: string, tree: Tree): string => {
  unpack(tree, join(folder, 'root'))
  writeFileSync(join(folder, 'commands.json'), '[]')
  return folder
}
