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

const faultOf = (schema: v.GenericSchema, value: unknown) => {
  const parsed = v.safeParse(schema, value)
  return parsed.success ? null : refusalOf(parsed.issues).fault
}
test.each<[rule: string, schema: v.GenericSchema, value: unknown]>([
  ['it must be a string', v.string(), 5],
  ['it must be a number', v.number(), 'x'],
  ['it must be true or false', v.boolean(), 5],
  ['it must be an array', v.array(v.string()), 5],
  ['it must be an object', v.object({}), 5],
  ['it must be a string or a number', v.union([v.string(), v.number()]), true],
  ['it must be "a" or "b"', v.picklist(['a', 'b']), 'c'],
  ['words of its own', v.string('words of its own'), 5],
  ['Invalid value: Expected >=1 but received 0', v.pipe(v.number(), v.minValue(1)), 0],
])('a refusal says in words what a value must be: %s', (rule, schema, value) =>
  expect(faultOf(schema, value)).toEqual({ kind: 'invalid', field: 'body', rule }),
)
test('a field that is missing is called missing, unless its own rule says something else', () => {
  expect(faultOf(v.object({ a: v.string() }), {})).toEqual({ kind: 'invalid', field: 'a', rule: 'it is missing' })
  const own = v.object({
    a: v.pipe(
      v.unknown(),
      v.check(() => false, 'words of its own'),
    ),
  })
  expect(faultOf(own, { a: undefined })).toEqual({ kind: 'invalid', field: 'a', rule: 'words of its own' })
})
