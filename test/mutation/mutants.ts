/** All mutants of a file: each is one small change of its text. */
import { parseSync } from 'oxc-parser'
import { child, children, lineFinder } from '../tidy/source.ts'
import type { Node } from '../tidy/source.ts'
import { KINDS, logs } from './kinds.ts'

export type Mutant = {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly line: number
  readonly kind: string
  readonly start: number
  readonly end: number
  /** The text from `start` to `end`, and what replaces it. */
  readonly original: string
  readonly mutated: string
}

/**
 * What is only logged is left alone. Types vanish before the program runs; of a cast or a claim only the expression is
 * left.
 */
const CASTS = /^TS(As|NonNull|Satisfies|Instantiation)(Expression)?$/
const VANISHES = /^(typeAnnotation|returnType|typeParameters|typeArguments|superTypeArguments)$/
const MODULES = /^(ImportDeclaration|ExportAllDeclaration|ImportExpression)$/
const inside = (node: Node): readonly Node[] => {
  if (MODULES.test(node.type) || logs(node)) return []
  if (node.type.startsWith('TS')) return CASTS.test(node.type) ? [child(node, 'expression')!] : []
  return children(node).flatMap(([key, each]) =>
    VANISHES.test(key) || (node.type === 'ExportNamedDeclaration' && key === 'source') ? [] : [each],
  )
}

export const mutantsOf = (path: string, text: string): readonly Mutant[] => {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  const lineAt = lineFinder(text)
  const found: Mutant[] = []
  const visit = (node: Node, parents: readonly Node[]): void => {
    for (const [kind, edits] of Object.entries(KINDS))
      for (const { start, end, with: mutated } of edits({ node, parents, text }))
        found.push({ path, line: lineAt(start), kind, start, end, original: text.slice(start, end), mutated })
    for (const each of inside(node)) visit(each, [...parents, node])
  }
  visit(program as unknown as Node, [])
  return [...new Map(found.map((one) => [`${one.start} ${one.end} ${one.mutated}`, one])).values()]
}

export const applied = (text: string, { start, end, mutated }: Mutant): string =>
  text.slice(0, start) + mutated + text.slice(end)

const MAX_SHOWN = 110
const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}...` : line || 'nothing'
}
export const shown = ({ path, line, kind, original, mutated }: Mutant): string =>
  `${path}:${line} (${kind})\n    was:    ${short(original)}\n    became: ${short(mutated)}`
