/** Source files in which each function notes that it was run. Pure. */
import { parseSync } from 'oxc-parser'
import { child, children, type Node } from '../tidy/source.ts'

/** Offsets in the text without the notes. */
export type Span = { readonly start: number; readonly end: number }
type Insertion = { readonly at: number; readonly text: string }

const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/
const functionsIn = (node: Node): readonly Node[] => [
  ...(FUNCTION.test(node.type) && child(node, 'body') !== null ? [node] : []),
  ...children(node).flatMap(([, each]) => functionsIn(each)),
]
const programOf = (path: string, text: string): Node => {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  return program as unknown as Node
}

/** `hits.ts` defines what is called. An arrow function without braces gets parentheses. */
const noteIn = (fn: Node, id: number): readonly Insertion[] => {
  const body = child(fn, 'body')!
  const note = `globalThis.__hit?.(${id})`
  return body.type === 'BlockStatement' || body.type === 'FunctionBody'
    ? [{ at: body.start + 1, text: `${note};` }]
    : [
        { at: body.start, text: `(${note},` },
        { at: body.end, text: ')' },
      ]
}

/** The text with notes, and its functions: the number of a function is `first` and its place in that list. */
export const probed = (
  path: string,
  text: string,
  first: number,
): { readonly text: string; readonly functions: readonly Span[] } => {
  const functions = functionsIn(programOf(path, text))
  const insertions = functions.flatMap((fn, at) => noteIn(fn, first + at))
  // from the end, so that the places before stay as they are; of two at one place the outer parenthesis closes last
  const ordered = insertions
    .map((one, order) => ({ ...one, order }))
    .toSorted((a, b) => b.at - a.at || a.order - b.order)
  return {
    text: ordered.reduce((whole, { at, text: note }) => whole.slice(0, at) + note + whole.slice(at), text),
    functions: functions.map(({ start, end }) => ({ start, end })),
  }
}

/** The place in the list of the innermost function around the offset; -1: it belongs to none. */
export const innermost = (functions: readonly Span[], offset: number): number =>
  functions.reduce(
    (best, { start, end }, at) =>
      start <= offset && offset < end && (best < 0 || start >= functions[best]!.start) ? at : best,
    -1,
  )
