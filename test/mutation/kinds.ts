/**
 * The kinds of small faults that a mutation plants: for a node of the syntax tree, the texts that may replace a part of
 * it.
 */
import { child, children, nameOf } from '../tidy/source.ts'
import type { Node } from '../tidy/source.ts'

/** A part of the file, from `start` to `end`, and what replaces it. */
export type Edit = { readonly start: number; readonly end: number; readonly with: string }
/** `parents`: from the program down to the parent of the node. */
export type Spot = { readonly node: Node; readonly parents: readonly Node[]; readonly text: string }
type Kind = (spot: Spot) => readonly Edit[]

const source = (text: string, { start, end }: Node): string => text.slice(start, end)
const replaced = ({ start, end }: Node, text: string): Edit => ({ start, end, with: text })
const listed = (node: Node, key: string): readonly Node[] =>
  children(node).flatMap(([name, each]) => (name === key ? [each] : []))

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '+=': ['-='],
  '-=': ['+='],
}
const operator: Kind = ({ node, text }) => {
  if (!/^(Binary|Assignment)Expression$/.test(node.type)) return []
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  const sign = String(node['operator'])
  if (!left || !right) return []
  const at = text.indexOf(sign, left.end)
  return (OTHERS[sign] ?? []).map((other) => ({ start: at, end: at + sign.length, with: other }))
}

/** `a && b`: with the other operator, and with each of its sides alone. */
const logical: Kind = ({ node, text }) => {
  if (node.type !== 'LogicalExpression') return []
  const [left, right] = [source(text, child(node, 'left')!), source(text, child(node, 'right')!)]
  const sides = [replaced(node, `(${left})`), replaced(node, `(${right})`)]
  const other = { '&&': '||', '||': '&&' }[String(node['operator'])]
  return other === undefined ? sides : [replaced(node, `((${left}) ${other} (${right}))`), ...sides]
}

const condition: Kind = ({ node }) => {
  const test = /^(If|While|DoWhile)Statement$/.test(node.type) ? child(node, 'test') : null
  if (!test) return []
  return node.type === 'IfStatement' ? [replaced(test, 'true'), replaced(test, 'false')] : [replaced(test, 'false')]
}

const branches: Kind = ({ node, text }) => {
  const [yes, no] = [child(node, 'consequent'), child(node, 'alternate')]
  if (!/^(IfStatement|ConditionalExpression)$/.test(node.type) || !yes || !no) return []
  const between = text.slice(yes.end, no.start)
  return [{ start: yes.start, end: no.end, with: `${source(text, no)}${between}${source(text, yes)}` }]
}

/**
 * Words for people that no test is asked to repeat, and that are therefore not mutated: what is logged, messages of
 * errors that are thrown, and fields such as `description`. What a command prints, an answer of the API and a help text
 * are mutated: scripts and clients read them.
 */
const LOGS = /^(log|logger|console)$/
const FOR_PEOPLE = /^(about|description|help|hint|meaning|note|summary|title|why)$/
export const logs = (node: Node): boolean => {
  const callee = node.type === 'CallExpression' ? child(node, 'callee') : null
  const object = callee && child(callee, 'object')
  return object !== null && LOGS.test(nameOf(child(object, 'property') ?? object))
}
const isForPeople = (node: Node): boolean =>
  (node.type === 'NewExpression' && nameOf(child(node, 'callee')).endsWith('Error')) ||
  (node.type === 'Property' && FOR_PEOPLE.test(nameOf(child(node, 'key'))))
const isName = ({ node, parents }: Spot): boolean => {
  const parent = parents.at(-1)
  return parent?.type === 'Property' && parent['computed'] !== true && child(parent, 'key') === node
}

/**
 * Numbers that only set a pace are not mutated either: how long a loop rests between two looks, and how many
 * connections a pool may open for reading. With one more the program does the same, a little later or sooner. A limit
 * after which something is refused or given up is none of them.
 */
const PACES = /^(sleep|wait|readers)$/
const isPace = ({ parents }: Spot): boolean => {
  const parent = parents.at(-1)
  const named = parent?.type === 'CallExpression' ? child(parent, 'callee') : null
  const property = parent?.type === 'Property' ? child(parent, 'key') : null
  return PACES.test(nameOf(named ?? property))
}

const constant: Kind = (spot) => {
  const { node, parents } = spot
  if (node.type !== 'Literal' || isName(spot)) return []
  const { value } = node
  if (typeof value === 'boolean') return [replaced(node, String(!value))]
  if (typeof value === 'number' && isPace(spot)) return []
  if (typeof value === 'number') return [replaced(node, String(value + 1))]
  if (typeof value === 'bigint') return [replaced(node, `${value + 1n}n`)]
  if (typeof value !== 'string' || parents.some(isForPeople)) return []
  return [replaced(node, value === '' ? `'mutated'` : `''`)]
}
const template: Kind = ({ node, parents }) =>
  node.type !== 'TemplateLiteral' || parents.at(-1)?.type === 'TaggedTemplateExpression' || parents.some(isForPeople)
    ? []
    : [replaced(node, '``')]

