/** Reads the file that `cards.id_table` names, in JSON or YAML. */
import { parse } from 'yaml'
import { type OperatorTable, readOperatorTable } from '../../drivers/cards/operatorTable.ts'
import { messageOf } from '../../errorText.ts'

export const readCardsFile = (text: string): OperatorTable => {
  let given: unknown
  try {
    given = parse(text, { maxAliasCount: 0 })
  } catch (error) {
    return { cards: [], problems: [`is neither JSON nor YAML: ${messageOf(error).split('\n')[0]}`] }
  }
  return readOperatorTable(given)
}
