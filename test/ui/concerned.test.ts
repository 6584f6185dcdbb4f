/** Whom a change of a device profile would concern is shown before it, and can be checked with what is typed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  SAME,
  type Lived,
  type UiWorld,
  apiOf,
  consoleOf,
  createConsole,
  lived,
  openUiWorld,
  wordsOf,
} from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

type Fields = Readonly<Record<string, string>>
const ui = () => createConsole(world)
const asked = async (place: string): Promise<string> => (await ui().request(`/ui/${place}`)).text()
const sent = async (place: string, fields: Fields) => {
  const answer = await ui().request(`/ui/${place}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: SAME,
  })
  return { status: answer.status, html: await answer.text(), to: answer.headers.get('location') }
}
const CHECK = { check: 'first' }
const versionsOf = async (name: string) => {
  const headers = { 'openstack-api-version': 'accelerator 2.5' }
  const answer = await createConsole(world).request(`/ui/profiles/${name}`, {
    headers: { accept: 'application/json', ...headers },
  })
  return ((await answer.json()) as { body: { versions: unknown } }).body.versions
}
const commandIn = (html: string): string => /name="command" value="([^"]*)"/.exec(html)![1]!

describe('before a change of a device profile', () => {
  test.each(['version', 'disable', 'delete'])('%s: the instances and projects that use it are shown', async (name) => {
    const html = await asked(`profiles/fpga-small/do/${name}`)
    expect(wordsOf(html)).toMatch(/In use: 4.requests of 3.instances in 1.project\. They stay as they are\./)
    expect(html).toContain(`href="instances/${seen.bound.instance}"`)
    expect(wordsOf(html)).toMatch(/Project \S+/)
  })
  test('a deletion that would be refused says so and why, before it is tried', async () => {
    expect(wordsOf(await asked('profiles/fpga-small/do/delete'))).toContain(
      'It would be refused: device profile fpga-small is in use',
    )
  })
  test('a profile that nobody uses says so', async () => {
    await world.newProfile('unused')
    expect(wordsOf(await asked('profiles/unused/do/delete'))).toContain('Nobody uses it at present.')
  })
  test('nothing is asked while a value is missing on which the answer depends', async () => {
    const html = await asked('profiles/new/do/create')
    expect(html).not.toContain('name="check"')
    expect(html).not.toContain('class="concern"')
  })
})

describe('before a host is retired or a device is disabled', () => {
  const places = () => ['hosts/compute-1/do/retire', `devices/${seen.card}/do/disable`]
  test('the projects are named beside the instances', async () => {
    for (const place of places()) {
      const html = await asked(place)
      expect(html).toContain(`href="instances/${seen.bound.instance}"`)
      expect(wordsOf(html)).toMatch(/In use: .* in 1.project\. They stay as they are\. Project \S+ Instance /)
    }
  })
  test('of many, the first twenty of each are named and the others counted', async () => {
    const named = (what: string, number: number) => Array.from({ length: number }, (_, at) => `${what}-${at}`)
    const impact = {
      refusal: null,
      effect: 'kept',
      devices: [],
      instances: named('instance', 33),
      projects: named('project', 21),
      arqs: [{ uuid: 'a' }],
      arqs_left_out: 40,
    }
    const api = apiOf(world)
    const many = consoleOf((request) => (request.url.includes('dry_run=true') ? Response.json(impact) : api(request)))
    for (const place of places()) {
      const words = wordsOf(await (await many.request(`/ui/${place}`)).text())
      expect(words).toMatch(/In use: 41.requests of 33.instances in 21.projects\./)
      expect(words).toMatch(/Project project-19 and 1.more project Instance instance-0 /)
      expect(words).toMatch(/Instance instance-19 and 13.more instances /)
      expect(words).not.toMatch(/Project project-20|Instance instance-20/)
    }
  })
})

describe('what is typed can be checked first', () => {
  const PLACE = 'profiles/fpga-small/do/disable'
  test('and nothing is changed; the form keeps its values and stays the same command', async () => {
    const form = await asked(PLACE)
    const command = commandIn(form)
    const before = await versionsOf('fpga-small')
    const checked = await sent(PLACE, { command, version: '1', reason: '', ...CHECK })
    expect([checked.status, commandIn(checked.html)]).toEqual([200, command])
    expect(checked.html).toMatch(/name="version"[^>]* value="1"/)
    expect(wordsOf(checked.html)).toContain('In use:')
    expect(await versionsOf('fpga-small')).toEqual(before)
  })
  test('a value that the API does not take is named with its rule', async () => {
    const checked = await sent(PLACE, { version: '9', reason: 'old', ...CHECK })
    expect([checked.status, wordsOf(checked.html)]).toEqual([200, expect.stringMatching(/versions\.9.*1 to 1/)])
    const groups = await sent('profiles/fpga-small/do/version', { groups: '[{"resources:FPGA": "no"}]', ...CHECK })
    expect(wordsOf(groups.html)).toContain('resources:FPGA')
    const long = await sent('profiles/fpga-small/do/version', { groups: '[]', description: 'd'.repeat(256), ...CHECK })
    expect(wordsOf(long.html)).toContain('Description: at most 255 characters')
  })
  test('a field that is needed is named when it is empty', async () => {
    expect(wordsOf((await sent(PLACE, { version: '', reason: 'old', ...CHECK })).html)).toContain('Version is needed.')
  })
  test('a version that somebody else has made meanwhile is found by the check', async () => {
    const place = 'profiles/fpga-small/do/version'
    const stale = { if_version: '7', groups: '[{"resources:FPGA": "2"}]', ...CHECK }
    expect(wordsOf((await sent(place, stale)).html)).toContain('It would be refused: device profile fpga-small was')
  })
  test('an action that depends on nothing that is typed is never only checked', async () => {
    const place = `devices/${seen.card}/do/disable`
    expect(await asked(place)).not.toContain('name="check"')
    expect((await sent(place, CHECK)).status).toBe(303)
  })
  test('after the check it is done as it was typed, once', async () => {
    const checked = await sent('profiles/unused/do/disable', { version: '1', reason: 'old', ...CHECK })
    const command = commandIn(checked.html)
    const done = [1, 2].map(() => sent('profiles/unused/do/disable', { command, version: '1', reason: 'old' }))
    expect((await Promise.all(done)).map(({ status }) => status)).toEqual([303, 303])
    expect(await versionsOf('unused')).toMatchObject([{ version: 1, enabled: false }])
  })
})
