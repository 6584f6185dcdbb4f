/** The dead letters over HTTP and with the command: shown, sent again, dropped. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { commandHere } from '../support/commandHere.ts'
import { openPlane } from '../support/plane.ts'
import { speaker } from './cloud.ts'
import { createTestApp } from './app.ts'
import { as, expectRefusal } from './steps.ts'

const REPORTS = 'host.reports.v1'
let plane: Awaited<ReturnType<typeof openPlane>>
let api: ReturnType<typeof speaker>
let served: Listening
beforeAll(async () => {
  plane = await openPlane()
  const app = createTestApp(plane.control)
  api = speaker(app)
  served = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await served.close(0)
  await plane.plane.stop()
  await plane.store.close()
})

/** An hour ago, since no letter is later than the moment at which it is read. */
const BEGAN = Date.now() - 3_600_000
let buried = 0
/** The time of a letter follows the number, so that the last one is the newest. */
const bury = async (more: { readonly value?: string; readonly topic?: string } = {}): Promise<string> => {
  const offset = ++buried
  const of = { topic: REPORTS, key: 'compute-1', value: `no JSON ${offset}`, headers: { kind: 'x' }, ...more }
  const meta = { id: `${of.topic}/3/${offset}`, time: BEGAN + offset * 1000 }
  await plane.bus.publish([deadLetterRecord(of, 'message: must be JSON', meta)])
  return (await api.must(200, 'GET /v2/dead_letters?limit=1')).json.dead_letters[0].uuid
}
const BECAUSE = { body: { reason: 'the host is mended' } }
const OPERATOR = as('admin', { 'X-User-Id': 'operator-7' })
const stateOf = async (uuid: string) => (await api.must(200, `GET /v2/dead_letters/${uuid}`)).json.state

