/**
 * Writes the result of a command. Rules:
 * OUTPUT-1 `json`, `jsonl` and `yaml` write rows with the field names of the API; with `--column`, only the named
 *    columns.
 * OUTPUT-2 `csv` and `value` write columns. `csv` has their names in the first line. `value` has only values: tabs
 *    separate those of a row in a list, and a single object has one value on each line.
 * OUTPUT-3 `--json` writes the whole document of the API, whatever other options are given.
 * OUTPUT-4 Results go to standard output, everything else to standard error.
 * OUTPUT-5 Without `--format`, a terminal gets a table or a text for people. Anything else (a pipe, a file) gets the
 *    columns of the table with one tab between them and no padding; a single object has one line for each field. Only a
 *    report, whose text says more than its columns, is the same everywhere. `--format table` asks for the table,
 *    wherever it goes.
 * OUTPUT-6 `--no-header` leaves out the line with the names of the columns, of a table, of columns with tabs and of
 *    `csv`.
 */
import { Option } from 'commander'
import { stringify } from 'yaml'
import { inOneLine, visibleJson } from '../vocabulary/text.ts'
import type { CommandRow } from './commandRow.ts'
import { misused } from './exits.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'yaml', 'csv', 'value'] as const
type Format = (typeof FORMATS)[number]
/** `tabs` has no name on the command line: it is what a table becomes without a terminal. */
type Written = Format | 'tabs'
export type Cell = string | number | boolean | null | undefined
export type Column<Row> = {
  /** The name of the field in the API, if there is one. */
  readonly name: string
  /** The head of the column for people; usually the name with blanks. */
  readonly head?: string
  /** Null and undefined: there is no value. */
  readonly of: (row: Row) => Cell
}
export type Columns<Row> = readonly Column<Row>[]
export type OutputFlags = {
  readonly format?: Format
  readonly column?: readonly string[]
  readonly sortColumn?: string
  readonly limit?: string
  /** False: without the line of names. */
  readonly header?: boolean
  readonly json?: true
}
export type Result<Row> = {
  /** The document that `--json` prints. */
  readonly document: unknown
  readonly rows: readonly Row[]
  readonly columns: Columns<Row>
  /** The result is a single object, not a list with one row. */
  readonly one?: true
  /** The text for people at a terminal instead of a table, unless they ask for columns, an order or a limit. */
  readonly text?: () => readonly string[]
  /** More fields of a single object for people, unless they ask for columns. */
  readonly more?: Readonly<Record<string, Cell>>
  /**
   * The text says what no column says, such as a verdict or a sum, so it is also written where there is no terminal.
   */
  readonly report?: true
}

const LIMIT_MAX = 1_000_000

/** Columns that are fields of the row. `heads`: heads for columns whose name is not suitable as one. */
export const columnsOf = <Row extends object>(
  names: readonly (keyof Row & string)[],
  heads: Readonly<Record<string, string>> = {},
): Columns<Row> =>
  names.map((name) => ({
    name,
    ...(heads[name] === undefined ? {} : { head: heads[name] }),
    of: (row) => plain(row[name]),
  }))
const plain = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(' ')
  return typeof value === 'object' ? visibleJson(value) : (value as Cell)
}

const several = (name: string, before: readonly string[] = []): readonly string[] => [...before, name]

type About = {
  /** `ownLimit`: the command has a limit of its own. `one`: the result is one object, so there is nothing to sort. */
  readonly one?: true
  readonly ownLimit?: true
}
/** Adds `--format` and the related options. */
export const addOutput = <Row>(
  command: CommandRow,
  columns: Columns<Row>,
  { one, ownLimit }: About = {},
): CommandRow => {
  command
    .showsColumns(columns.map(({ name }) => name))
    .addOption(
      new Option(
        '-f, --format <FORMAT>',
        'how the result is written (default: for people on a terminal, else columns with tabs between them)',
      ).choices([...FORMATS]),
    )
    .addOption(new Option('-c, --column <NAME>', 'only this column; may be given several times').argParser(several))
    .option('--no-header', 'without the line that names the columns (table, csv)')
  if (one) return command
  command.option('--sort-column <NAME>', 'in the order of this column; NAME:desc from the last to the first')
  return ownLimit ? command : command.option('--limit <N>', 'not more than this many rows')
}

