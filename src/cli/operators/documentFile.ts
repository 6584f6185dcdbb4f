/** Reads a file that a person has written: TOML, or JSON when its name or its beginning says so. */
import { misused } from '../exits.ts'
import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { messageOf } from '../../errorText.ts'

/** Throws an error of one line that names the file. */
export const documentIn = (file: string): unknown => {
  const text = readFileSync(file, 'utf8')
  try {
    return file.endsWith('.json') || /^\s*(?:\{|\[\s*\{)/.test(text) ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw misused(`${file}: ${messageOf(error).split('\n')[0]}`, error)
  }
}
