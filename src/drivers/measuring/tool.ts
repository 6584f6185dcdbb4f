/**
 * What the tool of a vendor tells of its cards, whatever its exit status is, and which of them it calls ill.
 *
 * TOOL-1 a card is ill (`vendor_alarm` 3) that the tool names in an error, or of which it says a word of an error in
 *    place of a number; a warning that names it is a warning. A word that says that a card does not tell something says
 *    nothing else;
 * TOOL-2 so is a card that the tool listed and lists no more, while the same kernel driver serves it. Only an answer to
 *    its end says that: a tool that fails may have broken off before it came to the card;
 * TOOL-3 of a card of which the tool tells anything, and which it calls nothing, `vendor_alarm` is 0, unless the tool
 *    has a word of its own for that;
 * TOOL-4 what the tool says of ill cards is quoted.
 */
import { basename } from 'node:path'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { Numbers } from '../../vocabulary/health.ts'
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { ProgramFailed } from '../programFailed.ts'
import type { Tool } from '../pci/measured.ts'

/** What a tool tells of one card. `words`: those of errors. */
export type Row = { readonly numbers: Numbers; readonly words: readonly string[] }
export type Rows = ReadonlyMap<string, Row>
/**
 * `rest`: the lines that are not in the form in which the tool tells of a card. `nameless`: a line in that form has a
 * word of an error in place of the address.
 */
export type Parsed = { readonly rows: Rows; readonly rest: readonly string[]; readonly nameless?: boolean }

const UNTOLD =
  /^(?:n\/?a|none|unsupported|(?:\w+ )*not (?:supported|available|applicable|active|ready|found)|(?:insufficient|no) permissions?|.*deprecated|no data|.*in use|.*mismatch|invalid argument)$/i
/**
 * The text of a field that is none of its values, as a word of an error; null: it is none, and only says that the card
 * does not tell. Not every letter is a word: what has digits is no text for people.
 */
export const errorWord = (text: string): string | null => {
  const plain = text.replace(/^\[(.*)\]$/, '$1').trim()
  return /^[a-z][a-z .,'/-]*[a-z.!]$/i.test(plain) && !UNTOLD.test(plain) ? text : null
}

const NAMED = /(?<![0-9a-f:])[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?![0-9a-f])/gi
const ERROR =
  /unable|error|err!|fail|lost|fallen|reset|unknown|corrupt|not found|no response|not respond|time[d -]*out|abnormal|invalid|exception|fault|cannot|could not/i
type Alarm = { readonly level: number; readonly said: string }

/** Pure. The cards that lines of a program name in errors or warnings. `failed`: it ended with an error. */
const namedIn = (lines: readonly string[], failed: boolean): Map<string, Alarm> => {
  const found = new Map<string, Alarm>()
  for (const line of lines) {
    const text = line.replaceAll(NAMED, '')
    const isWarning = /\bwarning\b/i.test(text)
    if (!isWarning && !(failed && /[a-z]{3}/i.test(text)) && !ERROR.test(text)) continue
    for (const [name] of line.matchAll(NAMED)) {
      const address = formatPciAddress(parsePciAddress(name)!)
      const alarm = { level: isWarning ? 1 : 3, said: line.trim() }
      if ((found.get(address)?.level ?? 0) < alarm.level) found.set(address, alarm)
    }
  }
  return found
}

export type Said = {
  readonly output: string
  /** What it said besides. */
  readonly complaint: string
  /** Null: it did not fail. */
  readonly failure: string | null
}
export const said = async (run: Promise<string>): Promise<Said> => {
  try {
    return { output: await run, complaint: '', failure: null }
  } catch (error) {
    const { output, complaint } = error instanceof ProgramFailed ? error : { output: '', complaint: messageOf(error) }
    return { output, complaint, failure: messageOf(error) }
  }
}

/** It says so with an error of its own, and means a complete list. */
const NO_CARDS = /no devices (?:were|was) found/i
const isWhole = ({ output, failure }: Said): boolean =>
  failure === null || NO_CARDS.test(output) || NO_CARDS.test(failure)
const LISTS_NO_MORE = 'it was listed before, and is not listed any more'

const MAX_QUOTED = 150
const quoted = (alarms: ReadonlyMap<string, Alarm>): readonly string[] =>
  [...alarms].map(([address, { said }]) => {
    const text = said.slice(0, MAX_QUOTED)
    return text.toLowerCase().includes(address) ? text : `${address}: ${text}`
  })

/** Which listed cards are not listed now (TOOL-2). Remembers by which kernel driver a card was served when it was. */
const missed = () => {
  const listed = new Map<string, string>()
  return async (rows: Rows, isComplete: boolean, servedBy: NonNullable<Parameters<Tool>[2]>) => {
    for (const address of rows.keys()) listed.set(address, (await servedBy(address)) ?? '')
    const missing: string[] = []
    for (const [address, server] of listed) {
      if (rows.has(address)) continue
      if (server === '' || (await servedBy(address)) !== server) listed.delete(address)
      else if (isComplete) missing.push(address)
    }
    return missing
  }
}

/** Pure. What the tool calls each card, by its rows and by the errors that name it (TOOL-1). */
const alarmsIn = (rows: Rows, rest: readonly string[], { complaint, failure }: Said): Map<string, Alarm> => {
  const alarms = namedIn([...rest, ...complaint.split('\n')], failure !== null)
  const ofRows = [...rows].filter(([, { words }]) => words.length > 0)
  return new Map([
    ...alarms,
    ...ofRows.map(([address, { words }]): [string, Alarm] => [address, { level: 3, said: words.join(', ') }]),
  ])
}
const withAlarms = (rows: Rows, alarms: ReadonlyMap<string, Alarm>): ReadonlyMap<string, Numbers> => {
  const numbers = new Map([...rows].map(([address, row]): [string, Numbers] => [address, row.numbers]))
  for (const [address, { level }] of alarms) {
    const own = numbers.get(address) ?? {}
    numbers.set(address, { ...own, vendor_alarm: Math.max(level, own.vendor_alarm ?? 0) })
  }
  return numbers
}

export type ToolKind = {
  readonly program: string
  readonly args: readonly string[]
  /** Pure. Reads what it printed, also when it failed. */
  readonly parse: (output: string) => Parsed
  /** The rows with what another call of the program tells of these cards. */
  readonly more?: (io: HostIo, signal: AbortSignal, rows: Rows) => Promise<Rows>
}
export const TOOL_MS = 8000
/** A host whose cards are all given to guests need not have the program. */
export const createTool = ({ program, args, parse, more = async (_io, _signal, rows) => rows }: ToolKind): Tool => {
  const missing = missed()
  return async (io, signal, servedBy = async () => null) => {
    const answer = await said(io.run(program, args, TOOL_MS, signal))
    const { failure } = answer
    if (failure?.includes('ENOENT')) return { numbers: new Map() }
    const { rows: first, rest, nameless = false } = parse(answer.output)
    const rows = await more(io, signal, first)
    const alarms = alarmsIn(rows, rest, answer)
    for (const address of await missing(rows, isWhole(answer) || nameless, servedBy))
      if (!alarms.has(address)) alarms.set(address, { level: 3, said: LISTS_NO_MORE })
    const complaint = alarms.size > 0 ? `${basename(program)}: ${quoted(alarms).join('; ')}` : failure
    return { numbers: withAlarms(rows, alarms), ...(complaint === null ? {} : { complaint }) }
  }
}
