/** `accelerando event` against the API: pages, and a stream that goes on when its connection is cut. */
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { createEvents, createWriter } from '../delivery/eventsLab.ts'
import { commandHere } from '../support/commandHere.ts'
import { type Serving, serving } from '../support/serving.ts'
import { until } from '../support/lab.ts'

const store = memoryStores({ exclusive: false })()
const { create } = createWriter(store)
let events: ReturnType<typeof createEvents>
let api: Serving
const open = async (port = 0) => {
  events = createEvents(store, { retryMs: 0 })
  const app = createApp({ control: {} as Control, events, identify: noauth, log: silent })
  api = await serving(app, port)
}
const close = async () => {
  events.stop()
  await api.close()
}
beforeEach(() => open())
afterEach(close)
const urlOf = () => `${api.url}/v2`

test('shows all there is, and what is chosen of it', async () => {
  const [one, two] = [await create('p1'), await create('p2')]
  const { code, out } = await commandHere(['events', '--api', urlOf()])
  const lines = out.trimEnd().split('\n')
  expect(code).toBe(0)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(new RegExp(`^2026-\\S+Z  arq/${one}  ArqCreated  by test req-1  1-1-[0-9a-f]{12}$`))
  const after = lines[0]!.split('  ').at(-1)!
  const rest = await commandHere(['events', '--api', urlOf(), '--after', after, '--project', 'p2', '--json'])
  expect(JSON.parse(rest.out)).toMatchObject({ event: { subject: two } })
  expect((await commandHere(['events', '--api', urlOf(), '--kind', 'cat'])).err).toContain('400 Invalid kind')
})

test('follows over a restart of the service without a gap', async () => {
  const first = await create('p1')
  const following = commandHere(['event', '--api', urlOf(), '--follow', '--limit', '2', '-f', 'value', '-c', 'entity'])
  await until(() => events.state().open === 1)
  const two = await create('p1')
  await until(() => events.state().sent > 0, 'the first event', 10_000)
  const { port } = api
  await close()
  const three = await create('p1')
  await open(port)
  const { code, out } = await following
  expect([code, out]).toEqual([0, `arq/${two}\narq/${three}\n`])
  expect(out).not.toContain(first)
})

/** The id of the last event so far. */
const newest = async (): Promise<string> => {
  const { out } = await commandHere(['event', '--api', urlOf(), '-f', 'value', '-c', 'id'])
  return out.trimEnd().split('\n').at(-1) || '0'
}

test('is a list as others are: formats, columns, order, limit', async () => {
  const after = await newest()
  const [one, two, three] = [await create('p1'), await create('p2'), await create('p1')]
  const asked = ['event', '--api', urlOf(), '--after', after]
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await commandHere([...asked, ...args], {}, { terminal: false })
    expect([code, err], args.join(' ')).toEqual([0, ''])
    return out.trimEnd().split('\n')
  }
  const [heads, ...rows] = (await run()).map((line) => line.split('\t'))
  expect(heads).toEqual(['TIME', 'ENTITY', 'TYPE', 'DETAIL', 'BY', 'REQUEST', 'ID'])
  expect(rows.map(([, entity, type, , by]) => [entity, type, by])).toEqual(
    [one, two, three].map((uuid) => [`arq/${uuid}`, 'ArqCreated', 'test']),
  )
  expect(await run('-f', 'value', '-c', 'entity', '--limit', '2')).toEqual([`arq/${one}`, `arq/${two}`])
  const lines = (await run('-f', 'jsonl', '--project', 'p1')).map((line) => JSON.parse(line) as unknown)
  expect(lines).toMatchObject([{ event: { subject: one } }, { event: { subject: three } }])
  expect(JSON.parse((await run('-f', 'json', '--project', 'p1')).join('\n'))).toEqual(lines)
  const backwards = await run('--no-header', '-c', 'id', '--sort-column', 'id:desc', '--limit', '1')
  expect(backwards).toEqual([(await run('-f', 'value', '-c', 'id')).toSorted().at(-1)])
  expect(await run('-f', 'csv', '--type', 'Bound')).toEqual(['time,entity,type,detail,by,request_id,id'])
})

