/** The certificates of the CAs that a user of commands trusts. */
import { messageOf } from '../../vocabulary/errorText.ts'
import { misused } from '../exits.ts'
import { readText } from './readText.ts'

/** The text of the file, in PEM; null: none is named. Throws with a text for the operator. */
export const trusted = (file: string | null | undefined, from: string): string | null => {
  try {
    return file ? readText(file) : null
  } catch (error) {
    throw misused(`${from}: ${file}: ${messageOf(error)}`)
  }
}
/** Of the file that the user's variables name. */
export const trustedBy = (env: Readonly<Record<string, string | undefined>>): string | null =>
  trusted(env['OS_CACERT'], 'OS_CACERT')
