/**
 * Lists of any length are sent portion by portion: the same text, little memory, nobody held up, and never a short list
 * that looks whole.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import type { AppParts } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Reads } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { as } from './steps.ts'

const COUNT = 6000
/** Rows that are read at once, and characters that are sent at once. */
const PORTION = { rows: 500, characters: 131_072 }
const PLACES = { what: 'long lists', all: 3, project: 1, waiting: 0, retryAfterSeconds: 1 }
const PATH = '/v2/accelerator_requests'

/** Called before each page is read. */
let beforePage = async () => {}
const open = async () => {
  const store = memoryStore()
  const page: Reads['page'] = async (query) => {
    // the service reads other views by itself
    if (query.view === 'arqs') await beforePage()
    return store.reads.page(query)
  }
  const world = await openPlane({ reads: { ...store.reads, page } }, store)
  const groups = [{ 'resources:FPGA': '250' }]
  value(await world.control.profiles.create(NOVA, { name: 'f', description: null, groups }))
  for (let n = 0; n < COUNT / 250; n++) value(await world.control.arqs.create(NOVA, 'f'))
  return world
}
let world: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  world = await open()
}, 60_000)
afterAll(() => world.plane.stop())

const appOf = (parts: Partial<AppParts> = {}) => {
  const log = memoryLog()
  const app = createApp({ control: world.control, identify: noauth, log, ...parts })
  const broken = () =>
    log.said.filter(({ message }) => message === 'http.broken_off').map(({ detail }) => detail['reason'])
  return { app, log, broken }
}
const served = async (parts: Partial<AppParts> = {}) => {
  const made = appOf(parts)
  const api = await listen(made.app, { host: '127.0.0.1', port: 0 })
  return { ...made, url: `http://127.0.0.1:${api.port}${PATH}`, close: () => api.close(0) }
}
type Document = { readonly arqs: readonly { readonly uuid: string }[]; readonly arqs_links?: readonly unknown[] }
/** The list put together from pages that are short enough to be answered at once. */
const inPages = async (query = '') => {
  const { app } = appOf()
  const arqs: Document['arqs'][number][] = []
  for (;;) {
    const marker = arqs.length === 0 ? '' : `&marker=${arqs.at(-1)!.uuid}`
    const page = (await (await app.request(`${PATH}?limit=${PORTION.rows}${query}${marker}`)).json()) as Document
    arqs.push(...page.arqs)
    if (!page.arqs_links) return arqs
  }
}

describe('a list that is longer than a portion', () => {
  test.each(['', '&sort_key=uuid&sort_dir=desc'])('is the text that one document would be%s', async (query) => {
    const { app, broken } = appOf()
    const response = await app.request(`${PATH}?${query.slice(1)}`)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(broken()).toEqual([])
    const arqs = await inPages(query)
    expect(arqs).toHaveLength(COUNT)
    expect((await response.text()) === JSON.stringify({ arqs })).toBe(true)
    expect(broken()).toEqual([])
  })
  test('links to the next page when more is left than was asked for', async () => {
    const { app } = appOf()
    const all = await inPages()
    const text = await (await app.request(`${PATH}?limit=1200`)).text()
    const [first, last] = [all.slice(0, 1200), all[1199]!.uuid]
    const href = `http://localhost/accelerator${PATH}?limit=1200&marker=${last}`
    expect(text === JSON.stringify({ arqs: first, arqs_links: [{ rel: 'next', href }] })).toBe(true)
    const rest = (await (await app.request(`${PATH}?limit=${COUNT}&marker=${last}`)).json()) as Document
    expect(rest).toEqual({ arqs: all.slice(1200) })
  })
  test('goes on from the place of a row that is deleted while it is sent', async () => {
    const [arq] = value(await world.control.arqs.create(NOVA, 'f'))
    const { app } = appOf()
    let pages = 0
    beforePage = async () => {
      if (++pages === 2) value(await world.control.arqs.remove(NOVA, [arq!.uuid]))
    }
    const { arqs } = (await (await app.request(`${PATH}?sort_key=uuid&sort_dir=desc`)).json()) as Document
    beforePage = async () => {}
    value(await world.control.arqs.list(NOVA, {}, {}))
    expect(arqs.length).toBeGreaterThanOrEqual(COUNT)
    expect(new Set(arqs.map(({ uuid }) => uuid)).size).toBe(arqs.length)
  })
  test('is refused as any other when its first portion cannot be read', async () => {
    const { app } = appOf()
    beforePage = async () => Promise.reject(new Unreadable('away'))
    expect((await app.request(PATH)).status).toBe(503)
    beforePage = async () => {}
    expect((await app.request(`${PATH}?marker=00000000-0000-4000-8000-000000000000`)).status).toBe(404)
  })
  test('has the same headers for HEAD, and no body', async () => {
    const { app, log } = appOf()
    const response = await app.request(PATH, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json',
      '',
    ])
    expect(log.said.filter(({ message }) => message === 'http.answered')).toHaveLength(1)
  })
})

