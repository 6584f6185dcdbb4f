/** A slot has the hardware of its card (FENCE-6, WHERE): also when another card has its place, and after a restart. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Card, cardOf } from '../../src/vocabulary/card.ts'
import type { Host } from '../../src/host/host.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { ledgerAnswerRecord } from '../../src/wire/message.ts'
import type { LedgerAnswer, Order } from '../../src/wire/orders.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'
import { type MovingCards, type Places, movingCards } from '../support/movingCards.ts'

const [OTHER_SLOT, ARQ] = ['b0a79999-0000-4000-8000-00000000000b', 'b0a79999-0000-4000-8000-0000000000a1']
const [A, B] = [0, 1]

let lab: HostLab
let cards: MovingCards
let host: Host
const boot = async (disk = lab.disk) => {
  host = await lab.boot({ drivers: [cards.around(lab.driver)], disk })
}
/** What the journal holds prepared, for a host with a new ledger. */
const answer = async (...slots: LedgerAnswer['slots']) => {
  const message: LedgerAnswer = { type: 'LedgerAnswer', host: 'h1', bootId: host.bootId, slots, last: true }
  await lab.bus.publish([ledgerAnswerRecord(message, host.bootId, lab.clock.now())])
  await quiet(40)
}
beforeEach(async () => {
  lab = await openHostLab()
  cards = movingCards(lab.devices)
  await boot()
  await answer()
})
const plug = async (places: Places, how: 'while it runs' | 'while it is down') => {
  if (how === 'while it is down') await lab.kill(host)
  cards.plug(places)
  if (how === 'while it is down') await boot()
  else await host.reportNow()
  await quiet(40)
}
/** For a card where it is plugged in, as a control orders that knows it. */
const order = (type: 'PrepareSlot' | 'ReleaseSlot', number: number, card: number, place = card, more: object = {}) => {
  const at = lab.order(type, number, { device: place, ...more })
  const { slot, deployableUuid } = lab.order(type, number, { device: card, ...more })
  return { ...at, slot, deployableUuid, card: cardOf(lab.devices[card]!) } as Order
}
const second = (card: number, place = card) =>
  ({ ...order('PrepareSlot', 1, card, place), slot: OTHER_SLOT, arq: ARQ }) as Order
const last = () => lab.results().at(-1)!.result
const slotOf = (card: number) => order('PrepareSlot', 1, card).slot
/** What the hardware of each card holds, whatever the host believes. */
const prepared = async () =>
  new Map(
    Object.entries((await lab.effects()).prepared).map(([slot, held]) => [
      slot,
      lab.devices.findIndex((one) => one.deployables[0]!.name === held.deployable),
    ]),
  )
const told = () =>
  lab
    .inventories()
    .at(-1)!
    .slots!.prepared.map(({ slot, function: where }) => [slot, where])
const functionOf = (place: number) => {
  const { info } = lab.devices[place]!.deployables[0]!.handles[0]!
  return `${info['domain']}:${info['bus']}:${info['device']}.${info['function']}`
}

