/** The page that compares two versions of a device profile. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type UiWorld, apiOf, createConsole, openUiWorld, wordsOf } from './world.ts'

let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld()
  await world.newProfile('many', 'first')
  const api = apiOf(world, { additive: true })
  const headers = { 'content-type': 'application/json', 'openstack-api-version': 'accelerator 2.5' }
  const change = async (body: object) => {
    const request = new Request('http://127.0.0.1/v2/device_profiles/many', {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ ...body, reason: 'as asked' }),
    })
    expect((await api(request)).status).toBe(200)
  }
  await change({ groups: [{ 'resources:FPGA': '2', 'trait:CUSTOM_A': 'required' }, { 'resources:PGPU': '1' }] })
  await change({ groups: [{ 'resources:FPGA': '2' }], description: null, projects: ['p1'] })
  await change({ versions: { 2: false } })
  await world.newProfile('one')
})
afterAll(() => world.close())

const shown = async (place: string) => {
  const answer = await createConsole(world).request(`/ui/${place}`)
  const html = await answer.text()
  return { status: answer.status, html, text: wordsOf(html) }
}
const PLACE = 'profiles/many/versions'

test('shows the last two unless the address names others, and what is not of a version', async () => {
  const { status, text, html } = await shown(PLACE)
  expect(status).toBe(200)
  expect(text).toMatch(/Before version 2, disabled .* After version 3, enabled/)
  expect(text).toMatch(/Name many Who may use it p1 · of all its versions/)
  expect(text).toMatch(/Group 1, removed .* removed Resource resources:PGPU 1 –/)
  expect(text).toMatch(/removed Trait trait:CUSTOM_A required –/)
  expect(text).toMatch(/Description .* removed Field description first –/)
  expect(text).toMatch(/3.parts differ, 1.part is the same\./)
  expect(html).toContain('accelerando profile diff many 2 3')
})
test('in the direction that the address says', async () => {
  const { text } = await shown(`${PLACE}?from=3&to=1`)
  expect(text).toMatch(/changed Resource resources:FPGA 2 1/)
  expect(text).toMatch(/added Field description – first/)
})
test('has a choice of all versions, with those that are shown', async () => {
  const { html } = await shown(`${PLACE}?from=1&to=2`)
  const chosen = [...html.matchAll(/<select name="(\w+)">(.*?)<\/select>/gs)].map(([, name, options]) => [
    name,
    [...options!.matchAll(/value="(\d)"/g)].map(([, value]) => value),
    /<option[^>]*selected[^>]*>(\d)/.exec(options!)?.[1],
  ])
  expect(chosen).toEqual([
    ['from', ['1', '2', '3'], '1'],
    ['to', ['1', '2', '3'], '2'],
  ])
})
test('says of a number that is none which one it is, and of which there are', async () => {
  const missing = await shown(`${PLACE}?from=9`)
  expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('from: there is no version 9')])
  expect((await shown(`${PLACE}?to=x`)).text).toContain('to: it must be the number of a version (is x)')
  expect((await shown('profiles/nobody/versions')).status).toBe(404)
})
test('says so where there is one version', async () => {
  expect((await shown('profiles/one/versions')).text).toContain(
    'Both ask for the same The profile has only one version',
  )
})
test('is linked from each version of the profile', async () => {
  const { html } = await shown('profiles/many')
  expect(html).toContain('href="profiles/many/versions"')
  expect(html).toContain('href="profiles/many/versions?from=2&amp;to=3"')
  expect(html).not.toContain('from=0')
  expect((await shown('profiles/one')).html).not.toContain('profiles/one/versions')
})
test('a profile with a name that is no word of an address is compared, too', async () => {
  const answer = await createConsole(world).request('/ui/profiles/a%2Fb%3F/versions')
  expect(answer.status).toBe(404)
  expect(await answer.text()).toContain('href="profiles/a%2Fb%3F"')
})
