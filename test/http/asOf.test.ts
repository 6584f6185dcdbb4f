/** `as_of`: the answers of an earlier moment, as a client asks for them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openPlane } from '../support/plane.ts'
import { createTestApp } from './app.ts'
import { speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

const open = async () => {
  const { control, plane, store } = await openPlane({ options: { sweepEveryMs: 3_600_000 } })
  const close = async () => {
    await plane.stop()
    await store.close()
  }
  return { ...speaker(createTestApp(control)), close }
}
const LATEST = { headers: { 'OpenStack-API-Version': 'accelerator latest' } }
/** A moment that lies after everything that was recorded, and before everything that will be. */
const between = async (): Promise<string> => {
  await sleep(5)
  const at = new Date().toISOString()
  await sleep(5)
  return at
}

test('what is deleted is shown as it was, to whom it was shown then', async () => {
  const { newProfile, arqsOf, must, say, close } = await open()
  const before = await between()
  const profile = await newProfile(3)
  const arqs = await arqsOf(profile)
  const then = await between()
  const one = `GET /v2/accelerator_requests/${arqs[0]!.uuid}`
  const live = (await must(200, one)).json
  const listed = (await must(200, 'GET /v2/accelerator_requests')).json.arqs
  await must(204, `DELETE /v2/accelerator_requests?arqs=${arqs.map(({ uuid }) => uuid).join(',')}`)
  expectRefusal(await say(one), 404)
  expect((await must(200, `${one}?as_of=${then}`)).json).toEqual(live)
  const list = `GET /v2/accelerator_requests?as_of=${then}`
  expect((await must(200, list)).json.arqs).toEqual(listed)
  expect((await must(200, `GET /v2/accelerator_requests?as_of=${before}`)).json.arqs).toEqual([])
  expectRefusal(await say(`${one}?as_of=${before}`), 404)

  const page = (await must(200, `${list}&limit=2`)).json
  expect(page.arqs).toEqual(listed.slice(0, 2))
  const next = new URL(page.arqs_links[0].href)
  expect(next.searchParams.get('as_of')).toBe(then)
  expect((await must(200, `GET /v2/accelerator_requests${next.search}`)).json.arqs).toEqual(listed.slice(2))

  const stranger = { headers: as('member', { 'X-Project-Id': 'other' }) }
  expect((await must(200, list, stranger)).json.arqs).toEqual([])
  expectRefusal(await say(`${one}?as_of=${then}`, stranger), 404)
  expect((await must(200, `GET /v2/device_profiles/${profile}?as_of=${then}`, LATEST)).json.device_profile.name).toBe(
    profile,
  )
  expectRefusal(await say(`GET /v2/device_profiles/${profile}?as_of=${before}`, LATEST), 404)
  const future = `GET /v2/device_profiles?as_of=2999-01-01`
  expect((await must(200, future)).json).toEqual((await must(200, 'GET /v2/device_profiles')).json)
  await close()
})

test('the timeline ends at the moment, also that of a request that is deleted since', async () => {
  const { newProfile, arqsOf, must, say, close } = await open()
  const before = await between()
  const [arq] = await arqsOf(await newProfile(1))
  const then = await between()
  const path = `GET /v2/accelerator_requests/${arq!.uuid}/timeline`
  const live = (await must(200, `${path}?events=true`)).json
  await must(204, `DELETE /v2/accelerator_requests?arqs=${arq!.uuid}`)
  const steps = ({ json }: { readonly json: { readonly steps: readonly { readonly step: string }[] } }) =>
    json.steps.map(({ step }) => step)
  expect(steps(await must(200, path))).toEqual(['created', 'deleted'])
  expect((await must(200, `${path}?events=true&as_of=${then}`)).json).toEqual(live)
  expect(live).toMatchObject({ deleted: false })
  const [, deleted] = (await must(200, path)).json.steps
  expect(steps(await must(200, `${path}?as_of=${deleted.at}`))).toEqual(['created', 'deleted'])
  expectRefusal(await say(`${path}?as_of=${before}`), 404)
  expect(steps(await must(200, `${path}?as_of=2999-01-01`))).toEqual(['created', 'deleted'])
  expectRefusal(await say(`${path}?as_of=${then}`, { headers: as('member', { 'X-Project-Id': 'other' }) }), 404)
  const refused = await say(`${path}?as_of=noon`)
  expectRefusal(refused, 400)
  expect(refused.fault).toContain('as_of: it must be a day or a moment in UTC')
  await close()
})

test.each([
  ['yesterday', 'it must be a day or a moment in UTC'],
  ['2026-02-30', 'it must be a day or a moment in UTC'],
  ['2026-02-03T10:00:00.1234Z', 'it must be a day or a moment in UTC'],
])('%s is refused', async (moment, rule) => {
  const { say, close } = await open()
  for (const path of ['accelerator_requests', 'devices', 'deployables', 'device_profiles', 'hosts', 'hosts/h1']) {
    const got = await say(`GET /v2/${path}?as_of=${moment}`)
    expectRefusal(got, 400)
    expect(got.fault).toContain('as_of')
    expect(got.fault).toContain(rule)
  }
  await close()
})
