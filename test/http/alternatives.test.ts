/**
 * Profiles that are stored with alternatives, as former versions and imports left them: they are used as before, and
 * nobody can make another one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NOVA, value } from '../support/plane.ts'
import { type Cloud, freshName, openCloud } from './cloud.ts'
import { expectRefusal, version } from './steps.ts'

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud({ additiveMicroversion: true })))
afterAll(() => cloud.close())

const KEY = { 'accel:any_of': 'CUSTOM_FPGA_INTEL,CUSTOM_FPGA_XILINX' }
const GROUP = { 'resources:FPGA': '1', 'trait:CUSTOM_OLD_NAME': 'forbidden', ...KEY }
/** As it was stored before alternatives were refused. */
const stored = async (): Promise<string> => {
  const name = freshName()
  value(await cloud.control.profiles.create(NOVA, { name, description: null, groups: [GROUP] }))
  return name
}

test('it is shown in the list, by its name as Nova asks for it, and by its UUID', async () => {
  const name = await stored()
  const [shown] = (await cloud.must(200, `GET /v2/device_profiles?name=${name}`)).json.device_profiles
  expect(shown.groups).toEqual([GROUP])
  expect((await cloud.must(200, 'GET /v2/device_profiles')).json.device_profiles).toContainEqual(shown)
  expect((await cloud.must(200, `GET /v2/device_profiles/${shown.uuid}`)).json.device_profile).toEqual(shown)
})
test('requests are made from it and bound', async () => {
  const arqs = await cloud.arqsOf(await stored())
  const instance = '5d1d5a52-0d3e-4a9b-8f5c-6f5c1a0f1a11'
  expect((await cloud.bind(arqs, instance)).status).toBe(202)
  expect(await cloud.arq(arqs[0]!.uuid)).toMatchObject({ state: 'Bound' })
  await cloud.leave(instance)
})
test('the check of it warns that the key is not read', async () => {
  const answer = (await cloud.must(200, `POST /v2/device_profiles/${await stored()}/check`)).json
  expect(answer).toMatchObject({
    fits: true,
    warnings: [{ code: 'alternatives_not_read', group: 0, reason: expect.stringContaining('accel:any_of') }],
  })
})
test('its other names can be changed', async () => {
  const name = await stored()
  const body = { traits: { CUSTOM_OLD_NAME: 'CUSTOM_NEW_NAME' }, apply: true, reason: 'release 2' }
  await cloud.must(200, 'POST /v2/profile_migrations', { body })
  const [{ groups }] = (await cloud.must(200, `GET /v2/device_profiles?name=${name}`)).json.device_profiles
  expect(groups).toEqual([{ 'resources:FPGA': '1', 'trait:CUSTOM_NEW_NAME': 'forbidden', ...KEY }])
})
test('a new version with alternatives, and a draft with them, are refused, and a version without is taken', async () => {
  const name = await stored()
  const sent = (groups: object) => ({ body: { groups: [groups], reason: 'tidy' }, headers: version('2.5') })
  const change = `PATCH /v2/device_profiles/${name}`
  for (const refusal of [
    await cloud.say(change, sent(GROUP)),
    await cloud.say('POST /v2/profile_checks', { body: { groups: [GROUP] } }),
  ]) {
    expectRefusal(refusal, 400)
    expect(refusal.fault).toMatch(
      /^Invalid groups\[0\]\.accel:any_of: a device profile cannot hold alternatives, because Nova/,
    )
  }
  await cloud.must(200, change, sent({ 'resources:FPGA': '1' }))
})
