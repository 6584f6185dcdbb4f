/**
 * The event behind each step of a timeline: what the stream of events and the bus have, in the API and on the page of
 * the request.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { record } from '../../src/wire/message.ts'
import { lettersOf } from '../../src/actors/reactions.ts'
import { speaker } from '../http/cloud.ts'
import { type Lived, type UiWorld, createConsole, lived, openUiWorld, withTokens } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

type Step = {
  readonly step: string
  readonly event?: { readonly id: string; readonly data: { readonly event: object } } | null
}
const api = (token?: string) => {
  const { control, events, clock } = world
  const parts = { control, events, clock, log: silent, about: () => ({}) }
  const app = createApp({ ...parts, identify: withTokens })
  return speaker(app, { 'X-Auth-Token': token ?? 'token-of-admin' })
}
const stepsOf = async (uuid: string, more = '?events=true', token?: string): Promise<readonly Step[]> =>
  (await api(token).must(200, `GET /v2/accelerator_requests/${uuid}/timeline${more}`)).json.steps
const published = async (): Promise<ReadonlyMap<string, string>> => {
  const rows = await world.store.journal.feed('', 1000)
  return new Map(rows.flatMap(lettersOf).map((letter) => [letter.id, record(letter).value]))
}

test('is byte for byte the one on the bus, and the one of the stream of events', async () => {
  const bus = await published()
  const { json } = await api().must(200, `GET /v2/events?limit=1000`)
  const streamed = new Map(json.events.map(({ event }: { event: { id: string } }) => [event.id, JSON.stringify(event)]))
  for (const { uuid } of [seen.bound, seen.failed, seen.open]) {
    const steps = await stepsOf(uuid)
    expect(steps.length).toBeGreaterThan(1)
    for (const { event, step } of steps) {
      expect(JSON.stringify(event), step).toBe(bus.get(event!.id))
      expect(JSON.stringify(event), step).toBe(streamed.get(event!.id))
    }
  }
})
test('is left out unless it is asked for', async () => {
  for (const more of ['', '?events=false'])
    for (const step of await stepsOf(seen.failed.uuid, more)) expect(step).not.toHaveProperty('event')
})
test('stands on the page of the request, with nothing changed but the space between its words', async () => {
  const html = await (await createConsole(world).request(`/ui/arqs/${seen.failed.uuid}`)).text()
  const main = html.slice(0, html.indexOf('<script type="application/json"'))
  const shown = [...main.matchAll(/<pre>([\s\S]*?)<\/pre>/g)].map(([, text]) =>
    text!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  )
  expect(shown.map((text) => JSON.stringify(JSON.parse(text)))).toEqual(
    (await stepsOf(seen.failed.uuid)).map(({ event }) => JSON.stringify(event)),
  )
})
test('keeps from a project what is not the project to read', async () => {
  const member = 'token-of-member'
  const { json } = await api(member).must(201, 'POST /v2/accelerator_requests', {
    body: { device_profile_name: 'fpga-small' },
  })
  const [{ uuid }] = json.arqs
  const own = await stepsOf(uuid, '?events=true', member)
  const whole = await stepsOf(uuid)
  expect(own.map(({ event }) => event!.id)).toEqual(whole.map(({ event }) => event!.id))
  const { json: told } = await api(member).must(200, 'GET /v2/events?limit=1000')
  expect(told.events.map(({ event }: { event: object }) => JSON.stringify(event))).toEqual(
    own.map(({ event }) => JSON.stringify(event)),
  )
})
test('a step says when its waiting ends: the bind at its deadline', async () => {
  const [, accepted] = (await stepsOf(seen.open.uuid, '')) as readonly {
    step: string
    at: string
    detail: { deadline: string }
  }[]
  expect(accepted!.step).toBe('bind accepted')
  // the row is written just after the bind was given its deadline
  const term = Date.parse(accepted!.detail.deadline) - Date.parse(accepted!.at)
  expect(term).toBeLessThanOrEqual(120_000)
  expect(term).toBeGreaterThan(110_000)
  const html = await (await createConsole(world).request(`/ui/arqs/${seen.open.uuid}`)).text()
  expect(html.replaceAll(/<[^>]+>/g, '')).toMatch(
    /If compute-1 has not answered by \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in \d+ (s|min)\), the bind fails and Nova is told so\./,
  )
})
