/**
 * Serves the documents that `npm run docs` built, on the listener of the console. Only names that were found in the
 * folder are answered, so that no path can lead out of it. The built pages hold a few scripts of their own: the content
 * policy names each by its hash.
 */
import { createHash } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export type SiteFile = {
  readonly status: 200 | 404
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  /** True: the name of the file holds a hash of its content, so a browser may keep it. */
  readonly lasting: boolean
}
export type Site = { readonly policy: string; readonly get: (path: string) => Promise<SiteFile | null> }
/** Resolves to null when no documents are built. */
export type Documents = () => Promise<Site | null>

/** The folder of the built documents: beside `src/` in a checkout, beside `dist/` in the package. */
export const DOCUMENTS = fileURLToPath(new URL('../../documents/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const LASTING = /^assets\/.*\.[\w-]{8}(\.lean)?\.\w+$/
const INLINE = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64')

export const inlineScripts = (html: string): readonly string[] =>
  [...html.matchAll(INLINE)].map(([, text = '']) => text).filter((text) => text !== '')

export const policyOf = (scripts: readonly string[]): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(scripts.map((text) => `'sha256-${sha256(text)}'`))].join(' '),
    "style-src 'self'",
    // the style sheet of the documents contains the icons of their theme
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const decoded = (path: string): string | null => {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

const readSite = async (folder: string): Promise<Site> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).split(sep).join('/'), path] as const),
  )
  const scripts: string[] = []
  for (const [name, path] of names)
    if (name.endsWith('.html')) scripts.push(...inlineScripts(await readFile(path, 'utf8')))
  const fileOf = async (name: string, status: 200 | 404): Promise<SiteFile | null> => {
    const path = names.get(name)
    if (path === undefined) return null
    const bytes = new Uint8Array(await readFile(path))
    const type = TYPES[extname(name)] ?? 'application/octet-stream'
    return { status, type, bytes, etag: `"${sha256(bytes).slice(0, 22)}"`, lasting: LASTING.test(name) }
  }
  return {
    policy: policyOf(scripts),
    get: async (path) => {
      const name = decoded(path)?.replace(/(^|\/)$/, '$1index.html')
      return (name === undefined ? null : await fileOf(name, 200)) ?? (await fileOf('404.html', 404))
    },
  }
}

/** Reads the folder at the first question, and again when other documents were built since. */
export const documentsIn = (folder: string): Documents => {
  let known: { readonly builtMs: number; readonly site: Promise<Site> } | null = null
  return async () => {
    const index = await stat(join(folder, 'index.html')).catch(() => null)
    if (index === null) return null
    if (known?.builtMs === index.mtimeMs) return known.site
    const site = readSite(folder)
    known = { builtMs: index.mtimeMs, site }
    // the documents were read while they were being built; the next question reads them again
    site.catch(() => (known = null))
    return site
  }
}
