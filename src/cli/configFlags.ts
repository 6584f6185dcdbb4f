/** The flags of the command line, derived from the options. */
import { type Command, Option } from 'commander'
import { envName, flagName, KEYS, rowOf } from './configTable.ts'
import type { Key, Plain } from './configTable.ts'

const placeholder = (form: string): string => {
  if (form === 'true or false') return ''
  const known: Readonly<Record<string, string>> = {
    folder: 'DIR',
    file: 'FILE',
    count: 'N',
    URL: 'URL',
    'HOST:PORT': form,
  }
  return ` <${known[form] ?? 'VALUE'}>`
}
const textOf = (standard: Plain): string => (typeof standard === 'string' ? standard : JSON.stringify(standard))

/** The values stay texts: they are judged with those of file and environment. */
const optionOf = (key: Key): Option => {
  const { about, form, standard } = rowOf(key)
  const choices = form.includes(', ') ? ` One of ${form}.` : ''
  const usual = standard === null || standard === false ? '' : `default ${textOf(standard)}; `
  return new Option(`${flagName(key)}${placeholder(form)}`, `${about}${choices} (${usual}${envName(key)})`)
}

export const FLAG_KEYS: readonly Key[] = KEYS.filter((key) => rowOf(key).flag)

/** Adds the flags, all or those named; `command.opts()` is then what `loadConfig` takes as `flags`. */
export const addFlags = (command: Command, keys: readonly Key[] = FLAG_KEYS): Command => {
  for (const key of keys) command.addOption(optionOf(key))
  return command
}