describe.each(['while it runs', 'while it is down'] as const)('a card that has a slot and is moved %s', (how) => {
  beforeEach(() => lab.send(order('PrepareSlot', 1, A)))

  test('leaves its place to another card, which is bound there; its own release does not touch that one', async () => {
    await plug([null, A, 2], how)
    await lab.send(order('PrepareSlot', 1, B, A))
    expect(last()).toEqual({ status: 'done' })
    await lab.send(order('ReleaseSlot', 2, A))
    expect(last()).toMatchObject({ status: 'failed', final: false, reason: expect.stringContaining('another card') })
    expect(await prepared()).toEqual(
      new Map([
        [slotOf(A), A],
        [slotOf(B), B],
      ]),
    )
  })
  test('is released where it comes back, and only it', async () => {
    await plug([null, A, 2], how)
    await lab.send(order('PrepareSlot', 1, B, A), order('ReleaseSlot', 2, A))
    await plug([B, A, 2], how)
    await lab.send(order('ReleaseSlot', 3, A, B))
    expect(last()).toEqual({ status: 'done' })
    expect(await prepared()).toEqual(new Map([[slotOf(B), B]]))
  })
  test('keeps its function for its slot where it is now, and in its former place nothing', async () => {
    await plug([B, A, 2], how)
    await lab.send(second(A, B))
    expect(last()).toMatchObject({ status: 'failed', reason: expect.stringContaining(`slot ${slotOf(A)}`) })
    await lab.send(second(B, A))
    expect(await prepared()).toEqual(new Map([[slotOf(A), A]]))
    await lab.send({ ...second(B, A), slot: slotOf(B) } as Order)
    expect(last()).toEqual({ status: 'done' })
  })
  test('is told at the address at which it is, and as away while it is nowhere', async () => {
    await plug([B, A, 2], how)
    expect(told()).toEqual([[slotOf(A), functionOf(B)]])
    await plug([null, A, 2], how)
    expect(told()).toEqual([[slotOf(A), functionOf(B)]])
    await plug([null, B, 2], how)
    expect(told()).toEqual([[slotOf(A), `away from ${functionOf(B)}`]])
    await plug([A, B, 2], how)
    expect(told()).toEqual([[slotOf(A), functionOf(A)]])
  })
  test('gets no order for its former place, where nothing is now', async () => {
    await plug([B, null, 2], how)
    await lab.send(order('ReleaseSlot', 2, A))
    expect(last()).toMatchObject({ status: 'failed', reason: expect.stringContaining('is at h1_') })
    expect(await prepared()).toEqual(new Map([[slotOf(A), A]]))
  })
  test('is still known by a release that names no address, from before it was found again', async () => {
    await plug([null, A, 2], how)
    const nowhere = { ...order('ReleaseSlot', 2, A), handle: { type: 'PCI', info: { away: 'x 1' } } } as Order
    await lab.send(nowhere)
    await plug([B, A, 2], how)
    await lab.send(second(A, B))
    expect(last()).toMatchObject({ status: 'failed', reason: expect.stringContaining(`slot ${slotOf(A)}`) })
  })
})

test('an order does not reach a card that was exchanged after the last discovery', async () => {
  cards.plug([B, A, 2])
  await lab.send(order('PrepareSlot', 1, A))
  expect(last()).toMatchObject({ status: 'failed', final: true, reason: expect.stringContaining('another card') })
  expect(await prepared()).toEqual(new Map())
})

describe('a slot whose card is not known', () => {
  const without = (one: Order): Order => {
    const { card: _, ...rest } = one
    return rest
  }
  test('because an older control ordered it goes by its address', async () => {
    await lab.send(without(order('PrepareSlot', 1, A)))
    await plug([null, A, 2], 'while it runs')
    await lab.send(order('PrepareSlot', 1, B, A))
    expect(last()).toMatchObject({ status: 'failed', reason: expect.stringContaining(`slot ${slotOf(A)}`) })
  })
  test('because a host of an older release wrote its ledger goes by its address', async () => {
    await lab.send(order('PrepareSlot', 1, A))
    await lab.kill(host)
    const path = '/state/ledger.jsonl'
    const [head, ...lines] = (await lab.disk.read(path))!.trimEnd().split('\n')
    const older = lines.map((line) => JSON.stringify({ ...JSON.parse(line), card: undefined }))
    await lab.disk.replace(path, `${[head, ...older].join('\n')}\n`)
    cards.plug([null, A, 2])
    await boot()
    await lab.send(order('PrepareSlot', 1, B, A))
    expect(last()).toMatchObject({ status: 'failed', reason: expect.stringContaining(`slot ${slotOf(A)}`) })
    await lab.send(order('ReleaseSlot', 2, A))
    expect(await prepared()).toEqual(new Map([[slotOf(A), A]]))
  })
  test('because two cards claim the same mark does not follow either of them', async () => {
    const shared: Card = { kind: {}, marks: { serial: '' } }
    await lab.send({ ...order('PrepareSlot', 1, A), card: shared })
    await plug([B, A, 2], 'while it runs')
    expect(told()).toEqual([[slotOf(A), functionOf(A)]])
  })
})

test('a host that has lost its ledger is told the card of each slot, and goes by it', async () => {
  const given = order('PrepareSlot', 1, A)
  await lab.send(given)
  await lab.kill(host)
  await lab.clock.pass(60_000)
  cards.plug([null, A, 2])
  await boot(memoryDisk())
  const prepare = given as Extract<Order, { type: 'PrepareSlot' }>
  const { slot, number, driver, deployable, deployableUuid, card, handle } = prepare
  await answer({ slot, number, driver, deployable, deployableUuid, handle, card })
  await lab.send(order('PrepareSlot', 1, B, A))
  expect(last()).toEqual({ status: 'done' })
  await plug([B, A, 2], 'while it runs')
  expect(told()).toContainEqual([slot, functionOf(B)])
})