type Text = string
const textOf = (cell: Cell, none: Text): Text => (cell === null || cell === undefined ? none : String(cell))
const headOf = <Row>({ name, head }: Column<Row>): string => head ?? name.replaceAll('_', ' ')

/** A table whose columns are as wide as their content. */
export const tableOf = (heads: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] => {
  const texts = [heads, ...rows.map((row) => row.map((cell) => textOf(cell, '-')))]
  const widths = heads.map((_, at) => texts.reduce((most, row) => Math.max(most, row[at]!.length), 0))
  return texts.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
/** One field per line. */
export const fieldsOf = (fields: Readonly<Record<string, Cell>>): readonly string[] =>
  tableOf(['field', 'value'], Object.entries(fields)).slice(1)

/** The input of `fieldsOf` for one object. */
export const fieldsIn = <Row>(row: Row, columns: Columns<Row>): Readonly<Record<string, Cell>> =>
  Object.fromEntries(columns.map((column) => [headOf(column), column.of(row)]))

/** RFC 4180. A value that a spreadsheet would take for a formula begins with an apostrophe. */
const csvCell = (cell: Cell): string => {
  if (typeof cell !== 'string') return textOf(cell, '')
  const safe = /^[=+\-@\t]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const chosen = <Row>(columns: Columns<Row>, names: readonly string[] | undefined): Columns<Row> =>
  names === undefined ? columns : names.map((name) => columnNamed(columns, name, '--column'))
const columnNamed = <Row>(columns: Columns<Row>, name: string, option: string): Column<Row> => {
  const found = columns.find((column) => column.name === name)
  if (found) return found
  throw misused(`${option}: must be one of ${columns.map((each) => each.name).join(', ')} (is ${name})`)
}
/** Throws when it is no number of rows. */
export const limitOf = (text: string): number => {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw misused(`--limit: must be a whole number from 1 to ${LIMIT_MAX} (is ${text})`)
}

/** Orders numbers by value and everything else by text; missing values come last. */
const order = (one: Cell, other: Cell): number => {
  if (one === other) return 0
  if (one === null || one === undefined) return 1
  if (other === null || other === undefined) return -1
  if (typeof one === 'number' && typeof other === 'number') return one - other
  const [a, b] = [String(one), String(other)]
  return a < b ? -1 : a > b ? 1 : 0
}
const sorted = <Row>(rows: readonly Row[], columns: Columns<Row>, by: string | undefined): readonly Row[] => {
  if (by === undefined) return rows
  const [name = '', direction, ...rest] = by.split(':')
  if (rest.length > 0 || (direction !== undefined && direction !== 'desc'))
    throw misused(`--sort-column: must be NAME or NAME:desc (is ${by})`)
  const { of } = columnNamed(columns, name, '--sort-column')
  const up = rows.toSorted((one, other) => order(of(one), of(other)))
  return direction === 'desc' ? up.toReversed() : up
}

type How = {
  /** Columns were named. */
  readonly picked: boolean
  readonly one: boolean
  readonly header: boolean
  readonly more: Readonly<Record<string, Cell>>
}
const upper = <Row>(columns: Columns<Row>): readonly string[] => columns.map((column) => headOf(column).toUpperCase())
const withTabs = (cells: readonly string[]): string => cells.map(inOneLine).join('\t')
const body = (lines: readonly string[], header: boolean): readonly string[] => (header ? lines : lines.slice(1))

const writers: Readonly<
  Record<Written, <Row>(rows: readonly Row[], columns: Columns<Row>, how: How) => readonly string[]>
> = {
  table: (rows, columns, { one, header, more }) => {
    if (one) return fieldsOf({ ...fieldsIn(rows[0]!, columns), ...more })
    const cells = rows.map((row) => columns.map(({ of }) => of(row)))
    return body(tableOf(upper(columns), cells), header)
  },
  tabs: (rows, columns, { one, header, more }) => {
    const fields = one ? Object.entries({ ...fieldsIn(rows[0]!, columns), ...more }) : []
    if (one) return fields.map(([head, cell]) => withTabs([head, textOf(cell, '-')]))
    const lines = rows.map((row) => withTabs(columns.map(({ of }) => textOf(of(row), '-'))))
    return body([withTabs(upper(columns)), ...lines], header)
  },
  json: (rows, columns, { picked, one }) => {
    const all = objects(rows, columns, picked)
    return visibleJson(one ? all[0] : all, 2).split('\n')
  },
  jsonl: (rows, columns, { picked }) => objects(rows, columns, picked).map((each) => visibleJson(each)),
  yaml: (rows, columns, { picked, one }) => {
    const all = objects(rows, columns, picked)
    return stringify(one ? all[0] : all)
      .trimEnd()
      .split('\n')
  },
  csv: (rows, columns, { header }) =>
    body(
      [
        columns.map(({ name }) => csvCell(name)).join(','),
        ...rows.map((row) => columns.map(({ of }) => csvCell(of(row))).join(',')),
      ],
      header,
    ),
  value: (rows, columns, { one }) => {
    const values = rows.map((row) => columns.map(({ of }) => inOneLine(textOf(of(row), ''))))
    return one ? values.flat() : values.map((each) => each.join('\t'))
  },
}
const objects = <Row>(rows: readonly Row[], columns: Columns<Row>, picked: boolean): readonly unknown[] =>
  picked ? rows.map((row) => Object.fromEntries(columns.map(({ name, of }) => [name, of(row) ?? null]))) : rows

const shaped = ({ column, sortColumn, limit, header = true }: OutputFlags): boolean =>
  !header || [column, sortColumn, limit].some((each) => each !== undefined)
const formatOf = ({ format }: OutputFlags, terminal: boolean): Written => format ?? (terminal ? 'table' : 'tabs')

/** The lines of the result. Throws when a named column does not exist or a number is invalid. */
export const rendered = <Row>(result: Result<Row>, flags: OutputFlags, terminal: boolean): readonly string[] => {
  const { column, sortColumn, limit, header = true } = flags
  const columns = chosen(result.columns, column)
  const inOrder = sorted(result.rows, result.columns, sortColumn)
  const rows = limit === undefined ? inOrder : inOrder.slice(0, limitOf(limit))
  if (flags.json) return visibleJson(result.document, 2).split('\n')
  const format = formatOf(flags, terminal)
  const forPeople = format === 'table' || (result.report === true && format === 'tabs')
  if (result.text && forPeople && !shaped(flags)) return result.text()
  const more = column === undefined ? (result.more ?? {}) : {}
  return writers[format](rows, columns, { picked: column !== undefined, one: result.one === true, header, more })
}

const ALL_ROWS_FIRST: readonly Written[] = ['json', 'yaml']
/**
 * The lines of one row; before the first row also the line of names. `end`: the lines that are left when no row comes
 * any more.
 */
type RowLines<Row, About> = {
  readonly of: (row: Row, about: About) => readonly string[]
  readonly end: () => readonly string[]
}
/**
 * Writes the rows of a list that may have no end, each as it comes; a table is therefore not padded. Null: all rows
 * must be known first. `text`: a row for people, unless they ask for columns; `about`: what only this text needs.
 */
export const rowLines = <Row, About = undefined>(
  columns: Columns<Row>,
  text: (row: Row, about: About) => string,
  flags: OutputFlags,
  terminal: boolean,
): RowLines<Row, About> | null => {
  const { column, sortColumn, header = true } = flags
  const [format, named] = [formatOf(flags, terminal), chosen(columns, column)]
  if (flags.json) return { of: (row) => [visibleJson(row)], end: () => [] }
  if (sortColumn !== undefined || ALL_ROWS_FIRST.includes(format)) return null
  if (format === 'table' && column === undefined && header)
    return { of: (row, about) => [text(row, about)], end: () => [] }
  const write = writers[format === 'table' ? 'tabs' : format]
  const how = { picked: column !== undefined, one: false, more: {} }
  let head = write([], named, { ...how, header })
  const written = (lines: readonly string[]): readonly string[] => {
    const all = [...head, ...lines]
    head = []
    return all
  }
  return { of: (row) => written(write([row], named, { ...how, header: false })), end: () => written([]) }
}

/** Whether standard output is a terminal, so that a person reads it. */
export const onTerminal = (): boolean => process.stdout.isTTY
/** Tabs, which separate values, are the only control characters that a line may contain. */
export const outLine = (line: string): void =>
  void process.stdout.write(`${line.split('\t').map(inOneLine).join('\t')}\n`)
export const present = <Row>(flags: OutputFlags, result: Result<Row>): void =>
  rendered(result, flags, onTerminal()).forEach(outLine)
