/** Telling Nova once more, over HTTP and with the command. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { commandHere } from '../support/commandHere.ts'
import { bindBody, openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal, service } from './steps.ts'

let shop: Awaited<ReturnType<typeof openWorkshop>>
let served: Listening
/** What Nova was asked to take; it takes nothing. */
const asked: (readonly string[])[] = []
const nova = {
  notify: async (events: readonly { readonly tag: string }[]) => {
    asked.push(events.map(({ tag }) => tag))
    return events.map(({ tag }) => ({ tag, outcome: 'refused' as const, code: 400, note: 'as told' }))
  },
}
beforeAll(async () => {
  shop = await openWorkshop({ parts: { nova }, hostWork: false })
  served = await listen(shop.app, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await served.close(0)
  await shop.close()
})
const BECAUSE = { body: { reason: 'Nova was restored' } }
const novaAsked = (arqs: readonly { readonly uuid: string }[], times: number) =>
  expect.poll(() => asked.flat().filter((tag) => tag === arqs[0]!.uuid).length).toBe(times)
const refusedAt = (arq: { readonly uuid: string }) =>
  expect
    .poll(
      async () => (await shop.must(200, `GET /v2/accelerator_requests/${arq.uuid}/timeline`)).json.steps.at(-1).step,
    )
    .toBe('nova told: refused')

test('an event that Nova has refused is sent again, and who asked for it stands in the timeline', async () => {
  const { arqs, instance } = await shop.bound(1)
  await novaAsked(arqs, 1)
  await refusedAt(arqs[0]!)
  const { json } = await shop.must(202, `POST /v2/deliveries/${instance}/resend`, BECAUSE)
  expect(json).toMatchObject({ instance_uuid: instance, statuses: { [arqs[0]!.uuid]: 'completed' }, attempts: 0 })
  expect(Date.parse(json.until)).toBeGreaterThan(Date.parse(json.next_at))
  await novaAsked(arqs, 2)
  const { steps } = (await shop.must(200, `GET /v2/accelerator_requests/${arqs[0]!.uuid}/timeline`)).json
  expect(steps.map(({ step }: { step: string }) => step)).toContain('nova to be told once more')
})
test('its project reads that somebody asked for it, and not who', async () => {
  const OWNER = { 'X-User-Id': 'owner', 'X-Project-Id': 'p1' }
  const owner = speaker(shop.app, as('member', OWNER))
  const profile = await shop.newProfile()
  const [arq] = await owner.arqsOf(profile)
  const instance = randomUUID()
  await owner.must(202, 'PATCH /v2/accelerator_requests', {
    body: bindBody([arq!], shop.fpga.rp_uuid, instance),
    headers: service,
  })
  await novaAsked([arq!], 1)
  await refusedAt(arq!)
  const headers = as('admin', { 'X-User-Id': 'operator-7' })
  await shop.must(202, `POST /v2/deliveries/${instance}/resend`, { ...BECAUSE, headers })
  await novaAsked([arq!], 2)
  const timeline = `GET /v2/accelerator_requests/${arq!.uuid}/timeline?events=true`
  const { json, text } = await owner.must(200, timeline)
  const step = json.steps.find((each: { step: string }) => each.step === 'nova to be told once more')
  expect(step).toMatchObject({ cause: 'another user', event: { data: { cause: { by: 'another user' } } } })
  expect(text).not.toContain('operator-7')
})
test('what Nova has refused is listed with its answer, and counted, until Nova is told once more', async () => {
  const { arqs, instance } = await shop.bound(1)
  await refusedAt(arqs[0]!)
  const listed = async () => (await shop.must(200, 'GET /v2/deliveries?state=undelivered')).json.deliveries
  const mine = (await listed()).find((each: { instance_uuid: string }) => each.instance_uuid === instance)
  expect(mine).toMatchObject({
    state: 'undelivered',
    statuses: { [arqs[0]!.uuid]: 'completed' },
    attempts: 1,
    next_at: null,
    answers: { [arqs[0]!.uuid]: '400 as told' },
  })
  const counted = async () => (await shop.must(200, 'GET /v2/overview')).json.deliveries.undelivered
  await expect.poll(counted, { timeout: 20_000 }).toBe((await listed()).length)
  expect((await shop.must(200, 'GET /v2/deliveries')).json.deliveries).toEqual([])
  await shop.leave(instance)
  expect((await listed()).map((each: { instance_uuid: string }) => each.instance_uuid)).not.toContain(instance)
  expectRefusal(await shop.say('GET /v2/deliveries?state=lost'), 400)
})
test('only administrators do it, with a reason, for an instance that has something to tell', async () => {
  const { instance } = await shop.bound(1)
  const line = `POST /v2/deliveries/${instance}/resend`
  expectRefusal(await speaker(shop.app, as('member')).say(line, BECAUSE), 403)
  expectRefusal(await shop.say(line, { body: {} }), 400)
  expectRefusal(await shop.say('POST /v2/deliveries/nonsense/resend', BECAUSE), 400)
  const nobody = await shop.say(`POST /v2/deliveries/${randomUUID()}/resend`, BECAUSE)
  expectRefusal(nobody, 404)
  expect(nobody.fault).toMatch(/^The instance .* could not be found\.$/)
})
test('the command asks for it', async () => {
  const { arqs, instance } = await shop.bound(1)
  await novaAsked(arqs, 1)
  const run = (...args: readonly string[]) => commandHere(args, { ACCELERANDO_URL: `${urlOf(served)}/v2` })
  const { code, out } = await run('delivery', 'resend', instance, '--reason', 'Nova was restored')
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`^instance +${instance}$`, 'm'))
  await novaAsked(arqs, 2)
  await refusedAt(arqs[0]!)
  const list = await run('delivery', 'list', '--state', 'undelivered', '-f', 'json')
  expect(list.code).toBe(0)
  expect(JSON.parse(list.out)).toContainEqual(
    expect.objectContaining({ instance_uuid: instance, state: 'undelivered' }),
  )
  const missing = await run('delivery', 'resend', randomUUID(), '--reason', 'x')
  expect(missing).toMatchObject({ code: EXITS.notFound.code, out: '' })
})
