/**
 * Five pages as they are, so that a change of how pages look is seen in a review: run this with `--update` where it is
 * meant. What pages say is tested beside this.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { handClock } from '../support/lab.ts'
import { mainOf, noAssets } from './drawing.ts'
import { type Lived, type UiWorld, createConsole, lived, openUiWorld } from './world.ts'

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
/** Events end in a digest of what is random in them; before a grave action the beginning of an identifier is typed. */
const RANDOM = /(?<=\d-\d{1,4}-)[0-9a-f]{12}(?![0-9a-f-])|(?<=<span>Type )[0-9a-f]{8}(?= to confirm)/g
/** Identifiers that are made at random, in the order in which they are met. */
const named = (text: string): string => {
  const names = new Map<string, string>()
  const nameOf = (uuid: string) => names.get(uuid) ?? names.set(uuid, `<uuid ${names.size + 1}>`).get(uuid)!
  return text.replaceAll(UUID, nameOf).replaceAll(RANDOM, '<random>')
}
/** A line for each part of a page. */
const lines = (html: string): string =>
  html.replaceAll(
    /(?<=>)(?=<(?:\/?(?:main|section|div|ul|table|form|dl|header|nav|body)|tr|li|p|h\d|dt|label)\b)/g,
    '\n',
  )

test.each<[string, () => string]>([
  ['overview', () => ''],
  ['request', () => `arqs/${seen.failed.uuid}`],
  ['host', () => 'hosts/compute-1'],
  ['device', () => `devices/${seen.card}`],
  ['question', () => `arqs/${seen.bound.uuid}/do/force-unbind`],
])('the page of the %s', async (name, place) => {
  const answer = await createConsole(world, { assets: noAssets }).request(`/ui/${place()}`)
  const html = await answer.text()
  // of one of them the frame, too
  const page = name === 'overview' ? html.replace(/<script type="application\/json"[^]*?<\/script>/, '') : mainOf(html)
  await expect(named(lines(page))).toMatchFileSnapshot(`recorded/${name}.html.txt`)
})
