/** What is on the topics, as it is described for others: the schemas of all messages, keys and retention. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { asyncapi } from '../../src/wire/asyncapi.ts'

test('the committed description is the one that is printed', () => {
  const committed = readFileSync(new URL('../../infra/contracts/asyncapi.json', import.meta.url), 'utf8')
  expect(committed).toBe(`${JSON.stringify(asyncapi(), null, 2)}\n`)
})
