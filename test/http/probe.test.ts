/** Asking a host for a report at once, over HTTP and with the command. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import { EXITS } from '../../src/cli/exits.ts'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent as log } from '../../src/vocabulary/log.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { commandHere } from '../support/commandHere.ts'
import { handClock } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

const clock = handClock()
/** No request is late, however far the clock moves while a database works. */
const options = { answerMs: 3_600_000 }
const appOf = (control: Control) => createApp({ control, identify: noauth, log, clock, options })
let plane: Awaited<ReturnType<typeof openPlane>>
let api: ReturnType<typeof speaker>
let served: Listening
beforeAll(async () => {
  plane = await openPlane({ clock, options: { sweepEveryMs: 24 * 3_600_000 } })
  const app = appOf(plane.control)
  api = speaker(app)
  served = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await served.close(0)
  await plane.plane.stop()
  await plane.store.close()
})

const FAILED: InventoryReport['drivers'] = [
  { driver: 'd1', status: 'ok', devices: [] },
  { driver: 'd2', status: 'failed', error: 'link down' },
]
/** A host whose program numbers its starts, as since release 0.3.0. */
const hostOf = async () => {
  const [name, boot] = [`h-${randomUUID().slice(0, 8)}`, randomUUID()]
  const reports = (more: Partial<InventoryReport> = {}, drivers = FAILED) =>
    plane.report(name, drivers, boot, { bootNumber: 1, ...more })
  await reports()
  return { name, boot, reports, line: `POST /v2/hosts/${name}/probe` }
}
const questionTo = (name: string) => plane.questions.findLast(({ host }) => host === name)
const question = async (name: string): Promise<string> => {
  await expect.poll(() => questionTo(name)?.id).toBeTruthy()
  return questionTo(name)!.id
}
/** The host has been asked: lets the time pass in which it may answer. */
const unanswered = async <Value>(name: string, asking: Promise<Value>): Promise<Value> => {
  let ended = false
  const end = () => void (ended = true)
  asking.then(end, end)
  await question(name)
  // in steps, since with a database the wait for the answer may not have begun yet
  const passed = async () => {
    await clock.pass(500)
    return ended
  }
  await expect.poll(passed, { timeout: 30_000, interval: 20 }).toBe(true)
  return asking
}
const shown = async (name: string) => (await api.must(200, `GET /v2/hosts/${name}`)).json.probe

test('the host is asked, and its answer is recorded and told', async () => {
  const { name, boot, reports, line } = await hostOf()
  expect(await shown(name)).toBe(null)
  const asking = api.must(200, line, { headers: as('admin', { 'X-User-Id': 'operator-7' }) })
  const id = await question(name)
  expect(questionTo(name)).toEqual({ type: 'TellSlots', host: name, bootId: boot, id })
  // a report that answers another question, or none, is no answer
  await reports()
  await reports({ slots: { prepared: [], answers: randomUUID() } })
  expect((await shown(name)).answer).toBe(null)
  await reports({ slots: { prepared: [], answers: id } })
  const { json } = await asking
  expect(json.probe).toEqual({
    asked_at: expect.any(String),
    by: 'operator-7',
    answer: {
      at: expect.any(String),
      took_ms: expect.any(Number),
      report_number: expect.any(Number),
      devices: 0,
      failed_drivers: ['d2'],
    },
  })
  expect(await shown(name)).toEqual(json.probe)
  await reports({ slots: { prepared: [], answers: id } })
  expect(await shown(name), 'only the first one counts').toEqual(json.probe)
})
test('a host that does not answer in time is told as such, and its answer is shown when it comes', async () => {
  const { name, reports, line } = await hostOf()
  const { json } = await unanswered(name, api.must(202, line))
  expect(json.probe.answer).toBe(null)
  expect(json.last_seen_at).toEqual(expect.any(String))
  await reports({ slots: { prepared: [], answers: questionTo(name)!.id } })
  expect((await shown(name)).answer).toMatchObject({ failed_drivers: ['d2'] })
})
test('a host is asked once in ten seconds, and the refusal says when again', async () => {
  const { name, reports, line } = await hostOf()
  const first = api.say(line)
  const id = await question(name)
  const got = await api.say(line)
  expectRefusal(got, 429)
  expect(got.fault).toMatch(new RegExp(`^host ${name} was asked \\d s ago, and is asked once in 10 s at most$`))
  expect(Number(got.headers.get('retry-after'))).toBeLessThanOrEqual(10)
  expect(plane.questions.filter(({ host }) => host === name)).toHaveLength(1)
  await reports({ slots: { prepared: [], answers: id } })
  expect((await first).status).toBe(200)
})
test('with an Idempotency-Key the host is asked once, and both requests get the answer', async () => {
  const { name, reports, line } = await hostOf()
  const headers = { 'Idempotency-Key': randomUUID() }
  const both = [api.say(line, { headers }), api.say(line, { headers })]
  const id = await question(name)
  await reports({ slots: { prepared: [], answers: id } })
  const answers = await Promise.all(both)
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect((await api.say(line, { headers })).json.probe).toEqual(answers[0]!.json.probe)
  expect(plane.questions.filter(({ host }) => host === name)).toHaveLength(1)
})
test('only administrators ask, and only hosts whose reports are taken', async () => {
  const { name, line } = await hostOf()
  expectRefusal(await speaker(appOf(plane.control), as('member')).say(line), 403)
  expectRefusal(await api.say('POST /v2/hosts/nowhere/probe'), 404)
  await api.must(204, `DELETE /v2/hosts/${name}?reason=sold`)
  const removed = await api.say(line)
  expectRefusal(removed, 409)
  expect(removed.fault).toBe(`host ${name} is not asked, since its reports are not taken`)
  expect(questionTo(name)).toBe(undefined)
})
test('a bus that does not answer is told; the host is not asked', async () => {
  const other = await openPlane({ clock, publish: () => Promise.reject(new Error('no broker')) })
  await other.report('h1', FAILED, randomUUID(), { bootNumber: 1 })
  const got = await speaker(appOf(other.control)).say('POST /v2/hosts/h1/probe')
  expectRefusal(got, 503)
  expect(got.fault).toBe('host h1 cannot be asked, because the bus does not answer: no broker')
  await other.plane.stop()
  await other.store.close()
})
test('the command asks and shows the answer; without one it says since when the host is silent', async () => {
  const { name, reports } = await hostOf()
  const run = (...args: readonly string[]) => commandHere(args, { ACCELERANDO_URL: `${urlOf(served)}/v2` })
  const asking = run('host', 'probe', name)
  await reports({ slots: { prepared: [], answers: await question(name) } })
  const { code, out } = await asking
  expect(code).toBe(0)
  expect(out).toMatch(/answered after \d+ ms by report \d+ with 0 devices, failed: d2/)
  const silent = await hostOf()
  const failed = await unanswered(silent.name, run('host', 'probe', silent.name))
  expect(failed.code).toBe(EXITS.unreached.code)
  expect(failed.err).toContain(`host ${silent.name} has not answered; it was last heard of at `)
})
