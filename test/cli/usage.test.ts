/** `accelerando usage`: what it asks, and what it prints. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

const LINE = { resource_class: 'FPGA', from: 'T1', until: 'T2', device_seconds: 12.5, bindings: 2 }
const REPORT = {
  from: 'T1',
  until: 'T2',
  as_of: 'T3',
  period: 'total',
  usage: [
    { ...LINE, project_id: 'p1' },
    { ...LINE, project_id: null },
    { ...LINE, project_id: '=1+2,"x"' },
  ],
}
let asked: (string | undefined)[] = []
let api = ''
const server = createServer((request, response) => {
  asked.push(request.url)
  response.end(JSON.stringify(REPORT))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterAll(() => void server.close())

test('the text, the values and the document', async () => {
  const shown = []
  for (const args of [[], ['--csv'], ['--json']]) {
    const { code, out, err } = await commandHere(['usage', ...args, '--api', api])
    shown.push(`$ accelerando usage ${args.join(' ')}\n${out}${err}exit code ${code}\n`)
  }
  await expect(shown.join('\n')).toMatchFileSnapshot('golden/usage.txt')
})
test('what it asks', async () => {
  asked = []
  await commandHere(['usage', '--api', api])
  const given = ['--from', '2026-01-01', '--until', '2026-02-01T00:00:00Z', '--period', 'day', '--project', 'a b']
  await commandHere(['usage', ...given, '--api', api])
  expect(asked).toEqual([
    '/v2/usage?period=total',
    '/v2/usage?from=2026-01-01&until=2026-02-01T00%3A00%3A00Z&period=day&project_id=a+b',
  ])
  expect((await commandHere(['usage', '--period', 'hour', '--api', api])).code).toBe(2)
})
