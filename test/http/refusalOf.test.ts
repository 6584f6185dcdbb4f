import * as v from 'valibot'
import { expect, test } from 'vitest'
import { refusalOf } from '../../src/http/schemas.ts'

test('a refusal shows no more than 200 characters of the name of a field, and of the rule', () => {
  const shown = (schema: v.GenericSchema, value: unknown): string => {
    const parsed = v.safeParse(schema, value)
    if (parsed.success) throw new Error('it is valid')
    return JSON.stringify(refusalOf(parsed.issues))
  }
  const field = shown(v.record(v.string(), v.number()), { ['k'.repeat(300)]: 'text' })
  expect(field).toContain('k'.repeat(200))
  expect(field).not.toContain('k'.repeat(201))
  const rule = shown(v.object({ name: v.picklist([`a${'r'.repeat(300)}`]) }), { name: 'text' })
  expect(rule).toContain('r'.repeat(150))
  expect(rule).not.toContain('r'.repeat(201))
})
