/** The bind conversation of an instance: its members, its deadline, what Nova is told of it and answers for each. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Nova } from '../../src/actors/neighbours.ts'
import type { Arq, Timeline } from '../../src/ui/shapes.ts'
import { conversationOf } from '../../src/ui/view/conversation.ts'
import { bindBody } from '../http/cloud.ts'
import { service } from '../http/steps.ts'
import { type UiWorld, createConsole, openUiWorld, wordsOf } from './world.ts'

const AT = Date.UTC(2026, 2, 1, 8, 0, 0)
const iso = (ms: number): string => new Date(AT + ms).toISOString()
type Given = readonly [step: string, ms: number, detail?: Readonly<Record<string, unknown>>]
const timed = (uuid: string, ...steps: readonly Given[]) => ({
  arq: { uuid, state: 'Bound' } as Arq,
  timeline: {
    steps: steps.map(([step, ms, detail = {}]) => ({ step, at: iso(ms), detail })),
  } as unknown as Timeline,
})
const ACCEPTED = { hostname: 'n1', host: 'h1', order: 1, deadline: iso(120_000) }

describe('the conversation', () => {
  test('of requests that nobody has bound is none', () => {
    expect(conversationOf([])).toBe(null)
    expect(conversationOf([timed('a', ['created', 0])])).toBe(null)
  })
  test('while it is under way names who is not ready, and when it fails', () => {
    const talk = conversationOf([
      timed('a', ['bind accepted', 0, ACCEPTED], ['prepared on the host', 900]),
      timed('b', ['bind accepted', 0, ACCEPTED]),
    ])
    expect(talk).toMatchObject({ deadline: iso(120_000), settledAt: null, until: null, tries: 0, hostname: 'n1' })
    expect(talk!.members.map(({ arq, readyAt, host }) => [arq.uuid, readyAt, host])).toEqual([
      ['b', null, 'h1'],
      ['a', iso(900), 'h1'],
    ])
  })
  test('that has ended has one batch for Nova, and an answer for each', () => {
    const ends = (answer: string, detail = {}): readonly Given[] => [
      ['bind accepted', 0, { ...ACCEPTED, order: null }],
      ['bound', 500],
      ['nova to be told', 500, { status: 'completed', until: iso(300_000) }],
      ['nova not reached, will be told again', 600, { note: 'refused', next_at: iso(1600) }],
      [`nova told: ${answer}`, 1700, detail],
    ]
    const talk = conversationOf([
      timed('a', ...ends('delivered')),
      timed('b', ...ends('refused', { note: '400 bad' })),
      timed('c', ...ends('delivered').slice(0, 4)),
      timed('d', ...ends('delivered').slice(0, 3)),
    ])
    expect(talk).toMatchObject({ settledAt: iso(500), until: iso(300_000), tries: 2 })
    expect(talk!.members.map(({ status, answer }) => [status, answer?.word, answer?.note, answer?.again])).toEqual([
      ['completed', 'taken', null, null],
      ['completed', 'refused', '400 bad', null],
      ['completed', 'not reached', 'refused', iso(1600)],
      ['completed', undefined, undefined, undefined],
    ])
  })
  test('is the last one of an instance that was bound again, without those that were not part of it', () => {
    const talk = conversationOf([
      timed(
        'a',
        ['bind accepted', 0, ACCEPTED],
        ['bind failed', 10, { code: 'host_failed' }],
        ['nova told: refused', 20],
      ),
      timed('b', ['bind accepted', 100, { ...ACCEPTED, hostname: 'n2' }]),
    ])
    expect(talk!.members.map(({ arq }) => arq.uuid)).toEqual(['b'])
    expect(talk).toMatchObject({ hostname: 'n2', settledAt: null })
  })
  test('that Nova is told of once more waits for the new answer', () => {
    const talk = conversationOf([
      timed(
        'a',
        ['bind accepted', 0, ACCEPTED],
        ['bound', 5],
        ['nova to be told', 5, { status: 'completed', until: iso(9) }],
        ['nova told: undeliverable', 10],
        ['nova to be told once more', 20, { status: 'completed', until: iso(900) }],
      ),
    ])
    expect(talk).toMatchObject({ until: iso(900), members: [{ status: 'completed', answer: null }] })
  })
  test('takes no step for an answer that is called as what every object has', () => {
    const talk = conversationOf([
      timed('a', ['bind accepted', 0, ACCEPTED], ['bound', 5], ['nova told: delivered', 10], ['constructor', 20]),
    ])
    expect(talk!.members[0]!.answer).toMatchObject({ word: 'taken', at: iso(10) })
  })
})

describe('the page', () => {
  let world: UiWorld
  const nova: Nova = {
    notify: async (events) =>
      events.map(({ tag }, at) =>
        at === 0 ? { tag, outcome: 'delivered', code: 200 } : { tag, outcome: 'refused', code: 400, note: 'malformed' },
      ),
  }
  beforeAll(async () => {
    world = await openUiWorld(undefined, { nova })
    const groups = [{ 'resources:FPGA': '2' }]
    await world.must(201, 'POST /v2/device_profiles', { body: [{ name: 'two', groups }] })
  })
  afterAll(() => world.close())
  const begun = async () => {
    const { json } = await world.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'two' } })
    const instance = randomUUID()
    const body = bindBody(json.arqs, world.fpga.rp_uuid, instance, 'compute-1')
    await world.must(202, 'PATCH /v2/accelerator_requests', { body, headers: service })
    await world.pump()
    const orders = json.arqs.map(({ uuid }: { uuid: string }) =>
      world.orders.find((order) => order.type === 'PrepareSlot' && order.arq === uuid),
    )
    return { instance, orders }
  }
  const shown = async (instance: string): Promise<string> => {
    const html = await (await createConsole(world).request(`/ui/instances/${instance}`)).text()
    return wordsOf(html)
  }
  test('shows how far a bind of two requests is, and then what Nova answered for each', async () => {
    const { instance, orders } = await begun()
    await world.answer(orders[0])
    const open = await shown(instance)
    expect(open).toMatch(/1 of 2.requests prepared; the bind fails if the rest is not, in \d/)
    expect(open).toMatch(/waited for on compute-1/)
    expect(open).toContain('Told to Nova when it has ended')
    await world.answer(orders[1])
    await expect.poll(() => shown(instance)).toContain('1 answer so far')
    const page = await shown(instance)
    expect(page).toMatch(/All of 2.requests bound after/)
    expect(page).toMatch(/ready on compute-1 after .* completed taken/)
    expect(page).toMatch(/completed refused/)
  })
  test('of a bind that failed says why first', async () => {
    const { instance, orders } = await begun()
    await world.answer(orders[1], { status: 'failed', reason: 'the card did not answer', final: true })
    const page = await shown(instance)
    expect(page).toMatch(/The bind of 2.requests failed after .*: the card did not answer\./)
    expect(page).toContain('not ready on compute-1')
  })
  test('of an instance whose requests nobody has bound', async () => {
    expect(await shown(randomUUID())).toContain('No accelerator request belongs to this instance')
  })
})
