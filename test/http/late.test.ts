/** Whatever hangs behind the API, whoever asked has an answer in time. */
import { expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { silent } from '../../src/log.ts'
import { openPlane } from '../support/plane.ts'

const hanging = async () => {
  let [hangs, letGo] = [false, () => {}]
  const beforeCommit = (): Promise<void> =>
    hangs ? new Promise<void>((resolve) => void (letGo = resolve)) : Promise.resolve()
  const world = await openPlane({}, memoryStore({ beforeCommit }))
  const app = createApp({ control: world.control, identify: noauth, log: silent, options: { answerMs: 100 } })
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
  return { world, app, create, hang }
}

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
