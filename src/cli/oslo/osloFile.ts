/**
 * Reads a configuration file as services of OpenStack do (oslo.config): sections, repeated keys, continued lines,
 * comments. Pure.
 */

export type Assignment = {
  /** Name of the section in lower case, except `DEFAULT`. */
  readonly section: string
  readonly key: string
  /** Continued lines are joined by line breaks. */
  readonly value: string
  /** File and line: `/etc/nova/nova.conf:12`. */
  readonly at: string
}
/** Something in the files that cannot be used, and its place. */
export type ConfProblem = { readonly at: string; readonly rule: string }
export type OsloReading = { readonly assignments: readonly Assignment[]; readonly problems: readonly ConfProblem[] }

const COMMENT = /^[#;]/
const CONTINUED = /^[ \t]/
const DEFAULT = 'DEFAULT'

/** Removes one pair of quotes around the first line of a value. */
const unquoted = (value: string): string =>
  /^["']/.test(value) && value.at(0) === value.at(-1) ? value.slice(1, -1) : value

const sectionOf = (line: string): string | null => {
  if (!line.endsWith(']') || line.length <= 2) return null
  const name = line.slice(1, -1)
  return name === DEFAULT ? name : name.toLowerCase()
}

/** The first `=` or `:` separates key and value. */
const dividedAt = (line: string): number => line.search(/[=:]/)

type Open = { readonly section: string; readonly key: string; readonly at: string; readonly lines: string[] }

/** Lines that OpenStack services would refuse become problems; the other lines are read nevertheless. */
export const readOslo = (text: string, file: string): OsloReading => {
  const assignments: Assignment[] = []
  const problems: ConfProblem[] = []
  let section: string | null = null
  let open: Open | null = null
  const close = () => {
    if (open) assignments.push({ section: open.section, key: open.key, value: open.lines.join('\n'), at: open.at })
    open = null
  }
  const begin = (line: string, at: string) => {
    const divider = dividedAt(line)
    const key = line.slice(0, divider).trim()
    const value = unquoted(line.slice(divider + 1).trim())
    if (divider < 0) problems.push({ at, rule: 'the line must be a section, a comment, or have = or :' })
    else if (key === '') problems.push({ at, rule: 'the line must have a key before its = or :' })
    else if (section === null) problems.push({ at, rule: `${key} must stand in a section` })
    else open = { section, key, at, lines: [value] }
  }
  const read = (line: string, at: string) => {
    if (CONTINUED.test(line)) {
      if (open) open.lines.push(line.trimStart())
      else problems.push({ at, rule: 'the line continues nothing: it must not begin with a space' })
      return
    }
    close()
    if (line === '' || COMMENT.test(line)) return
    if (!line.startsWith('[')) return begin(line, at)
    const name = sectionOf(line)
    if (name === null) problems.push({ at, rule: 'a section must have the form [name]' })
    else section = name
  }
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) read(line.trimEnd(), `${file}:${index + 1}`)
  close()
  return { assignments, problems }
}