const HAS_EFFECT = /^(Call|Assignment|Update|Yield|New)Expression$/
const statement: Kind = ({ node }) => {
  if (/^(Continue|Throw)Statement$/.test(node.type)) return [replaced(node, ';')]
  if (node.type === 'ReturnStatement' && child(node, 'argument') === null) return [replaced(node, ';')]
  let what = node.type === 'ExpressionStatement' ? child(node, 'expression') : null
  while (what && /^(Await|Unary|Chain)Expression$/.test(what.type))
    what = child(what, 'argument') ?? child(what, 'expression')
  return what && HAS_EFFECT.test(what.type) && !logs(what) ? [replaced(node, ';')] : []
}
const leftLoop: Kind = ({ node, parents }) => {
  const around = parents.findLast(({ type }) => /^(For|ForOf|ForIn|While|DoWhile|Switch)Statement$/.test(type))
  return node.type === 'BreakStatement' && around?.type !== 'SwitchStatement' ? [replaced(node, ';')] : []
}

/**
 * From a list between brackets one item is left out, with the comma that follows it or, for the last, the one before.
 */
const without = (text: string, items: readonly Node[]): readonly Edit[] =>
  items.map((item, n) => {
    const [before, next] = [items[n - 1], items[n + 1]]
    if (next) return { start: item.start, end: next.start, with: '' }
    const after = /^\s*,/.exec(text.slice(item.end))?.[0].length ?? 0
    return { start: before?.end ?? item.start, end: item.end + after, with: '' }
  })
const element: Kind = ({ node, text }) =>
  node.type === 'ArrayExpression' ? without(text, listed(node, 'elements')) : []
const property: Kind = ({ node, text }) => {
  if (node.type !== 'ObjectExpression') return []
  const properties = listed(node, 'properties')
  const edits = without(text, properties)
  return edits.filter((_, n) => !isForPeople(properties[n]!))
}

const negation: Kind = ({ node, text }) =>
  node.type === 'UnaryExpression' && /^[!-]$/.test(String(node['operator']))
    ? [replaced(node, source(text, child(node, 'argument')!))]
    : []

const step: Kind = ({ node, text }) => {
  if (node.type !== 'UpdateExpression') return []
  const other = node['operator'] === '++' ? '--' : '++'
  return [replaced(node, source(text, node).replace(String(node['operator']), other))]
}

const anchor: Kind = ({ node }) => {
  if (node.type !== 'Literal' || typeof node['regex'] !== 'object') return []
  const { pattern, flags } = node['regex'] as { readonly pattern: string; readonly flags: string }
  const patterns = [pattern.replace(/^\^/, ''), pattern.replace(/(?<!\\)\$$/, '')]
  return patterns.filter((one) => one !== pattern && one !== '').map((one) => replaced(node, `/${one}/${flags}`))
}

const waiting: Kind = ({ node, text }) =>
  node.type === 'AwaitExpression' ? [replaced(node, source(text, child(node, 'argument')!))] : []

const optional: Kind = ({ node, text }) => {
  const target = child(node, 'object') ?? child(node, 'callee')
  if (node['optional'] !== true || !target) return []
  const at = text.indexOf('?.', target.end)
  return [{ start: at, end: at + 2, with: /[[(]/.test(text[at + 2]!) ? '!' : '!.' }]
}

const COUNTERPART: ReadonlyMap<string, string> = new Map(
  Object.entries({
    min: 'max',
    max: 'min',
    some: 'every',
    every: 'some',
    find: 'findLast',
    findLast: 'find',
    findIndex: 'findLastIndex',
    findLastIndex: 'findIndex',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
  }),
)
/** Calls that give something of the same type back as they are called on. */
const LEFT_OUT = /^(filter|toSorted|toReversed|slice|trim|toLowerCase|toUpperCase)$/
const method: Kind = ({ node }) => {
  const callee = node.type === 'CallExpression' ? child(node, 'callee') : null
  const [object, property] = callee ? [child(callee, 'object'), child(callee, 'property')] : [null, null]
  if (!object || !property) return []
  const other = COUNTERPART.get(nameOf(property))
  if (other !== undefined) return [replaced(property, other)]
  return LEFT_OUT.test(nameOf(property)) ? [{ start: object.end, end: node.end, with: '' }] : []
}

export const KINDS: Readonly<Record<string, Kind>> = {
  operator,
  logical,
  condition,
  branches,
  constant,
  template,
  statement,
  leftLoop,
  element,
  property,
  negation,
  step,
  anchor,
  waiting,
  optional,
  method,
}
