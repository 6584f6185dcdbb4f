/** Every page, and every question before something is done, to the letter: `-u` where a change is meant. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACTIONS } from '../../src/ui/actions.ts'
import { keysDuring, lines, mainOf, noAssets } from './drawing.ts'
import { handClock } from '../support/lab.ts'
import { ASTRAY, type Lived, type UiWorld, createConsole, lived, openUiWorld, placesOf } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  const clock = handClock()
  world = await openUiWorld({ clock, pass: clock.pass })
  seen = await lived(world)
  await clock.pass(2500)
})
afterAll(() => world.close())

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Events end in a digest of what is random in them, and long facts may be cut within an identifier. */
const DIGEST = /(?<=\d-\d{1,4}-)[0-9a-f]{12}(?![0-9a-f-])/g
const CUT = /[0-9a-f-]* …/g
/** What has to be typed before a grave action is the beginning of an identifier. */
const TYPED = /(?<=<span>Type )[0-9a-f]{8}(?= to confirm)/g
/** Identifiers that are made at random, in the order in which they are met. */
const named = () => {
  const names = new Map<string, string>()
  const nameOf = (uuid: string) => names.get(uuid) ?? names.set(uuid, `<uuid ${names.size + 1}>`).get(uuid)!
  return (text: string): string =>
    text.replaceAll(UUID, nameOf).replaceAll(DIGEST, '<digest>').replaceAll(CUT, ' …').replaceAll(TYPED, '<typed>')
}
type Ui = ReturnType<typeof createConsole>
const drawn = async (ui: Ui, places: readonly string[], headers: Readonly<Record<string, string>> = {}) => {
  const name = named()
  let text = ''
  for (const place of places) {
    const answer = await ui.request(`/ui/${place}`, { headers })
    const html = await answer.text()
    const title = /<title>.*<\/title>/.exec(html)?.[0]
    text += name(`### ${place} ${answer.status} ${title}\n${mainOf(html)}\n\n`)
  }
  return text
}

/** An instance that has no accelerator request. */
const UNUSED = '00000000-0000-4000-8000-000000000000'

describe('to the letter', () => {
  test('what an administrator sees', async () => {
    const ui = createConsole(world, { assets: noAssets })
    await expect(await drawn(ui, [...placesOf(seen), ...ASTRAY])).toMatchFileSnapshot('golden/pages.txt')
    await expect(named()(lines(await (await ui.request('/ui/')).text()))).toMatchFileSnapshot('golden/document.txt')
  })
  test('what is asked before something is done', async () => {
    const ids: Readonly<Record<string, readonly string[]>> = {
      devices: [seen.device, seen.card],
      handles: [seen.handle],
      hosts: ['compute-1', 'compute-2'],
      arqs: [seen.bound.uuid, seen.failed.uuid],
      profiles: ['fpga-small'],
      drift: ['compute-1'],
      letters: [seen.letter],
      differences: [`${UNUSED}.compute-1`],
      ignored: [UNUSED],
      programs: [UNUSED],
      instances: [seen.bound.instance, seen.open.instance, UNUSED],
    }
    const places = (chosen: (kind: string) => boolean) =>
      ACTIONS.filter(({ kind }) => chosen(kind)).flatMap(({ kind, name }) =>
        ids[kind]!.map((id) => `${kind}/${id}/do/${name}`),
      )
    const ui = createConsole(world, { assets: noAssets })
    // apart, with names of their own: a device lists its instances in the order of identifiers that are made at random
    const ofInstances = (kind: string) => kind === 'instances'
    const [others, instances] = [places((kind) => !ofInstances(kind)), places(ofInstances)]
    const text = (await drawn(ui, others)) + (await drawn(ui, instances))
    await expect(text).toMatchFileSnapshot('golden/questions.txt')
  })
  test('the keys of entries that are drawn, of which no two in one list are the same', async () => {
    const ui = createConsole(world, { assets: noAssets })
    const places = [...placesOf(seen), 'profiles/fpga-small/versions']
    const text = await keysDuring(places, async (place) => ui.request(`/ui/${place}`))
    await expect(named()(text)).toMatchFileSnapshot('golden/keys.txt')
  })
  test('what a member sees', async () => {
    const headers = { cookie: 'accelerando-token=token-of-member' }
    const text = await drawn(createConsole(world, { tokens: true, assets: noAssets }), placesOf(seen), headers)
    await expect(text).toMatchFileSnapshot('golden/member.txt')
  })
})