test('a dead letter is listed with its reason, place and size, and shown with its message', async () => {
  const uuid = await bury()
  const { json } = await api.must(200, 'GET /v2/dead_letters')
  const listed = json.dead_letters[0]
  expect(listed).toEqual({
    uuid,
    id: `${REPORTS}/3/${buried}`,
    state: 'open',
    stored_at: `${new Date(BEGAN + buried * 1000).toISOString().slice(0, 19)}+00:00`,
    topic: REPORTS,
    partition: 3,
    offset: buried,
    key: 'compute-1',
    reason: 'message: must be JSON',
    size_bytes: 9,
    cut: false,
    replay_refusal: null,
    handled: null,
  })
  expect((await api.must(200, `GET /v2/dead_letters/${uuid}`)).json).toEqual({
    ...listed,
    headers: { kind: 'x' },
    value: `no JSON ${buried}`,
  })
})
test('the list comes page by page, and by topic', async () => {
  const [older, newer] = [await bury({ topic: 'host.orders.v1' }), await bury({ topic: 'host.orders.v1' })]
  const path = 'GET /v2/dead_letters?topic=host.orders.v1'
  const { json: first } = await api.must(200, `${path}&limit=1`)
  expect(first.dead_letters.map(({ uuid }: { uuid: string }) => uuid)).toEqual([newer])
  expect(first.dead_letters_links[0].href).toContain(`marker=${newer}`)
  const { json: rest } = await api.must(200, `${path}&limit=1&marker=${newer}`)
  expect(rest.dead_letters.map(({ uuid }: { uuid: string }) => uuid)).toEqual([older])
  expect(rest.dead_letters_links).toBe(undefined)
  expectRefusal(await api.say(`GET /v2/dead_letters?marker=${randomUUID()}`), 404)
  expectRefusal(await api.say('GET /v2/dead_letters?state=lost'), 400)
})
test('sent again: its message goes out as it was, and who asked for it and why is recorded', async () => {
  const uuid = await bury()
  plane.published.splice(0)
  const { json } = await api.must(200, `POST /v2/dead_letters/${uuid}/replay`, { ...BECAUSE, headers: OPERATOR })
  expect(json).toMatchObject({ uuid, state: 'replayed', handled: { by: 'operator-7', reason: BECAUSE.body.reason } })
  expect(json.handled.request_id).toMatch(/^req-/)
  expect(plane.published[0]).toEqual({
    topic: REPORTS,
    key: 'compute-1',
    value: `no JSON ${buried}`,
    headers: { kind: 'x' },
  })
  const listed = (await api.must(200, 'GET /v2/dead_letters?state=replayed')).json.dead_letters
  expect(listed.map((each: { uuid: string }) => each.uuid)).toContain(uuid)
})
test('dropped: it is no longer open, stays where it is with the reason, and repeating it is harmless', async () => {
  const uuid = await bury()
  plane.published.splice(0)
  const line = `POST /v2/dead_letters/${uuid}/drop`
  expect((await api.must(200, line, { ...BECAUSE, headers: OPERATOR })).json).toMatchObject({
    state: 'dropped',
    handled: { by: 'operator-7', reason: BECAUSE.body.reason },
  })
  expect(plane.published.map(({ topic }) => topic)).toEqual(['dead-letters.v1'])
  await api.must(200, line, BECAUSE)
  expect(plane.published).toHaveLength(1)
  expect((await api.must(200, `GET /v2/dead_letters/${uuid}`)).json.value).toBe(`no JSON ${buried}`)
})
test('with an Idempotency-Key a message is sent once, however often the request comes', async () => {
  const uuid = await bury()
  plane.published.splice(0)
  const again = () =>
    api.must(200, `POST /v2/dead_letters/${uuid}/replay`, { ...BECAUSE, headers: { 'Idempotency-Key': uuid } })
  await Promise.all([again(), again()])
  await again()
  expect(plane.published.filter(({ topic }) => topic === REPORTS)).toHaveLength(1)
})
test('what was too long to be kept whole cannot be sent again, and the refusal says so', async () => {
  const uuid = await bury({ value: 'x'.repeat(70_000) })
  const got = await api.say(`POST /v2/dead_letters/${uuid}/replay`, BECAUSE)
  expectRefusal(got, 409)
  expect(got.fault).toBe(
    `dead letter ${uuid} is not sent again: it was too long to be kept whole, so it cannot be sent again`,
  )
  expect(await stateOf(uuid)).toBe('open')
})
test('what was sent again cannot be dropped', async () => {
  const uuid = await bury()
  await api.must(200, `POST /v2/dead_letters/${uuid}/replay`, BECAUSE)
  const got = await api.say(`POST /v2/dead_letters/${uuid}/drop`, BECAUSE)
  expectRefusal(got, 409)
  expect(got.fault).toBe(`The dead letter ${uuid} is replayed; this needs open.`)
})
test('only administrators see and handle them, and each change needs a reason', async () => {
  const uuid = await bury()
  const member = speaker(createTestApp(plane.control), as('member'))
  for (const line of ['GET /v2/dead_letters', `GET /v2/dead_letters/${uuid}`])
    expectRefusal(await member.say(line), 403)
  for (const verb of ['replay', 'drop']) {
    expectRefusal(await member.say(`POST /v2/dead_letters/${uuid}/${verb}`, BECAUSE), 403)
    expectRefusal(await api.say(`POST /v2/dead_letters/${uuid}/${verb}`, { body: {} }), 400)
    expectRefusal(await api.say(`POST /v2/dead_letters/${randomUUID()}/${verb}`, BECAUSE), 404)
  }
  expectRefusal(await api.say('GET /v2/dead_letters/nonsense'), 404)
  expect(await stateOf(uuid)).toBe('open')
})
test('a program without a bus says that it has none', async () => {
  const other = await openPlane({ deadLetters: undefined as never })
  const got = await speaker(createTestApp(other.control)).say('GET /v2/dead_letters')
  await other.plane.stop()
  await other.store.close()
  expectRefusal(got, 409)
  expect(got.fault).toBe('this program has no bus, and so no dead letters')
})
test('the commands show one, send it again and drop it', async () => {
  const [first, second] = [await bury(), await bury()]
  const run = (...args: readonly string[]) =>
    commandHere(['dead-letter', ...args], { ACCELERANDO_URL: `${urlOf(served)}/v2` })
  const shown = await run('show', first)
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(/^reason\s+message: must be JSON$/m)
  expect((await run('show', `${REPORTS}/3/${buried - 1}`)).out, 'by the id of its message').toBe(shown.out)
  const { code, out } = await run('replay', first, '--reason', 'mended', '-f', 'json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ uuid: first, state: 'replayed' })
  expect((await run('drop', second, '--reason', 'of a test')).code).toBe(0)
  expect(await stateOf(second)).toBe('dropped')
  expect(await run('drop', randomUUID(), '--reason', 'x')).toMatchObject({ code: EXITS.notFound.code, out: '' })
})
