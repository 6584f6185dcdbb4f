/** The scripted server answers as PostgreSQL does: transactions that fail, whole numbers, and what was done. */
import { Client } from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type Script, scriptedPostgres, sqlError } from './scriptedPostgres.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const connected = async (script: Script) => {
  const server = await scriptedPostgres(script)
  const client = new Client({ connectionString: server.url })
  await client.connect()
  closing.push(server.close, () => client.end())
  const done = (text: string) =>
    client.query({ text, values: [] }).then(
      ({ command, rowCount, rows }) => [command, rowCount, rows],
      ({ code }: { readonly code: string }) => code,
    )
  return { done }
}

test('a transaction in which a statement failed takes no other until it is ended, and is undone', async () => {
  const ran: string[] = []
  const { done } = await connected(({ text }) => {
    ran.push(text)
    return text === 'insert bad' ? sqlError('23505') : null
  })
  const said = ['insert bad', 'begin', 'insert bad', 'select 1', 'commit', 'select 1', 'begin', 'commit']
  const results: unknown[] = []
  for (const text of said) results.push(await done(text))
  expect(results).toEqual([
    ...['23505', ['BEGIN', null, []], '23505', '25P02', ['ROLLBACK', null, []]],
    ...[
      ['SELECT', 0, []],
      ['BEGIN', null, []],
      ['COMMIT', null, []],
    ],
  ])
  expect(ran).toEqual(said.toSpliced(3, 1))
})
test('a whole number beyond 32 bits comes as the client shows an int8, as a text', async () => {
  const row = { small: 2 ** 31 - 1, large: 2 ** 31, least: -(2 ** 31), part: 0.5, yes: true, none: null }
  const { done } = await connected(() => [row])
  expect(await done('select')).toEqual(['SELECT', 1, [{ ...row, large: '2147483648' }]])
})
