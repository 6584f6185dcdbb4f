/** Why a card that is divided into parts does not fit: what its parts have counts as its own. */
import { expect, test } from 'vitest'
import type { Deployable } from '../../src/actors/deployable/state.ts'
import { type HostFacts, judgeHost } from '../../src/actors/explain/host.ts'
import { summarised } from '../../src/actors/explain/summary.ts'
import { findWay } from '../../src/actors/explain/together.ts'
import { type Fact, granted } from '../audit/cases/scene.ts'
import { FPGA, UP, asks, board, factsOf, obstacles, standing } from './explained.ts'

const tree = { parentUuid: 'uuid a', parentId: 2, rootUuid: 'uuid a', rootId: 2 }
/** A part of the card `a`, with two handles. */
const part = (name: string, more: object = {}, ...facts: readonly Fact[]): Deployable => ({
  ...board(name, { attributes: [], ...more }, ...facts),
  rpUuid: 'rp a',
  tree,
})
const root = (more: object = {}, ...facts: readonly Fact[]) =>
  board('a', { handles: [], nodes: 1, numAccelerators: 2, ...more }, ...facts)
const cardOf = (card: Deployable, below: readonly Deployable[], more: Partial<HostFacts> = {}): HostFacts => ({
  ...factsOf([], more),
  devices: [{ root: card, below }],
})
const found = (facts: HostFacts, asked = asks(FPGA)) => judgeHost([asked], facts).all[0]![0]!.obstacles
const CAN = 'attach handles that are asked for can be granted; it has'
const used = [granted('v-1', 'b1'), granted('v-2', 'b2')]

test('handles of its parts are counted, and given', () => {
  expect(found(cardOf(root(), [part('v')]), asks(FPGA, ['x1', 'x2']))).toEqual([])
  expect(
    found(cardOf(root(), [part('v', {}, ...used), part('w', {}, granted('w-1', 'b3'))]), asks(FPGA, ['x1', 'x2'])),
  ).toEqual(obstacles(['no_free_handle', `1 of the 2 ${CAN}: 1 free, 3 held`, 'bind']))
})
test('its parts are judged as if they were in order where the whole card is not', () => {
  const off: Fact = { type: 'StatusSet', status: 'maintaining' }
  const gone: Fact = { type: 'PresenceSet', presence: 'missing' }
  expect(found(cardOf(root({}, off), [part('v', {}, off)]))).toEqual(
    obstacles(['device_disabled', 'its device is in maintenance', 'bind']),
  )
  expect(found(cardOf(root({}, gone), [part('v', {}, gone)]))).toEqual(
    obstacles(['device_missing', 'its device is missing', 'bind']),
  )
  // a part that its host shows no more gives nothing, also when the maintenance is over
  expect(found(cardOf(root({}, off), [part('v', {}, off, gone)])).map(({ code }) => code)).toEqual([
    'device_disabled',
    'no_free_handle',
  ])
})
test('units that are left in Placement are fewer by those that its parts gave', () => {
  const two = asks({ 'resources:FPGA': '2' })
  expect(found(cardOf(root(), [part('v', {}, granted('v-1', 'b1'))], { placement: standing('in_sync') }), two)).toEqual(
    obstacles(['placement_capacity', '1 of its 2 units are left in Placement, the group asks for 2', 'placement']),
  )
})
test('the host has to be heard from, and more so for a part that needs it', () => {
  const silent = { host: { ...UP, liveness: 'stale' as const } }
  const parts = [part('v'), part('w', { hostWork: true })]
  expect(found(cardOf(root(), parts, silent))).toEqual(
    obstacles(['host_silent', 'its host was not heard from, and has work to do at a bind', 'work']),
  )
  expect(found(cardOf(root(), parts.slice(0, 1), silent))).toEqual(
    obstacles([
      'host_silent',
      'its host was not heard from, and nobody knows whether the device is still there',
      'work',
    ]),
  )
})
test('another image is not loaded into it, and is said once', () => {
  const asked = asks(FPGA, ['x1'], { bitstream: 'other' })
  const divided =
    'the image that it holds gave it functions of their own, so no bind replaces it: an operator has to program it'
  expect(found(cardOf(root(), [part('v')]), asked)).toEqual(obstacles(['divided', divided, 'bind']))
})
test('the types of the handles of its parts are those that a server is given', () => {
  const handles = [{ uuid: 'v-1', type: 'MDEV', canonical: 'v' }]
  expect(judgeHost([asks(FPGA)], cardOf(root(), [part('v', { handles })])).attaches).toEqual([new Set(['MDEV'])])
})
test('two groups share it as far as its parts reach', () => {
  const groups = (...second: readonly string[]) => [asks(FPGA, ['x1']), asks(FPGA, [...second])]
  const fits = (asked: ReturnType<typeof groups>) => judgeHost(asked, cardOf(root(), [part('v')])).shown.fits
  expect([fits(groups('y1')), fits(groups('y1', 'y2'))]).toEqual([true, false])
})

test('a device that fits only by itself is the nearest one, with what stands in the way of its host', () => {
  const asked = [asks(FPGA, ['x1', 'x2']), asks(FPGA, ['y1'])]
  const host = judgeHost(asked, factsOf([board('a')]))
  const together = obstacles(['not_together', 'each group fits alone, all together do not', 'bind'])
  expect(
    summarised(asked, [host], 'asked', 1).groups.map(({ devices, removed, nearest }) => [devices, removed, nearest]),
  ).toEqual([0, 1].map(() => [1, {}, { host: 'h1', deployable: 'uuid a', name: 'a', obstacles: together }]))
})

test('a way is looked for over two thousand steps, and no longer', () => {
  let looks = 0
  const question = { groups: 1, devices: 5000, takes: () => 0, room: () => 1, accepted: () => true }
  expect(findWay({ ...question, allowed: () => (looks++, false) })).toBe(null)
  expect(looks).toBe(2001)
  expect(findWay({ ...question, allowed: (_, device) => device === 2000 })).toEqual([2000])
  expect(findWay({ ...question, allowed: (_, device) => device === 2001 })).toBe(null)
})
