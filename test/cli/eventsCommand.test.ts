/** `accelerando event` against the API: pages, and a stream that goes on when its connection is cut. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import { createFrames } from '../../src/cli/operators/eventText.ts'
import { eventLine, follow } from '../../src/cli/operators/events.ts'
import { type Listening, listen } from '../../src/cli/programs/listen.ts'
import type { EventSource } from '../../src/delivery/events/events.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/log.ts'
import { memoryStores } from '../../src/persistence/memory/memory.ts'
import { createEvents, createWriter } from '../delivery/eventsLab.ts'
import { commandHere } from '../support/commandHere.ts'
import { until } from '../support/lab.ts'

const store = memoryStores({ exclusive: false })()
const { create } = createWriter(store)
let events: EventSource
let api: Listening
const open = async (port = 0) => {
  events = createEvents(store, { retryMs: 0 })
  const app = createApp({ control: {} as Control, events, identify: noauth, log: silent })
  api = await listen(app, { host: '127.0.0.1', port })
}
const close = async () => {
  events.stop()
  await api.close(0)
}
beforeEach(() => open())
afterEach(close)
const urlOf = () => `http://127.0.0.1:${api.port}/v2`

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
  const [shown, warned, end]: [string[], string[], AbortController] = [[], [], new AbortController()]
  const wanted = { flags: { api: urlOf() }, query: {}, after: null }
  const following = follow(
    wanted,
    (event) => void shown.push(eventLine(event)),
    (line) => void warned.push(line),
    end.signal,
  )
  await until(() => events.state().open === 1)
  const two = await create('p1')
  await until(() => shown.length === 1)
  const { port } = api
  await close()
  const three = await create('p1')
  await open(port)
  await until(() => shown.length === 2, 'the second event', 10_000)
  end.abort()
  await following
  expect(shown[0]).toContain(two)
  expect(shown[1]).toContain(three)
  expect(shown.join()).not.toContain(first)
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
  const wanted = { flags: { api: urlOf() }, query: { kind: 'cat' }, after: null }
  const none = () => {}
  await expect(follow(wanted, none, none, new AbortController().signal)).rejects.toThrow('400 Invalid kind')
})

test('frames are read however they are cut', () => {
  const text = 'retry: 7\n\nid: a\nevent: e\ndata: {"x": ": "}\n\n: a remark\n\nevent: bye\ndata: {}\n\nid: b'
  for (let size = 1; size < text.length; size += 3) {
    const frames = createFrames()
    const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    )
    expect(parts.flatMap(frames.take)).toEqual([
      { id: 'a', event: 'e', data: '{"x": ": "}' },
      { id: null, event: 'bye', data: '{}' },
    ])
    expect(frames.retryMs()).toBe(7)
  }
  expect(() => createFrames().take('x'.repeat(9 * 1024 * 1024))).toThrow('something else than events')
})
