/** Reads the file that `cards.id_table` names, in JSON or YAML. */
import { parse } from 'yaml'
import { type OperatorTable, readOperatorTable } from '../../drivers/cards/operatorTable.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'

export const readCardsFile = (text: string): OperatorTable => {
  let given: unknown
  try {
    // in YAML, `19e5` and `1044` would be numbers, which nobody means here
    given = jsonIn(text) ?? parse(text, { maxAliasCount: 0, schema: 'failsafe' })
  } catch (error) {
    return { cards: [], problems: [`is neither JSON nor YAML: ${messageOf(error).split('\n')[0]}`] }
  }
  return readOperatorTable(given)
}
