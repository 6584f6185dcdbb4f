/** Formats moments, all in UTC, durations, counts, values and command lines as text; no other file formats them. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `2026-03-01 08:15:30 UTC` */
export const moment = (iso: string): string => `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`
/** `2026-03-01 08:15:30.123 UTC` */
export const precise = (iso: string): string => `${new Date(iso).toISOString().slice(0, 23).replace('T', ' ')} UTC`
/** With milliseconds: `08:15:30.123` */
export const instant = (iso: string): string => new Date(iso).toISOString().slice(11, 23)

/** At most two units: `640 ms`, `3.24 s`, `41 s`, `4 min 10 s`, `3 h 20 min`, `12 d 4 h`. */
export const duration = (ms: number): string => {
  if (Math.round(ms) < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9995) return `${(ms / 1000).toFixed(2)} s`
  if (ms < MINUTE - 500) return `${Math.round(ms / 1000)} s`
  if (ms < MINUTE) return '1 min'
  const [unit, name, rest, small] =
    ms < HOUR ? [MINUTE, 'min', 1000, 's'] : ms < DAY ? [HOUR, 'h', MINUTE, 'min'] : [DAY, 'd', HOUR, 'h']
  const less = Math.floor((ms % unit) / rest)
  return `${Math.floor(ms / unit)} ${name}${less > 0 ? ` ${less} ${small}` : ''}`
}

/** `4 s ago`, or `in 4 s` for a time in the future. `now` is the server's, in ms since the epoch. */
export const ago = (iso: string, now: number): string => {
  const ms = now - Date.parse(iso)
  if (ms < -1500) return `in ${whole(-ms)}`
  return ms < 1500 ? 'just now' : `${whole(ms)} ago`
}
/** Ages change while they are shown, so they have only one unit: smaller ones would flicker. */
export const whole = (ms: number): string => {
  const [unit, name] = ms < MINUTE ? [1000, 's'] : ms < HOUR ? [MINUTE, 'min'] : ms < DAY ? [HOUR, 'h'] : [DAY, 'd']
  return `${Math.floor(ms / unit)} ${name}`
}

/** With a thin space between thousands. */
export const count = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, '\u202F')

/** `1 host`, `2 hosts` */
export const many = (number: number, one: string, more = `${one}s`): string =>
  `${count(number)}\u00A0${number === 1 ? one : more}`

export const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0)

/** A value of the API of whatever type: a text as it is, all else as JSON. */
export const valueOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const CAPITALS: ReadonlyMap<string, string> = new Map(
  Object.entries({ id: 'ID', uuid: 'UUID', pci: 'PCI', numa: 'NUMA' }),
)
/** The name of a field as a label: `product_id` is `Product ID`. */
export const labelOf = (name: string): string => {
  const text = name
    .split('_')
    .map((word) => CAPITALS.get(word) ?? word)
    .join(' ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** A value of the API as words: `host_silent` is `host silent`. */
export const wordsOf = (value: string): string => value.replaceAll('_', ' ')

declare const quoted: unique symbol
/**
 * A command line whose values are quoted for a shell. Only `shell` makes one, so that no text of others becomes a
 * command.
 */
export type CommandLine = string & { readonly [quoted]: true }

const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/
/** Characters that a terminal would act on, or that a reader would not see. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const escaped = (character: string): string => `\\U${character.codePointAt(0)!.toString(16).padStart(8, '0')}`
/** One value as one word of a shell, whatever characters it contains. */
export const shellWord = (value: string): string => {
  if (PLAIN.test(value)) return value
  if (value.search(HIDDEN) < 0) return `'${value.replaceAll("'", String.raw`'\''`)}'`
  return `$'${value.replaceAll(/[\\']/g, String.raw`\$&`).replaceAll(HIDDEN, escaped)}'`
}
/** A name that begins like an option would be one, and could lead the command to another service. */
const named = (value: string): string => (value.startsWith('-') ? 'NAME' : shellWord(value))
/**
 * `` shell`host show ${name} ${['--limit', limit]}` ``: a text becomes one word, a list a word for each of its texts.
 */
export const shell = (parts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): CommandLine =>
  parts
    .reduce((line, part, index) => {
      const value = values[index - 1] ?? []
      return line + (typeof value === 'string' ? named(value) : value.map(shellWord).join(' ')) + part
    })
    .trimEnd() as CommandLine
