/** Whatever hangs behind the API, whoever asked has an answer in time. */
import { expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openPlane } from '../support/plane.ts'
import { randomUUID } from 'node:crypto'
import { type Arq, bindBody, speaker, unbindBody } from './cloud.ts'
import { type Got, service } from './steps.ts'

const hanging = async () => {
  let [hangs, letGo] = [false, () => {}]
  const beforeCommit = (): Promise<void> =>
    hangs ? new Promise<void>((resolve) => void (letGo = resolve)) : Promise.resolve()
  const world = await openPlane({}, memoryStore({ beforeCommit }))
  const app = createApp({ control: world.control, identify: noauth, log: silent, options: { answerMs: 400 } })
  const create = (name: string) =>
    app.request('/v2/device_profiles', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ name, groups: [{ 'resources:FPGA': '1' }] }]),
    })
  const hang = (on: boolean): void => {
    hangs = on
    letGo()
  }
  /** Calls while the store hangs: 503. Then the store writes after all what was sent to it. */
  const late = async (call: () => Promise<Got>): Promise<void> => {
    hang(true)
    const got = await call()
    expect(got.status, got.text).toBe(503)
    const written = new Promise<void>((resolve) => {
      const stop = world.store.journal.onAppended(() => (stop(), resolve()))
    })
    hang(false)
    await written
  }
  return { world, app, create, hang, late }
}

test('only requests that wait for hardware or for another service may take longer than others', () => {
  const waiting = ROUTES.filter(({ waits }) => waits).map(({ method, path }) => `${method} ${path}`)
  expect(waiting).toEqual([
    'PATCH /v2/deployables/:uuid',
    'PATCH /v2/deployables/:uuid/program',
    'PATCH /v2/deployables/:uuid/program/:again',
    'GET /v2/drift',
    'POST /v2/drift/heal',
    'POST /v2/drift/ignored',
    'GET /v2/orphans',
    'POST /v2/orphans/collect',
    'POST /v2/profile_checks',
    'POST /v2/device_profiles/:id/check',
    'GET /v2/usage',
    'GET /v2/programs/:uuid',
    'GET /v2/system/support_bundle',
  ])
})

test('a request that takes too long is answered 503, goes on, and is found when asked for again', async () => {
  const { world, app, create, hang } = await hanging()
  expect((await create('first')).status).toBe(201)
  hang(true)
  const late = await create('second')
  expect(late.status).toBe(503)
  expect(late.headers.get('retry-after')).toBe('1')
  expect(await late.text()).toContain('it may have been carried out all the same')
  hang(false)
  const headers = { 'openstack-api-version': 'accelerator 2.2' }
  await expect.poll(async () => (await app.request('/v2/device_profiles/second', { headers })).status).toBe(200)
  expect((await create('second')).status).toBe(409)
  await world.plane.stop()
})

test('a request that was written after its 503 may be repeated: nothing is lost, and no handle is held twice', async () => {
  const { world, app, late } = await hanging()
  await world.shows('node-7', { seed: 1, devices: [{ kind: 'fpga', handles: 4, hostWork: false }] })
  const nova = speaker(app, service)
  const { deployables } = (await nova.must(200, 'GET /v2/deployables')).json
  const profile = await nova.newProfile()
  const all = async () => (await nova.must(200, 'GET /v2/accelerator_requests')).json.arqs as readonly Arq[]
  const held = async () =>
    (await nova.must(200, 'GET /v2/handles')).json.handles.filter(({ state }: Arq) => state === 'held').length
  const create = () => nova.say('POST /v2/accelerator_requests', { body: { device_profile_name: profile } })

  // a creation: there is a second request; the first is listed, holds nothing, and can be deleted
  await late(create)
  const second = await create()
  expect(second.status).toBe(201)
  const [one] = second.json.arqs as readonly Arq[]
  const others = (await all()).filter(({ uuid }) => uuid !== one!.uuid)
  expect(others).toMatchObject([{ state: 'Initial' }])
  await nova.must(204, `DELETE /v2/accelerator_requests?arqs=${others[0]!.uuid}`)

  // a bind: the repeat changes nothing
  const instance = randomUUID()
  const bind = (body: object) => nova.say('PATCH /v2/accelerator_requests', { body })
  await late(() => bind(bindBody([one!], deployables[0].rp_uuid, instance)))
  const bound = await nova.arq(one!.uuid)
  expect([bound.state, await held()]).toEqual(['Bound', 1])
  expect((await bind(bindBody([one!], deployables[0].rp_uuid, instance))).status).toBe(202)
  expect([await nova.arq(one!.uuid), await held()]).toEqual([bound, 1])

  // an unbind, then a bind again and the deletion by its instance
  await late(() => bind(unbindBody([one!])))
  expect((await bind(unbindBody([one!]))).status).toBe(202)
  expect([(await nova.arq(one!.uuid)).state, await held()]).toEqual(['Unbound', 0])
  expect((await bind(bindBody([one!], deployables[0].rp_uuid, instance))).status).toBe(202)
  await late(() => nova.say(`DELETE /v2/accelerator_requests?instance=${instance}`))
  await nova.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`)
  expect([await all(), await held()]).toEqual([[], 0])

  // a deletion by ids
  const [last] = (await create()).json.arqs as readonly Arq[]
  await late(() => nova.say(`DELETE /v2/accelerator_requests?arqs=${last!.uuid}`))
  const again = await nova.must(404, `DELETE /v2/accelerator_requests?arqs=${last!.uuid}`)
  expect(again.text).toContain(last!.uuid)
  await world.plane.stop()
})
