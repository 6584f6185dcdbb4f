/** What `accelerando doctor` says of a database and an API that do not answer, and of an API that does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url!)
  response.end()
})
let api = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())
const doctor = (...args: readonly string[]) => commandHere(['doctor', '-f', 'csv', '--no-header', ...args])

test('a control that is ready, whatever slashes are at the end of its address', async () => {
  const { code, out, err } = await doctor('--api', `${api}//`)
  expect([code, err]).toEqual([0, ''])
  expect(out.split('\n')).toEqual([
    `api,ok,${api}/readyz is ready,`,
    expect.stringMatching(/^clock of the api,ok,.* this machine \(give or take 1 s\),$/),
    '',
  ])
  expect(asked).toEqual(['/readyz'])
})
test('a database and a control that do not answer are problems, in the order of the checks', async () => {
  const { code, out, err } = await doctor('--database', 'postgresql://127.0.0.1:1/d', '--api', 'https://127.0.0.1:1')
  expect([code, err]).toEqual([7, ''])
  expect(out.split('\n')).toEqual([
    expect.stringMatching(
      /^database,problem,"?[^,]*ECONNREFUSED[^,]*"?,"check that PostgreSQL is running there, and that user, password and database name are correct"$/,
    ),
    expect.stringMatching(
      /^api,problem,https:\/\/127\.0\.0\.1:1\/readyz does not answer: [^,]*ECONNREFUSED[^,]*,check that a control is running there$/,
    ),
    '',
  ])
})
