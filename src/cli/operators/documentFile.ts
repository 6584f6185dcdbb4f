/** Reads a file written by a person: TOML, or JSON if the file's name or first character says so. */
import { misused } from '../exits.ts'
import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { messageOf } from '../../vocabulary/errorText.ts'

/** Throws an error with a message of one line that names the file. */
export const documentIn = (file: string): unknown => {
  const text = readFileSync(file, 'utf8')
  try {
    return file.endsWith('.json') || /^\s*(?:\{|\[\s*\{)/.test(text) ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw misused(`${file}: ${messageOf(error).split('\n')[0]}`, error)
  }
}
