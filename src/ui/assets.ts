/**
 * Loads the files for the browser: our own ones with the types stripped, and preact from node_modules, all from this
 * process. There is no build step, and nothing is fetched from elsewhere. Each address holds a hash of all files, so a
 * browser fetches no file twice.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { VIEWS as VIEWS_BY_NAME } from './view/views.ts'

export type Asset = { readonly type: string; readonly plain: Buffer; readonly br: Buffer; readonly gzip: Buffer }
export type Assets = {
  readonly hash: string
  /** The names of all scripts that a page of this view needs, so that it can ask for them at once. */
  readonly scripts: (view: string) => readonly string[]
  readonly get: (name: string) => Asset | undefined
}

const ENTRY = fileURLToPath(new URL('./browser/main.ts', import.meta.url))
const TAIL = fileURLToPath(new URL('./browser/tail.ts', import.meta.url))
const RECORDER = fileURLToPath(new URL('./browser/recorder.ts', import.meta.url))
const VIEWS = fileURLToPath(new URL('./view/views.ts', import.meta.url))
const WORKER = fileURLToPath(new URL('./browser/worker.ts', import.meta.url))
/** Matches comments with which a line begins. */
const COMMENTS = /^ *\/\*\*[\s\S]*?\*\//gm
/** Matches the lines of the table of views. */
const VIEW = /^ {2}(\w+): .*import\('(\.\/\w+\.[jt]s)'\)/gm
const OWN = /from\s*'(\.{1,2}\/[^']+\.[jt]s)'/g
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' }

/** In the browser, the files that our own imports name end in `.js`, and a library is a file beside them. */
const readdressed = (text: string): string =>
  text
    .replaceAll(/(from\s*|import\s*|import\()'(\.{1,2}\/[^']+)\.ts'/g, "$1'$2.js'")
    .replaceAll(/from\s*['"]preact['"]/g, "from '../preact.js'")

const compact = promisify(brotliCompress)
const zip = promisify(gzip)
const assetOf = async (name: string, text: string): Promise<readonly [string, Asset]> => {
  const plain = Buffer.from(text)
  const type = TYPES[name.split('.').at(-1) as keyof typeof TYPES]
  const [br, gzipped] = await Promise.all([compact(plain), zip(plain)])
  return [name, { type, plain, br, gzip: gzipped }]
}

/** Suppresses the warning of Node that this function is experimental, since an operator cannot do anything about it. */
const stripped = (text: string): string => {
  const warn = Reflect.get(process, 'emitWarning')
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text).replaceAll(COMMENTS, (comment) => '\n'.repeat(comment.split('\n').length - 1))
  } finally {
    process.emitWarning = warn
  }
}

/** Returns the file and all files that it imports, by path. Stripping has removed the imports of types. */
const reached = (path: string, found = new Map<string, string>()): ReadonlyMap<string, string> => {
  if (found.has(path)) return found
  const text = stripped(readFileSync(path, 'utf8'))
  found.set(path, text)
  for (const [, specifier = ''] of text.matchAll(OWN)) reached(join(dirname(path), specifier), found)
  return found
}

/** Returns the file of each view. Throws when a line of the table has another form. */
const filesOfViews = (): ReadonlyMap<string, string> => {
  const files = [...readFileSync(VIEWS, 'utf8').matchAll(VIEW)].map(
    ([, view = '', file = '']) => [view, join(dirname(VIEWS), file)] as const,
  )
  const missing = Object.keys(VIEWS_BY_NAME).filter((view) => !files.some(([named]) => named === view))
  if (missing.length > 0) throw new Error(`no file is known of the view ${missing.join(', ')}`)
  return new Map(files)
}

/** Differs whenever the name or the text of a file differs. */
export const hashOf = (files: readonly (readonly [name: string, text: string])[]): string =>
  hash('sha256', files.map(([name, text]) => `${name}\0${text}\0`).join('')).slice(0, 12)

/** Reads and strips about thirty files, once. Throws when one of them is missing. */
export const loadAssets = async (): Promise<Assets> => {
  const here = import.meta.dirname
  const nameOf = (path: string) => relative(here, path).replaceAll(sep, '/').replace(/ts$/, 'js')
  const preact = readFileSync(createRequire(import.meta.url).resolve('preact'), 'utf8')
  const views = [...filesOfViews()].map(([view, path]) => [view, path, reached(path)] as const)
  const shared = reached(ENTRY)
  const sources = new Map([
    ...shared,
    ...reached(WORKER),
    ...reached(TAIL),
    ...reached(RECORDER),
    ...views.flatMap(([, , found]) => [...found]),
  ])
  const files: readonly (readonly [string, string])[] = [
    ...[...sources].map(([path, text]) => [nameOf(path), readdressed(text)] as const),
    ['preact.js', preact.replace(/\n?\/\/# sourceMappingURL=.*$/m, '')],
    ['style.css', readFileSync(join(here, 'style.css'), 'utf8')],
    ['icon.svg', readFileSync(join(here, 'icon.svg'), 'utf8')],
  ]
  const made = new Map(await Promise.all(files.map(([name, text]) => assetOf(name, text))))
  const scripts = new Map(
    views.map(([view, , found]) => [view, ['preact.js', ...new Set([...shared.keys(), ...found.keys()].map(nameOf))]]),
  )
  return {
    hash: hashOf(files),
    scripts: (view) => scripts.get(view) ?? [],
    get: (name) => made.get(name),
  }
}
