/**
 * A store that cannot be read: what may pass is answered 503 and when to come again, what cannot pass is answered 500.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { type Said, memoryLog } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { expectRefusal, send } from './steps.ts'

const ID = '6b1f4d8e-6f0c-4b6e-9d3c-0d5a5a0c8f11'
const LISTS = [
  ['GET /v2/accelerator_requests', 'arqs'],
  ['GET /v2/device_profiles', 'profiles'],
  ['GET /v2/devices', 'devices'],
  ['GET /v2/deployables', 'deployables'],
  ['GET /v2/attributes', 'attributes'],
  ['GET /v2/handles', 'handles'],
  [`GET /v2/handles/${ID}`, 'handles'],
  ['GET /v2/hosts', 'hosts'],
] as const
const TALES = [
  `GET /v2/accelerator_requests/${ID}`,
  `GET /v2/accelerator_requests/${ID}/timeline`,
  `GET /v2/devices/${ID}`,
  `GET /v2/attributes?deployable_id=${ID}`,
]

/** What fails: the reads of one view, or of the journal. */
let failing: { readonly part: string; readonly failure: Unreadable } | null
let opened: Awaited<ReturnType<typeof open>>
const open = async () => {
  const fail = async (part: string) => {
    if (failing?.part === part) throw failing.failure
  }
  const store = memoryStore({ beforeRead: () => fail('journal') })
  const page: typeof store.reads.page = (query) => fail(query.view).then(() => store.reads.page(query))
  const log = memoryLog()
  const plane = await openPlane({ log }, { ...store, reads: { ...store.reads, page } })
  return { plane, said: log.said, app: createApp({ control: plane.control, identify: noauth, log }) }
}
beforeEach(async () => {
  failing = null
  opened = await open()
})
afterEach(() => opened.plane.plane.stop())

const linesOf = (said: readonly Said[], message: string) => said.filter((line) => line.message === message)

test.each(LISTS)('%s: what another try cannot cure is a 500, logged once with its cause', async (line, view) => {
  const { app, said } = opened
  const failure = new Unreadable('the view cannot be read: no such column (42703)', { permanent: true })
  failing = { part: view, failure }
  const got = await send(app, line)
  expectRefusal(got, 500)
  expect(got.headers.get('retry-after')).toBe(null)
  expect(got.text).not.toContain('42703')
  const request = got.headers.get('x-openstack-request-id')
  expect(linesOf(said, 'views.unreadable')).toEqual([
    { level: 'error', detail: { view, permanent: true, error: failure.message }, message: 'views.unreadable' },
  ])
  expect(linesOf(said, 'http.failed')).toMatchObject([{ level: 'error', detail: { request, reason: failure.message } }])
})

test.each(LISTS)('%s: what may pass is a 503 with Retry-After, logged once with its cause', async (line, view) => {
  const { app, said } = opened
  const failure = new Unreadable('the view cannot be read: connection refused')
  failing = { part: view, failure }
  const got = await send(app, line)
  expectRefusal(got, 503)
  expect(got.headers.get('retry-after')).toBe('1')
  expect(linesOf(said, 'views.unreadable')).toMatchObject([{ level: 'warn', detail: { view, error: failure.message } }])
  expect(linesOf(said, 'http.failed')).toEqual([])
})

test.each(TALES)('%s: a journal that cannot be read is told apart in the same way', async (line) => {
  const { app, said } = opened
  failing = { part: 'journal', failure: new Unreadable('the journal cannot be read: timeout') }
  expectRefusal(await send(app, line), 503)
  const lasting = new Unreadable('the journal cannot be read: no such table (42P01)', { permanent: true })
  failing = { part: 'journal', failure: lasting }
  expectRefusal(await send(app, line), 500)
  const causes = said.filter(({ message }) => message === 'journal.unreadable' || message === 'actor.stopped')
  expect(causes.map(({ detail }) => String(detail['error']).replace('Unreadable: ', ''))).toEqual([
    'the journal cannot be read: timeout',
    'the journal cannot be read: no such table (42P01)',
  ])
})

test('GET /v2/hosts: whether a host is retired is not guessed', async () => {
  const { app, plane } = opened
  await plane.report('h1', [])
  plane.plane.region.kill('host/h1')
  failing = { part: 'journal', failure: new Unreadable('the journal cannot be read: timeout') }
  expectRefusal(await send(app, 'GET /v2/hosts'), 503)
})
