/**
 * What is planned of each damage, word for word: `planned.txt` is what would be recorded, and each note as operators
 * read it.
 */
import { expect, test } from 'vitest'
import { RULES } from '../../src/actors/upstream/notes.ts'
import { planImport } from '../../src/actors/upstream/plan.ts'
import { CASES } from './cases.ts'
import { NOT_TAKEN_OVER } from './notTakenOver.ts'
import { ODD } from './oddRows.ts'
import { WHOLE } from './whole.ts'

const linesOf = (name: string, tables: Parameters<typeof planImport>[0]): readonly string[] => {
  const { notes, ...records } = planImport(tables)
  return [
    `# ${name}`,
    ...Object.entries(records).flatMap(([kind, all]) => all.map((one) => `${kind} ${JSON.stringify(one)}`)),
    ...notes.map(({ outcome, rule, table, id, uuid, text }) => `${outcome} ${rule} ${table} ${id} ${uuid}: ${text}`),
  ]
}
test('every rule, every record and every note', async () => {
  const rules = Object.entries(RULES).map(([rule, meaning]) => `rule ${rule}: ${meaning}`)
  const lines = [
    ...rules,
    ...[...CASES, ...NOT_TAKEN_OVER].flatMap(([name, tables]) => linesOf(name, tables)),
    ...ODD.flatMap(([name, tables]) => linesOf(name, tables)),
    ...linesOf('all of it', WHOLE),
  ]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('planned.txt')
})
