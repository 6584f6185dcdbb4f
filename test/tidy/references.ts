/**
 * Every citation names something that exists: sections and rules of docs/contract, rules of single files, decisions,
 * files of the tree.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The text files of the repository by path, and the paths of all its files. */
export type Tree = { readonly texts: ReadonlyMap<string, string>; readonly paths: ReadonlySet<string> }
type Check = (tree: Tree) => readonly string[]

const FOLDERS = ['src', 'test', 'docs', 'bench', 'infra', 'bin', '.ci']
const TEXT = /\.(ts|js|mjs|md|sh|ya?ml|toml)$/
/** Recorded outputs, and this check's own files, which write out what a wrong citation looks like. */
const SKIPPED = /(^|\/)(node_modules|golden|recorded)\/|^test\/tidy\/(references|referenceBites)\b/
const CONTRACT = 'docs/contract/'

const inFolder = (root: string, folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/').replace(/^\//, ''))

export const readTree = (root: string): Tree => {
  const top = readdirSync(root, { withFileTypes: true })
  const paths = [
    ...top.filter((entry) => entry.isFile()).map(({ name }) => name),
    ...top.filter(({ name }) => FOLDERS.includes(name)).flatMap(({ name }) => inFolder(root, name)),
  ].toSorted()
  const read = paths.filter((path) => TEXT.test(path) && !SKIPPED.test(path))
  return { texts: new Map(read.map((path) => [path, readFileSync(join(root, path), 'utf8')])), paths: new Set(paths) }
}

type Cited = { readonly at: string; readonly line: string; readonly match: RegExpMatchArray }

const cited = function* ({ texts }: Tree, pattern: RegExp, wanted: (path: string) => boolean): Iterable<Cited> {
  for (const [path, text] of texts) {
    if (!wanted(path)) continue
    for (const [index, line] of text.split('\n').entries())
      for (const match of line.matchAll(pattern)) yield { at: `${path}:${index + 1}`, line, match }
  }
}

const pageOf = (path: string): string => path.slice(CONTRACT.length).replace(/\.md$/, '')
const isPage = (path: string): boolean => path.startsWith(CONTRACT) && path.endsWith('.md')

type Contract = {
  readonly sections: ReadonlyMap<string, ReadonlySet<string>>
  readonly rules: ReadonlyMap<string, ReadonlySet<string>>
  /** The page that a letter means where no page is named. */
  readonly owners: ReadonlyMap<string, string>
}

const found = (text: string, pattern: RegExp): ReadonlySet<string> =>
  new Set([...text.matchAll(pattern)].map((match) => match[1]!))

/**
 * Sections are headings with a number, rules are the first cells of tables, owners are the table in the contract's
 * README.md.
 */
const contractOf = ({ texts }: Tree): Contract => {
  const pages = [...texts].filter(([path]) => isPage(path)).map(([path, text]) => [pageOf(path), text] as const)
  const index = texts.get(`${CONTRACT}README.md`) ?? ''
  return {
    sections: new Map(pages.map(([page, text]) => [page, found(text, /^#{2,3} (\d+(?:\.\d+)?)\.? /gm)])),
    rules: new Map(pages.map(([page, text]) => [page, found(text, /^\| ([A-Z]+-?\d+) \|/gm)])),
    owners: new Map(
      [...index.matchAll(/^\| ([A-Z]) \| .* \| ([a-z-]+) \| [\d.]+ \|$/gm)].map((row) => [row[1]!, row[2]!]),
    ),
  }
}

/** A number after the name of a neighbour's API is a version of it. */
const VERSION = /API-Version|microversion|compute \d|@\d/i

export const sections: Check = (tree) => {
  const { sections: known } = contractOf(tree)
  const pages = [...known.keys()].filter((page) => page !== 'README')
  const pattern = new RegExp(
    `(?<![\\w/.-])\\[?(${pages.join('|')})(?:\\.md)?\\]?(?:\\([\\w./-]+\\))?,? (\\d+(?:\\.\\d+)?)((?:(?:,| and) \\d+\\.\\d+)*)(?![\\w%-]|\\.\\d| of \\d)`,
    'g',
  )
  return [...cited(tree, pattern, () => true)].flatMap(({ at, line, match: [, page, first, more] }) => {
    if (VERSION.test(line)) return []
    return [first!, ...(more!.match(/\d+\.\d+/g) ?? [])].flatMap((section) =>
      known.get(page!)?.has(section) ? [] : [`${at} cites ${page} ${section}, which is no section`],
    )
  })
}

/** Products are called so, too. */
const PRODUCT = /^(A2|A10|A16|A30|A40|B50|B60|B65|B70|F1|H20|L2|L4|L20|L40|S30|S60|S80|S90|T4|U50|V8|V70|V80)$/

/**
 * A letter with its number, also as the end of a range (`W1-W24`), and not as a part of a path, an escape, an address
 * or a name, nor as the move that begins a drawing (`M2 10h3`).
 */
const LETTER = String.raw`(?:(?<![\w./#@%$:\`-])|(?<=\b[A-Z]\d{1,2}-))([A-Z])(\d{1,2})(?![\w/\`]|-[a-z]|\.\w| [.\d])`

export const letters: Check = (tree) => {
  const { rules, owners } = contractOf(tree)
  const pattern = new RegExp(`(?:(?<![\\w-])(${[...rules.keys()].join('|')})(?:\\.md)? )?${LETTER}`, 'g')
  return [...cited(tree, pattern, (path) => !isPage(path))].flatMap(({ at, match: [, page, letter, number] }) => {
    const name = `${letter}${number}`
    const owner = page ?? owners.get(letter!)
    if (owner !== undefined && rules.get(owner)?.has(name)) return []
    if (PRODUCT.test(name) && page === undefined) return []
    return [
      `${at} cites ${name}, which ${owner === undefined ? 'no page of the contract defines' : `${owner} does not define`}`,
    ]
  })
}

/**
 * Inside the contract a letter means the page's own rule first; letters that mean nothing there are names of products.
 */
export const lettersOfPages: Check = (tree) => {
  const { rules, owners } = contractOf(tree)
  const meant = (own: string, letter: string): string | undefined =>
    [...(rules.get(own) ?? [])].some((rule) => rule.startsWith(letter) && /^\d/.test(rule.slice(1)))
      ? own
      : owners.get(letter)
  return [...cited(tree, new RegExp(LETTER, 'g'), isPage)].flatMap(({ at, match: [, letter, number] }) => {
    const name = `${letter}${number}`
    const own = pageOf(at.slice(0, at.indexOf(':')))
    const page = meant(own, letter!)
    const known = page === undefined || [page, owners.get(letter!)].some((each) => rules.get(each ?? '')?.has(name))
    return known || PRODUCT.test(name) ? [] : [`${at} cites ${name}, which ${page} does not define`]
  })
}

const CODE = /\.(ts|js|mjs)$/
/** The comment at the head of a file. */
const headOf = (text: string): string => (text.startsWith('/**') ? text.slice(0, text.indexOf('*/')) : '')
const definedIn = (path: string, text: string): readonly string[] =>
  CODE.test(path) ? [...headOf(text).matchAll(/^ \* ([A-Z]+-\d+) /gm)].map((match) => match[1]!) : []

const definitions = ({ texts }: Tree): ReadonlyMap<string, readonly string[]> => {
  const places = new Map<string, readonly string[]>()
  const add = (rule: string, path: string) => places.set(rule, [...(places.get(rule) ?? []), path])
  for (const [path, text] of texts) {
    for (const rule of definedIn(path, text)) add(rule, path)
    if (isPage(path)) for (const rule of found(text, /^\| ([A-Z]+-\d+) \|/gm)) add(rule, path)
  }
  return places
}

/** Names of standards look like rules. */
const STANDARD = /^(UTF|SHA|ISO|AES|RFC|CVE|KEP|KIP|ECMA|MD|HTTP|TLS|OSPRH|IPV|IEEE)$/

export const localRules: Check = (tree) => {
  const places = definitions(tree)
  const twice = [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([rule, paths]) => `${rule} is defined ${paths.length} times: ${paths.join(', ')}`)
  const short = [...tree.texts].flatMap(([path, text]) =>
    CODE.test(path)
      ? [...headOf(text).matchAll(/^ \* ([A-Z]\d+) /gm)].map(
          ([, rule]) => `${path} defines ${rule}: give it a prefix of its own`,
        )
      : [],
  )
  const pattern = /(?<![\w./$-])([A-Z]{2,})-(\d{1,2})(?![\w-]|\.\d)/g
  const missing = [...cited(tree, pattern, () => true)]
    .filter(({ match: [rule, prefix] }) => !STANDARD.test(prefix!) && !places.has(rule))
    .map(({ at, match: [rule] }) => `${at} cites ${rule}, which no file defines`)
  return [...twice, ...short, ...missing]
}

const folders = (paths: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...paths].flatMap((path) => path.split('/').map((_, n, parts) => parts.slice(0, n).join('/'))))

export const links: Check = (tree) => {
  const known = new Set([...tree.paths, ...folders(tree.paths)])
  const pattern = /\]\((?!\w+:|#)([^)\s#]+)(?:#[^)\s]*)?\)/g
  return [...cited(tree, pattern, (path) => path.endsWith('.md'))].flatMap(({ at, match: [, to] }) => {
    const path = posix.join(posix.dirname(at.slice(0, at.indexOf(':'))), to!).replace(/\/$/, '')
    return known.has(path) ? [] : [`${at} links to ${to}, which is not there`]
  })
}

/** Decisions are cited by number: `decision 0020`, `decisions 0036 and 0048`, `decisions/0022`. */
export const decisions: Check = (tree) => {
  const known = new Set([...tree.paths].map((path) => /^docs\/decisions\/(\d{4})-/.exec(path)?.[1]))
  return [...cited(tree, /decisions?[ /](\d{4}(?:(?:, | and )\d{4})*)/gi, () => true)].flatMap(
    ({ at, match: [, numbers] }) =>
      numbers!
        .split(/\D+/)
        .filter((number) => !known.has(number))
        .map((number) => `${at} cites decision ${number}, which is not there`),
  )
}

const asPattern = (path: string): RegExp =>
  new RegExp(`(^|/)${path.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')}$`)
const TOP = new RegExp(`^(${FOLDERS.map((folder) => folder.replace('.', '\\.')).join('|')})/`)
const MAPS = /^(ARCHITECTURE|STYLE|README)\.md$|^docs\/(?!contract\/)/

/** A path is of the tree when it starts with one of its folders, or is in backticks and ends as its files do. */
export const files: Check = (tree) => {
  const known = [...new Set([...tree.paths, ...folders(tree.paths)])]
  const there = (path: string): boolean => {
    const pattern = asPattern(path.replace(/\/$/, ''))
    return known.some((each) => pattern.test(each))
  }
  const inTicks = [...cited(tree, /`([\w.@-]+(?:\/[\w.@*-]+)*\/?)`/g, (path) => MAPS.test(path))]
    .filter(({ match: [, path] }) => TOP.test(path!) || /\.(ts|md)$/.test(path!))
    .filter(({ match: [, path] }) => !there(path!))
  const bare = /(?<![\w/.$`-])((?:src|test|infra|bench|bin)\/[\w@*-]+(?:[./][\w@*-]+)*)(?![\w/]*`)/g
  const inCommands = [...cited(tree, bare, (path) => MAPS.test(path))].filter(({ match: [, path] }) => !there(path!))
  const inText = [...cited(tree, /(?<![\w/.])(docs\/[\w/.-]+\.md)/g, (path) => !isPage(path))].filter(
    ({ match: [, path] }) => !tree.paths.has(path!),
  )
  return [...inTicks, ...inCommands, ...inText].map(
    ({ at, match: [, path] }) => `${at} names ${path}, which is not there`,
  )
}
