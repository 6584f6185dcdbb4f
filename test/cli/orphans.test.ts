/** `accelerando orphan`: what it asks of the API, and what it prints. */
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

type Asked = { readonly line: string; readonly body: unknown }
const id = (n: number) => `5eed0000-0000-4000-8000-${String(n).padStart(12, '0')}`
const orphan = (n: number) => ({
  instance_uuid: id(n),
  arqs: [id(1000 + n)],
  hostname: n === 1 ? 'h1' : null,
  project_id: 'p1',
  changed_at: 'T1',
})
const kept = { instance_uuid: id(500), reason: 'Nova answered 500: no' }

let asked: Asked[]
let pages: readonly object[]
let server: Server
let api: string
beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    void text(request).then((sent) => {
      const { method, url } = request
      asked.push({ line: `${method} ${url}`, body: sent === '' ? null : JSON.parse(sent) })
      if (method === 'GET') return response.end(JSON.stringify(pages[asked.length - 1]))
      const { instance_uuids: named } = JSON.parse(sent) as { readonly instance_uuids: readonly string[] }
      const orphans = named.map((one) => ({ ...orphan(1), instance_uuid: one }))
      return response.end(JSON.stringify({ orphans, kept: named.length === 1 ? [kept] : [] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterEach(() => server.close())
const ran = (...args: readonly string[]) => commandHere(['orphans', ...args, '--api', api])

const TWO_PAGES = [
  { orphans: [orphan(1)], unclear: [kept], asked: 200, next: id(7) },
  { orphans: [orphan(2)], unclear: [], asked: 3, next: null },
]
const LISTED = `to delete: ${id(1001)} of instance ${id(1)} on h1, unchanged since T1
to delete: ${id(1002)} of instance ${id(2)} on -, unchanged since T1
kept: instance ${id(500)}: Nova answered 500: no
203 instances with accelerators; 2 not known to Nova
`

test.each([[[]], [['collect']]])('%j reads all pages, and deletes nothing', async (args) => {
  pages = TWO_PAGES
  expect(await ran(...args)).toEqual({ code: args.length === 0 ? 7 : 0, out: LISTED, err: '' })
  expect(asked).toEqual([
    { line: 'GET /v2/orphans', body: null },
    { line: `GET /v2/orphans?marker=${id(7)}`, body: null },
  ])
})

test('collect --apply names what it has found, a hundred instances at a time', async () => {
  pages = [{ orphans: Array.from({ length: 101 }, (_, n) => orphan(n)), unclear: [], asked: 101, next: null }]
  const { code, out } = await ran('collect', '--apply', '--yes')
  const lines = out.trimEnd().split('\n')
  expect([code, lines.length]).toEqual([0, 103])
  expect(lines[0]).toBe(`deleted: ${id(1001)} of instance ${id(0)} on h1, unchanged since T1`)
  expect(lines.slice(101)).toEqual([
    `kept: instance ${id(500)}: Nova answered 500: no`,
    'deleted the accelerator requests of 101 instances',
  ])
  const bodies = asked
    .slice(1)
    .map(({ line, body }) => [line, (body as { instance_uuids: unknown[] }).instance_uuids.length])
  expect(bodies).toEqual([
    ['POST /v2/orphans/collect', 100],
    ['POST /v2/orphans/collect', 1],
  ])
})

test('without an orphan nothing is asked to be deleted', async () => {
  pages = [{ orphans: [], unclear: [], asked: 1, next: null }]
  expect(await ran('collect', '--apply', '--yes')).toMatchObject({
    code: 0,
    out: 'deleted the accelerator requests of 0 instances\n',
  })
  expect(asked).toHaveLength(1)
})

test('as documents', async () => {
  pages = TWO_PAGES
  const { out } = await ran('--json')
  expect(JSON.parse(out)).toEqual({ orphans: [orphan(1), orphan(2)], unclear: [kept], asked: 203 })
})
