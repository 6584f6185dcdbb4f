/** Reads a TypeScript file into the few things the rules ask about. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * `type` vanishes when types are stripped; `value` is loaded at once; `lazy` later: `import()` or a worker's `new
 * URL()`.
 */
export type Import = { readonly kind: 'type' | 'value' | 'lazy'; readonly specifier: string; readonly line: number }
/** Something done that a rule may forbid: `Date.now`, `process.env`, `await`, `.decide()` ... */
export type Use = { readonly what: string; readonly line: number }
export type Shape = { readonly name: string; readonly line: number; readonly lines: number; readonly nesting: number }
export type Source = {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly Import[]
  readonly uses: readonly Use[]
  readonly functions: readonly Shape[]
}

export type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>
type Frame = { name: string; line: number; lines: number; nesting: number }
type Walk = {
  readonly lineAt: (offset: number) => number
  readonly imports: Import[]
  readonly uses: Use[]
  readonly functions: Shape[]
}
type Place = { readonly frame: Frame | null; readonly depth: number; readonly name: string }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
export const child = (node: Node, key: string): Node | null => {
  const value = node[key]
  return isNode(value) ? value : null
}
export const children = (node: Node): readonly (readonly [string, Node])[] =>
  Object.entries(node).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((each) => [key, each] as const),
  )
export const nameOf = (node: Node | null): string =>
  node === null
    ? ''
    : typeof node['name'] === 'string'
      ? node['name']
      : typeof node['value'] === 'string'
        ? node['value']
        : ''

const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/
const NESTS = /^(If|For|ForIn|ForOf|While|DoWhile|Switch|Try)Statement$/
const IMPORTS = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration|ImportExpression|TSImportType)$/

const importOf = (node: Node, line: number): Import | null => {
  const source = IMPORTS.test(node.type) ? child(node, 'source') : workerUrl(node)
  if (source === null || typeof source['value'] !== 'string') return null
  const specifier = source['value']
  if (/^(ImportExpression|NewExpression)$/.test(node.type)) return { kind: 'lazy', specifier, line }
  const typed = node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type'
  return { kind: typed ? 'type' : 'value', specifier, line }
}

/** `new URL('./worker.ts', import.meta.url)` names a module as surely as an import does. */
const workerUrl = (node: Node): Node | null => {
  if (node.type !== 'NewExpression' || nameOf(child(node, 'callee')) !== 'URL') return null
  const [first] = children(node).flatMap(([key, each]) => (key === 'arguments' ? [each] : []))
  return first !== undefined && /^\.{1,2}\/.*\.[jt]s$/.test(nameOf(first)) ? first : null
}

const useOf = (node: Node): string | null => {
  const callee = child(node, 'callee')
  if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node['await'] === true)) return 'await'
  if (node.type === 'MemberExpression') return memberUse(node)
  if (node.type === 'NewExpression' && nameOf(callee) === 'Date')
    return children(node).some(([key]) => key === 'arguments') ? null : 'new Date()'
  if (node.type !== 'CallExpression' || callee === null) return null
  if (nameOf(child(callee, 'property')) !== 'decide') return `${nameOf(callee)}()`
  return `${nameOf(child(callee, 'object')) === 'draft' ? 'draft' : ''}.decide()`
}

const memberUse = (node: Node): string | null => {
  const object = child(node, 'object')
  return object?.type === 'Identifier' ? `${nameOf(object)}.${nameOf(child(node, 'property'))}` : null
}

const enter = (walk: Walk, node: Node, place: Place): Frame => {
  const line = walk.lineAt(node.start)
  const name = nameOf(child(node, 'id')) || place.name || 'a function'
  const frame = { name, line, lines: walk.lineAt(node.end) - line + 1, nesting: 0 }
  walk.functions.push(frame)
  return frame
}

/** An `else if` continues its chain: it does not nest. */
const depthIn = (node: Node, key: string, each: Node, depth: number): number =>
  NESTS.test(node.type) && !(key === 'alternate' && each.type === 'IfStatement') ? depth + 1 : depth

const visit = (walk: Walk, node: Node, place: Place): void => {
  const line = walk.lineAt(node.start)
  const imported = importOf(node, line)
  if (imported !== null) walk.imports.push(imported)
  const use = useOf(node)
  if (use !== null) walk.uses.push({ what: use, line })
  const isFunction = FUNCTION.test(node.type)
  const frame = isFunction ? enter(walk, node, place) : place.frame
  const depth = isFunction ? 0 : place.depth
  if (frame !== null && NESTS.test(node.type)) frame.nesting = Math.max(frame.nesting, depth + 1)
  const name = nameOf(child(node, 'id') ?? child(node, 'key')) || place.name
  for (const [key, each] of children(node)) {
    visit(walk, each, { frame, depth: depthIn(node, key, each, depth), name })
  }
}

export const lineFinder = (text: string): ((offset: number) => number) => {
  const starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)]
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

export const parse = (path: string, text: string): Source => {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  const walk: Walk = { lineAt: lineFinder(text), imports: [], uses: [], functions: [] }
  visit(walk, program as unknown as Node, { frame: null, depth: 0, name: '' })
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return { path, text, lines, imports: walk.imports, uses: walk.uses, functions: walk.functions }
}

export const readFolder = (root: string, folder: string): readonly Source[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/').replace(/^\//, ''))
    .toSorted()
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')))

/** The file of the repository that a relative specifier means, or null for a library. */
export const target = (path: string, specifier: string): string | null =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null