describe('over a connection', () => {
  test('it arrives whole', async () => {
    const { url, close } = await served()
    const response = await fetch(url)
    expect(response.headers.get('content-length')).toBe(null)
    expect(((await response.json()) as Document).arqs.length).toBeGreaterThanOrEqual(COUNT)
    await close()
  })
  test('it is broken off with its connection when a later portion cannot be read', async () => {
    const { url, close, broken } = await served()
    let pages = 0
    beforePage = async () => (++pages < 4 ? undefined : Promise.reject(new Unreadable('away')))
    const response = await fetch(url)
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
    beforePage = async () => {}
    expect(broken()).toEqual(['the next portion of the list: the views cannot be read'])
    await close()
  })
  test('it is broken off when a later portion takes too long', async () => {
    const { url, close, broken } = await served({ streams: { pieceMs: 50 } })
    let pages = 0
    beforePage = async () => (++pages < 4 ? undefined : new Promise<void>(() => {}))
    await expect((await fetch(url)).text()).rejects.toThrow('terminated')
    beforePage = async () => {}
    expect(broken()).toEqual(['the next piece was not there within 50 ms'])
    await close()
  })
  test('nothing more is made for a client that takes nothing, and after a while it is broken off', async () => {
    let pages = 0
    beforePage = async () => void pages++
    const { app, broken } = appOf({ streams: { stallMs: 100 } })
    const reader = (await app.request(PATH)).body!.getReader()
    expect((await reader.read()).value!.length).toBeGreaterThanOrEqual(PORTION.characters)
    await until(() => broken().length === 1)
    beforePage = async () => {}
    expect(broken()).toEqual(['the client took nothing for 100 ms'])
    expect(pages).toBe(1)
    await expect(reader.read()).rejects.toThrow('broken off')
  })
  test('after 30 s, or ten minutes as a whole, where nothing else is said', async () => {
    const clock = handClock()
    const taken = async (everyMs: number) => {
      const { app, broken } = appOf({ clock })
      const reader = (await app.request(PATH)).body!.getReader()
      for (; broken().length === 0; await clock.pass(everyMs)) await reader.read().catch(() => {})
      return broken()
    }
    expect(await taken(30_000)).toEqual(['the client took nothing for 30000 ms'])
    expect(await taken(29_999)).toEqual(['it took longer than 600000 ms'])
  })
  test('a client that is slow, but takes something now and then, gets the whole', async () => {
    const { app, broken } = appOf({ streams: { stallMs: 300 } })
    const reader = (await app.request(PATH)).body!.getReader()
    const from = performance.now()
    while (!(await reader.read()).done)
      if (performance.now() - from < 1000) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(broken()).toEqual([])
  })
  test('it is broken off when it takes too long as a whole', async () => {
    const { app, broken } = appOf({ streams: { wholeMs: 100 } })
    const reader = (await app.request(PATH)).body!.getReader()
    await reader.read()
    await until(() => broken().length === 1)
    await expect(reader.read()).rejects.toThrow('longer than 100 ms')
  })
  test('a client that leaves takes its list with it', async () => {
    const { url, close, broken } = await served()
    const leaving = new AbortController()
    const response = await fetch(url, { signal: leaving.signal })
    const reader = response.body!.getReader()
    await reader.read()
    leaving.abort()
    await until(() => broken().length === 1)
    expect(broken()).toEqual(['the client left'])
    await close()
  })
})

describe('many at once', () => {
  test('are refused beyond the share of a project, whose places others do not lack, and accepted again when one has ended', async () => {
    const { app } = appOf({ shares: { longLists: PLACES } })
    const asked = (project: string, role = 'reader', query = '') =>
      app.request(`${PATH}${query}`, { headers: as(role, { 'X-Project-Id': project }) })
    const of = NOVA.projectId
    const one = await asked(of)
    const crowded = await asked(of)
    expect([crowded.status, crowded.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await crowded.text()).toContain('The project has 1 of the 3 places for long lists, which is its share.')
    expect((await asked(of, 'reader', '?limit=10')).status).toBe(200)
    const other = await asked('another', 'admin')
    expect(other.status).toBe(200)
    const third = await asked('a third', 'admin')
    expect(third.status).toBe(200)
    const none = await asked('a fourth', 'admin')
    expect([none.status, none.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await none.text()).toContain('all 3 places for long lists are taken')
    await one.text()
    await other.body!.cancel()
    expect((await asked(of)).status).toBe(200)
    expect((await asked('another', 'admin')).status).toBe(200)
  })
  test('let the event loop turn: no turn takes 50 ms of the processor', async () => {
    const { app } = appOf()
    await (await app.request(PATH)).text()
    let [worst, last, on] = [0, process.threadCpuUsage(), true]
    const look = () => {
      const used = process.threadCpuUsage()
      worst = Math.max(worst, used.user + used.system - last.user - last.system)
      last = used
      if (on) setImmediate(look)
    }
    look()
    await Promise.all(Array.from({ length: 4 }, async () => (await app.request(PATH)).text()))
    on = false
    expect(worst / 1000).toBeLessThan(50)
  })
  test('that nobody takes are not made', async () => {
    const { app } = appOf()
    let pages = 0
    beforePage = async () => void pages++
    const all = await Promise.all(Array.from({ length: 30 }, async () => app.request(PATH)))
    expect(pages).toBe(30)
    beforePage = async () => {}
    await Promise.all(all.map((response) => response.body!.cancel()))
  })
})
