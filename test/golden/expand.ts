/** Whether a migration only adds (decision 0020), from its SQL alone. Pure. What is not known to be harmless is not. */

const bare = (name: string): string => name.replaceAll('"', '')
const NAME = String.raw`("[^"]+"|\w+)`
const matcher = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll('NAME', NAME).replaceAll(' ', String.raw`\s+`)}`, 'i')

const CREATE_TABLE = matcher('create table (?:if not exists )?NAME')
const CREATE_INDEX = matcher('create (unique )?index (?:concurrently )?(?:if not exists )?NAME on NAME')
const ALTER_TABLE = matcher('alter table (?:if exists )?NAME')
const INSERT = matcher('insert into NAME')
const HARMLESS = [matcher('create sequence NAME'), matcher('create function NAME'), matcher('comment on ')]
/** What an older program is meant to meet, with the reason. */
const WANTED = [
  // decision 0036: while rows are lost, no program may write, whatever its release
  matcher('create trigger "journal_writable" before insert on "journal"'),
]

/** Parts between commas that stand in no brackets. */
const partsOf = (text: string): readonly string[] => {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim())
}

/** Why an older program may fail on it, or null. */
const breaksColumn = (change: string): string | null => {
  const [, column] = matcher('add (?:column )?(?:if not exists )?NAME').exec(change) ?? []
  if (column === undefined || /^add\s+(constraint|check|unique|primary|foreign|exclude)\b/i.test(change))
    return `only columns may be added: ${change}`
  if (/\bnot\s+null\b/i.test(change) && !/\bdefault\b/i.test(change) && !/\bgenerated\b/i.test(change))
    return `${bare(column)} must be given a value, and an older program gives none: ${change}`
  return /\b(unique|check|references|primary\s+key)\b/i.test(change)
    ? `${bare(column)} binds an older program, which does not know it: ${change}`
    : null
}

const breaks = (statement: string, own: ReadonlySet<string>): readonly string[] => {
  const [, unique, , indexed = ''] = CREATE_INDEX.exec(statement) ?? []
  if (indexed !== '')
    return unique && !own.has(bare(indexed)) ? [`an older program may write what is not unique: ${statement}`] : []
  const [head = '', altered = ''] = ALTER_TABLE.exec(statement) ?? []
  if (altered !== '') {
    if (own.has(bare(altered))) return []
    return partsOf(statement.slice(head.length).trim()).flatMap((change) => breaksColumn(change) ?? [])
  }
  const [, filled = ''] = INSERT.exec(statement) ?? []
  const known = own.has(bare(filled)) || [CREATE_TABLE, ...HARMLESS, ...WANTED].some((form) => form.test(statement))
  return known ? [] : [`not known to be harmless: ${statement}`]
}

/** Of the statements of all migrations since a release: what of them an older program may fail on. */
export const breaking = (statements: readonly string[]): readonly string[] => {
  const plain = statements.map((statement) => statement.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())
  const own = new Set(plain.flatMap((statement) => bare(CREATE_TABLE.exec(statement)?.[1] ?? '') || []))
  return plain.filter((statement) => statement !== '').flatMap((statement) => breaks(statement, own))
}
