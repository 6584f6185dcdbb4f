/** Whether a migration only adds (decision 0020), from its SQL alone. Pure. What is not known to be harmless is not. */

const bare = (name: string): string => name.replaceAll('"', '')
const NAME = String.raw`("[^"]+"|\w+)`
const matcher = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll('NAME', NAME).replaceAll(' ', String.raw`\s+`)}`, 'i')

const CREATE_TABLE = matcher('create table (?:if not exists )?NAME')
const CREATE_INDEX = matcher('create (unique )?index (?:concurrently )?(?:if not exists )?NAME on NAME')
const ALTER_TABLE = matcher('alter table (?:if exists )?NAME')
const ADD_COLUMN = matcher('add (?:column )?(?:if not exists )?NAME')
/** What stands between `set` and the first `where`; an update without `where` is not known. */
const UPDATE = matcher('update NAME set (.*?) where ')
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
  const [, column] = ADD_COLUMN.exec(change) ?? []
  if (column === undefined || /^add\s+(constraint|check|unique|primary|foreign|exclude)\b/i.test(change))
    return `only columns may be added: ${change}`
  if (/\bnot\s+null\b/i.test(change) && !/\bdefault\b/i.test(change) && !/\bgenerated\b/i.test(change))
    return `${bare(column)} must be given a value, and an older program gives none: ${change}`
  return /\b(unique|check|references|primary\s+key)\b/i.test(change)
    ? `${bare(column)} binds an older program, which does not know it: ${change}`
    : null
}

/** What came with these migrations, so that an older program does not know it. */
type Own = { readonly tables: ReadonlySet<string>; readonly columns: ReadonlySet<string> }
const columnsAdded = (statement: string): readonly string[] => {
  const [head = '', table = ''] = ALTER_TABLE.exec(statement) ?? []
  if (table === '') return []
  return partsOf(statement.slice(head.length).trim()).flatMap((change) => {
    const [, column] = ADD_COLUMN.exec(change) ?? []
    return column === undefined ? [] : `${bare(table)}.${bare(column)}`
  })
}
/** The columns that an update fills, each of which has to be of this migration; it may read all others. */
const fillsOwn = (statement: string, { columns }: Own): boolean => {
  const [, table = '', set = ''] = UPDATE.exec(statement) ?? []
  const filled = partsOf(set).map((part) => matcher('NAME').exec(part)?.[1] ?? '')
  return table !== '' && filled.every((column) => columns.has(`${bare(table)}.${bare(column)}`))
}

const breaks = (statement: string, all: Own): readonly string[] => {
  const own = all.tables
  const [, unique, , indexed = ''] = CREATE_INDEX.exec(statement) ?? []
  if (indexed !== '')
    return unique && !own.has(bare(indexed)) ? [`an older program may write what is not unique: ${statement}`] : []
  const [head = '', altered = ''] = ALTER_TABLE.exec(statement) ?? []
  if (altered !== '') {
    if (own.has(bare(altered))) return []
    return partsOf(statement.slice(head.length).trim()).flatMap((change) => breaksColumn(change) ?? [])
  }
  const [, filled = ''] = INSERT.exec(statement) ?? []
  const known =
    own.has(bare(filled)) ||
    fillsOwn(statement, all) ||
    [CREATE_TABLE, ...HARMLESS, ...WANTED].some((form) => form.test(statement))
  return known ? [] : [`not known to be harmless: ${statement}`]
}

/** Of the statements of all migrations since a release: what of them an older program may fail on. */
export const breaking = (statements: readonly string[]): readonly string[] => {
  const plain = statements.map((statement) => statement.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())
  const own = {
    tables: new Set(plain.flatMap((statement) => bare(CREATE_TABLE.exec(statement)?.[1] ?? '') || [])),
    columns: new Set(plain.flatMap(columnsAdded)),
  }
  return plain.filter((statement) => statement !== '').flatMap((statement) => breaks(statement, own))
}