test('--request shows what was recorded under that request', async () => {
  const wanted = 'req-5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10'
  const uuids = [await create('p1'), await createWriter(store, wanted).create('p1'), await create('p1')]
  const shown = await commandHere(['event', '--api', urlOf(), '--request', wanted, '-f', 'value', '-c', 'entity'])
  expect(shown).toEqual({ code: 0, out: `arq/${uuids[1]}\n`, err: '' })
  const none = await commandHere(['event', '--api', urlOf(), '--request', 'req-unknown', '-f', 'value'])
  expect(none).toEqual({ code: 0, out: '', err: '' })
})

test('--follow ends after --limit events, and takes no format that needs all of them', async () => {
  const after = await newest()
  const uuids = [await create('p1'), await create('p1'), await create('p1')]
  const following = ['event', '--api', urlOf(), '--follow', '--after', after]
  const { code, out } = await commandHere([...following, '--limit', '2', '-f', 'value', '-c', 'entity'])
  expect([code, out]).toEqual([0, `arq/${uuids[0]}\narq/${uuids[1]}\n`])
  for (const given of [
    ['-f', 'json'],
    ['-f', 'yaml'],
    ['--sort-column', 'time'],
  ])
    expect(await commandHere([...following, ...given])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('--follow: goes on without an end'),
    })
})

test('what the API refuses ends it', async () => {
  const refused = await commandHere(['event', '--api', urlOf(), '--follow', '--kind', 'cat'])
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('400 Invalid kind') })
})

describe('a stream that a service writes as it likes', () => {
  type Script = (response: ServerResponse) => void
  const refuses =
    (status: number, detail: string): Script =>
    (response) =>
      response.writeHead(status).end(JSON.stringify({ errors: [{ detail }] }))
  /** What of it is shown, what is told beside it, and from which event on it is asked for again. */
  const followed = async (...scripted: readonly Script[]) => {
    const asked: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined)
      ;(scripted[asked.length - 1] ?? refuses(403, 'no such right'))(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
    try {
      const ran = await commandHere(['event', '--follow', '--api', url, '-f', 'value', '-c', 'id', '-c', 'entity'])
      return { ...ran, asked, lines: ran.out.split('\n').slice(0, -1), told: ran.err.split('\n') }
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  const event = (id: string) => `id: ${id}\nevent: accelerando.x\ndata: {"data": {"entity": "arq/${id}"}}\n\n`
  test('is asked for again from the last event on when it ends or is not available; a refusal ends it', async () => {
    const { code, lines, told, asked } = await followed(
      (response) => {
        response.writeHead(200).write(event('e1'))
        response.write('id: e2\nevent: beat\ndata: {}\n\n: a remark\n\n')
        response.write('id: e3\nevent: reset\ndata: too old\n\n')
        response.end('event: accelerando.arq.Cut\ndata: {"data"')
      },
      refuses(503, 'it\u001B starts'),
    )
    expect([code, lines, asked]).toEqual([4, ['e1\tarq/e1'], [undefined, 'e3', 'e3']])
    expect(told.slice(0, 3)).toEqual([
      'events were missed, and it goes on with newer ones: too old',
      // without what a terminal would take for a command
      'GET /events?: 503 it  starts; it is tried again',
      'GET /events?: 403 no such right',
    ])
  })
  test('is read however it is cut', async () => {
    const text = `retry: 7\n\n${event('a')}: a remark\n\nodd\n\n${event('b')}`
    const { lines } = await followed((response) => {
      response.writeHead(200)
      for (const letter of text) response.write(letter)
      response.end()
    })
    expect(lines).toEqual(['a\tarq/a', 'b\tarq/b'])
  })
  test('that is none is given up', async () => {
    const { code, err } = await followed((response) => response.writeHead(200).end('x'.repeat(9 * 1024 * 1024)))
    expect([code, err]).toEqual([4, expect.stringContaining('the stream sends something else than events')])
  })
})
