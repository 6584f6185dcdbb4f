/** The flags of the command line, derived from the options. */
import { type Command, Option } from 'commander'
import { envName, flagName, KEYS, rowOf } from './table.ts'
import type { Plain } from './row.ts'
import type { Key } from './table.ts'

const placeholder = (form: string): string => {
  if (form === 'true or false') return ''
  const known: Readonly<Record<string, string>> = {
    folder: 'DIR',
    file: 'FILE',
    count: 'N',
    URL: 'URL',
    'HOST:PORT': form,
    'list of HOST:PORT': 'HOST:PORT,...',
    milliseconds: 'N',
    name: 'NAME',
  }
  return ` <${known[form] ?? 'VALUE'}>`
}
const textOf = (standard: Plain): string => (typeof standard === 'string' ? standard : JSON.stringify(standard))

/** Whether the default means that the option is not set. */
const saysNothing = (standard: Plain | null): standard is null | false | '' =>
  standard === null || standard === false || standard === ''
/** The values stay strings and are validated together with those of the file and the environment. */
const optionOf = (key: Key): Option => {
  const { about, form, standard } = rowOf(key)
  const choices = form.includes(', ') ? ` One of ${form}.` : ''
  const usual = saysNothing(standard) ? '' : `default ${textOf(standard)}; `
  return new Option(`${flagName(key)}${placeholder(form)}`, `${about}${choices} (${usual}${envName(key)})`)
}

export const FLAG_KEYS: readonly Key[] = KEYS.filter((key) => rowOf(key).flag)

const SEVERAL: readonly Key[] = ['kafka.brokers', 'auth', 'clock_offset_ms']
/** Flags for commands that work on topics. Programs read these options from the file or the environment. */
const TOPICS: readonly Key[] = ['kafka.prefix', 'kafka.partitions', 'kafka.replicas']
const EVERY: readonly Key[] = ['config', 'log.level', 'images']
/** The flags that each program accepts. */
export const PROGRAM_FLAGS = {
  start: [...FLAG_KEYS.filter((key) => ![...SEVERAL, ...TOPICS].includes(key)), 'auth'],
  control: [
    ...(['listen', 'admin_listen', 'ui_listen', 'database', 'nova.url', 'noauth_anywhere'] satisfies Key[]),
    ...SEVERAL,
    ...EVERY,
  ],
  doctor: ['database', 'kafka.brokers', ...TOPICS, 'nova.url', 'config', 'log.level'],
  letters: ['kafka.brokers', 'kafka.prefix', 'config', 'log.level'],
  topics: ['kafka.brokers', ...TOPICS, 'config', 'log.level'],
  scan: ['config', 'data', 'host.name'],
  policy: ['config'],
  host: [
    ...(['host.name', 'kafka.brokers', 'data', 'admin_listen', 'clock_offset_ms'] satisfies Key[]),
    ...(['demo_devices', 'demo_handles', 'demo_seed'] satisfies Key[]),
    ...EVERY,
  ],
} as const satisfies Readonly<Record<string, readonly Key[]>>

/** Adds the flags named; `command.opts()` is then what `loadConfig` takes as `flags`. */
export const addFlags = <Any extends Command>(command: Any, keys: readonly Key[]): Any => {
  for (const key of keys) command.addOption(optionOf(key))
  return command
}
