/**
 * Structured logs on standard error: one JSON object per entry, or a readable line when standard error is a terminal.
 */
import { type Logger, pino } from 'pino'
import { inOneLine } from '../vocabulary/text.ts'
import type { Config } from './config/config.ts'

type Entry = Readonly<Record<string, unknown>>

/** Fields that are shown at the beginning of the line. */
const HEAD: readonly string[] = ['level', 'time', 'msg']
/** Text without blanks is written as it is, anything else as JSON, which has no line breaks. */
const valueText = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=]+$/.test(value) ? value : (JSON.stringify(value) ?? 'undefined')

/** Message, then each field as `key=value`. */
export const lineOf = (entry: Entry): string => {
  const fields = Object.entries(entry).filter(([key]) => !HEAD.includes(key))
  const message = typeof entry['msg'] === 'string' ? entry['msg'] : ''
  return inOneLine([message, ...fields.map(([key, value]) => `${key}=${valueText(value)}`)].join(' '))
}

/** Formats in this process instead of a worker thread, so that log lines stay in order with other terminal output. */
const forPeople = async () => {
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    destination: 2,
    sync: true,
    colorize: process.stderr.isTTY && process.stderr.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    hideObject: true,
    messageFormat: lineOf,
  })
}

export const openLog = async ({ level, pretty }: Config['log']): Promise<Logger> => {
  const people = pretty === 'always' || (pretty === 'auto' && process.stderr.isTTY)
  // The host name is left out of lines meant for a person at the terminal.
  return people
    ? pino({ level, base: null }, await forPeople())
    : pino({ level }, pino.destination({ dest: 2, sync: true }))
}
