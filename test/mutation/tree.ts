/**
 * Private copies of the repository, in which a file may be changed; packages are linked, everything is removed at the
 * end.
 */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LEFT_OUT = new Set(['node_modules', '.git', 'data', 'coverage'])

/** A folder of links, so that caches beside the packages are the copy's own. */
const linkPackages = (root: string, folder: string): void => {
  mkdirSync(folder)
  for (const name of readdirSync(root))
    if (name.startsWith('@')) linkPackages(join(root, name), join(folder, name))
    else if (!name.startsWith('.') || name === '.bin') symlinkSync(join(root, name), join(folder, name))
}

/** The type checker of a copy looks at the program only, and remembers what it has seen. */
const TYPES = {
  extends: './tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: './tmp/types.tsbuildinfo' },
  include: ['src'],
}
export const TYPES_FILE = 'tsconfig.mutation.json'

export type Trees = {
  readonly folder: string
  readonly copy: (name: string) => string
  readonly remove: () => void
}
export const makeTrees = (root: string): Trees => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-mutation-'))
  // a database server of the tests runs as another user
  chmodSync(folder, 0o755)
  return {
    folder,
    copy: (name) => {
      const tree = join(folder, name)
      mkdirSync(tree)
      for (const entry of readdirSync(root))
        if (!LEFT_OUT.has(entry)) cpSync(join(root, entry), join(tree, entry), { recursive: true })
      linkPackages(join(root, 'node_modules'), join(tree, 'node_modules'))
      mkdirSync(join(tree, 'tmp'), { recursive: true })
      writeFileSync(join(tree, TYPES_FILE), JSON.stringify(TYPES))
      return tree
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  }
}

/** The file as it is while `work` runs; afterwards as it was. */
export const withText = async <Value>(file: string, text: string, work: () => Promise<Value>): Promise<Value> => {
  const before = readFileSync(file, 'utf8')
  writeFileSync(file, text)
  try {
    return await work()
  } finally {
    writeFileSync(file, before)
  }
}
