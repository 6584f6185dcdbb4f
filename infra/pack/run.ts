/**
 * Writes `dist/`, the form of `src/` that the npm package holds: Node strips no types from files below `node_modules`.
 * `npm pack` runs it before it packs, and with `--remove` afterwards, so that a checkout never holds a second form of
 * the program.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packedText } from './strip.ts'

const ROOT = join(import.meta.dirname, '../..')
const [SRC, DIST] = [join(ROOT, 'src'), join(ROOT, 'dist')]
/** What only the compiler reads. */
const OMITTED = /(?:\.d\.ts|tsconfig\.json)$/

const writeOne = (path: string): void => {
  const [from, to] = [join(SRC, path), join(DIST, path.replace(/\.ts$/, '.js'))]
  mkdirSync(dirname(to), { recursive: true })
  if (!path.endsWith('.ts')) return copyFileSync(from, to)
  const isSource = (other: string): boolean => existsSync(join(dirname(from), other))
  writeFileSync(to, packedText(readFileSync(from, 'utf8'), isSource))
}

const remove = (): void => rmSync(DIST, { recursive: true, force: true })

const write = (): void => {
  remove()
  const paths = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !OMITTED.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(SRC.length + 1))
  for (const path of paths) writeOne(path)
}

// Node says of its function that strips types that it is experimental; the outcome is tested.
process.removeAllListeners('warning')
if (process.argv.includes('--remove')) remove()
else write()
