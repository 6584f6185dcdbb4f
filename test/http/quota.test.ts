/** The limits of accelerator requests, as a client of the API meets them. */
import { expect, test } from 'vitest'
import { openPlane } from '../support/plane.ts'
import { createTestApp } from './app.ts'
import { speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

const open = async (options: object) => {
  const { control, plane, store } = await openPlane({ options: { sweepEveryMs: 3_600_000, ...options } })
  const close = async () => {
    await plane.stop()
    await store.close()
  }
  return { plane, ...speaker(createTestApp(control)), close }
}

test('a creation beyond the quota of the project is 403 and names the limit; what is deleted makes room', async () => {
  const { newProfile, arqsOf, must, say, close } = await open({ arqsPerProject: 3 })
  const [one, two] = [await newProfile(1), await newProfile(2)]
  const [first] = await arqsOf(one)
  await arqsOf(two)
  for (const profile of [one, two]) {
    const got = await say('POST /v2/accelerator_requests', { body: { device_profile_name: profile } })
    expectRefusal(got, 403)
    expect(got.fault).toMatch(
      /^The quota of the project is 3 accelerator requests \(quota\.arqs_per_project\); it has 3, and [12] more were asked for\.$/,
    )
  }
  const other = { body: { device_profile_name: two }, headers: as('member', { 'X-Project-Id': 'other' }) }
  await must(201, 'POST /v2/accelerator_requests', other)
  await must(204, `DELETE /v2/accelerator_requests/${first!.uuid}`)
  await arqsOf(one)
  await close()
})

test('a request that nobody binds in time is gone', async () => {
  const { plane, newArqs, must, say, close } = await open({ unboundTtlMs: 1 })
  const [arq] = await newArqs()
  await expect
    .poll(async () => {
      await plane.sweeper.round()
      return (await must(200, 'GET /v2/accelerator_requests')).json.arqs
    })
    .toEqual([])
  expectRefusal(await say(`GET /v2/accelerator_requests/${arq!.uuid}`), 404)
  await close()
})
