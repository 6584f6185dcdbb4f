/** A file that a person has written: JSON or TOML, by its name or its beginning. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Failure } from '../../src/cli/exits.ts'
import { documentIn } from '../../src/cli/operators/documentFile.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('document-file')
afterAll(folder.remove)
const read = (name: string, text: string): unknown => {
  writeFileSync(join(folder.path, name), text)
  return documentIn(join(folder.path, name))
}

test.each([
  ['a.json', '[1]', [1]],
  ['a.json', '7', 7],
  ['a.txt', ' \n {"a": 1}', { a: 1 }],
  ['a.toml', '\n[ { "a": 1 } ]', [{ a: 1 }]],
  ['a.toml', '[a]\nb = "{"\n', { a: { b: '{' } }],
  ['a.toml', '[[groups]]\n"resources:FPGA" = 1\n', { groups: [{ 'resources:FPGA': 1 }] }],
  ['json', 'a = 1\n', { a: 1 }],
  ['a.toml', 'a = [\n{ b = 1 }]\n', { a: [{ b: 1 }] }],
])('%s with %j', (name, text, document) => expect(read(name, text)).toEqual(document))
test.each([
  ['a.json', 'a = 1'],
  ['a.toml', '{ a = 1'],
  ['a.toml', 'a = \nb'],
])('%s with %j is refused in one line that names the file', (name, text) => {
  let failure: unknown
  try {
    read(name, text)
  } catch (error) {
    failure = error
  }
  expect(failure).toBeInstanceOf(Failure)
  const { exit, message, cause } = failure as Failure
  expect([exit, message.split('\n')]).toEqual(['usage', [expect.stringMatching(/a\.(json|toml): \S/)]])
  expect(message.startsWith(join(folder.path, name))).toBe(true)
  expect(cause).toBeInstanceOf(Error)
})
