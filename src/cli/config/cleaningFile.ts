/** Reads the file that `cleaning.policies` names, in JSON or YAML. */
import { parse } from 'yaml'
import { DRIVER_NAMES } from '../../drivers/index.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { type PoliciesRead, readCleaningPolicies } from '../../host/cleaningPolicies.ts'

export const readCleaningFile = (text: string): PoliciesRead => {
  let given: unknown
  try {
    given = parse(text, { maxAliasCount: 0 })
  } catch (error) {
    return { policies: [], problems: [`is neither JSON nor YAML: ${messageOf(error).split('\n')[0]}`] }
  }
  return readCleaningPolicies(given, DRIVER_NAMES)
}
