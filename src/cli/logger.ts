/** Structured logs on standard error: a JSON object for each entry, or one line for people when standard error is a terminal. */
import { type Logger, pino } from 'pino'
import type { Config } from './config/config.ts'

type Entry = Readonly<Record<string, unknown>>

/** These begin the line. */
const HEAD: readonly string[] = ['level', 'time', 'msg']
/** Text without blanks as it is; anything else as JSON, which has no line breaks. */
const valueText = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=]+$/.test(value) ? value : (JSON.stringify(value) ?? 'undefined')

/** Message, then each field as `key=value`. */
export const lineOf = (entry: Entry): string => {
  const fields = Object.entries(entry).filter(([key]) => !HEAD.includes(key))
  const message = typeof entry['msg'] === 'string' ? entry['msg'] : ''
  return [message, ...fields.map(([key, value]) => `${key}=${valueText(value)}`)].join(' ')
}

/** In this process, so that a line stands where it belongs among what else is written to the terminal. */
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
  // People know on which machine they are.
  return people
    ? pino({ level, base: null }, await forPeople())
    : pino({ level }, pino.destination({ dest: 2, sync: true }))
}
