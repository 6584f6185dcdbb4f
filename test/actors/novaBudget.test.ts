/** A Nova that never answers, or judges part of a gathered call, harms nobody but the events it was asked about. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Nova, NovaEvent, NovaVerdict } from '../../src/actors/neighbours.ts'
import { handClock, quiet, until } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

/** So many calls may be open at once, and so many events are in one. */
const [CALLS_MAX, GATHERED_MAX] = [16, 100]

const HOUR = 3_600_000
const DEADLINE = 3000
const options = { sweepEveryMs: 24 * HOUR, bindDeadlineMs: DEADLINE }

/** A Nova whose calls are answered when the test says so. */
const heldNova = () => {
  const calls: { readonly events: readonly NovaEvent[]; readonly requestId: string; readonly answer: Answer }[] = []
  type Answer = (verdict?: (event: NovaEvent) => Omit<NovaVerdict, 'tag'>) => void
  const nova: Nova = {
    notify: (events, requestId) => {
      const { promise, resolve } = Promise.withResolvers<readonly NovaVerdict[]>()
      const answer: Answer = (verdict = () => ({ outcome: 'delivered', code: 200 })) =>
        resolve(events.map((event) => ({ tag: event.tag, ...verdict(event) })))
      calls.push({ events, requestId, answer })
      return promise
    },
  }
  return { calls, nova }
}

let close = async () => {}
afterEach(() => close())

const opened = async (nova: Nova) => {
  const clock = handClock()
  const world = await openPlane({ clock, options, nova }, undefined, 'when told')
  close = async () => void (await Promise.all([world.plane.stop(), clock.pass(HOUR)]))
  const devices = Array.from({ length: 50 }, () => ({ kind: 'fpga' as const, handles: 48, hostWork: false }))
  await world.shows('easy', { seed: 1, devices })
  await world.shows('dead', { seed: 2, devices: [{ kind: 'fpga', handles: 4, hostWork: true }] })
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
  const deployables = value(await world.control.deployables.list({}, {})).items
  let turn = 0
  const bind = async (hostname: string, instanceUuid = randomUUID(), by = NOVA) => {
    const [arq] = value(await world.control.arqs.create(NOVA, 'f'))
    const there = deployables.filter((one) => one.hostname === hostname)
    const { rp_uuid: deviceRpUuid } = there[turn++ % there.length]!
    const binding = { arq: arq!.uuid, hostname, deviceRpUuid: deviceRpUuid!, instanceUuid }
    value(await world.control.arqs.bind(by, [binding]))
    return { arq: arq!.uuid, instance: instanceUuid, binding }
  }
  const state = async (arq: string) => value(await world.control.arqs.get(NOVA, arq)).state
  return { ...world, clock, bind, state }
}

describe('a Nova that never answers', () => {
  it('is called a few times at once, and no deadline waits for it', async () => {
    const { calls, nova } = heldNova()
    const world = await opened(nova)
    for (let n = 0; n < 2100; n += 50) await Promise.all(Array.from({ length: 50 }, () => world.bind('easy')))
    await quiet()
    expect(calls).toHaveLength(CALLS_MAX)
    const late = await world.bind('dead')
    await world.clock.pass(DEADLINE)
    await world.plane.sweeper.round()
    await quiet()
    expect(await world.state(late.arq)).toBe('BindFailed')
    expect(calls).toHaveLength(CALLS_MAX)
    expect(world.plane.sweeper.nova()).toEqual({ calls: CALLS_MAX, waiting: expect.any(Number) })
  }, 60_000)
  it.each([
    ['prepared a slot', { status: 'done' }, 'completed'],
    ['could not prepare a slot', { status: 'failed', reason: 'broken', final: true }, 'failed'],
  ] as const)('is called as soon as a host has %s, not with the next sweep', async (_what, result, status) => {
    const { calls, nova } = heldNova()
    const world = await opened(nova)
    const { arq } = await world.bind('dead')
    await world.pump()
    await world.answer(world.orders.at(-1)!, result)
    await until(() => calls.length > 0)
    expect(calls.flatMap(({ events }) => events.map(({ tag, status: sent }) => [tag, sent]))).toEqual([[arq, status]])
  })
  it('does not hold up the end of the process', async () => {
    const { nova } = heldNova()
    const world = await opened(nova)
    await world.bind('easy')
    await quiet()
    let ended = false
    const stopping = world.plane.stop().then(() => (ended = true))
    await world.clock.pass(2000)
    await until(() => ended)
    await stopping
  })
})

describe('events that wait for a free call', () => {
  it('are gathered into the next one, at most so many, and each is judged by itself', async () => {
    const { calls, nova } = heldNova()
    const world = await opened(nova)
    for (let n = 0; n < CALLS_MAX; n++) {
      await world.bind('easy')
      await quiet(2)
    }
    expect(calls.map(({ events }) => events.length)).toEqual(Array.from({ length: CALLS_MAX }, () => 1))
    const waiting = await Promise.all(Array.from({ length: GATHERED_MAX + 20 }, () => world.bind('easy')))
    calls[0]!.answer()
    await quiet()
    expect(calls[CALLS_MAX]!.events).toHaveLength(GATHERED_MAX)
    const [good, bad] = [waiting[0]!, waiting[1]!]
    calls[CALLS_MAX]!.answer(({ tag }) =>
      tag === bad.arq ? { outcome: 'retry', code: 503 } : { outcome: 'delivered', code: 200 },
    )
    await quiet()
    expect(calls[CALLS_MAX + 1]!.events).toHaveLength(20)
    const lastStep = async (arq: string) => value(await world.control.arqs.timeline(NOVA, arq)).steps.at(-1)!.step
    expect([await lastStep(good.arq), await lastStep(bad.arq)]).toEqual([
      'nova told: delivered',
      'nova not reached, will be told again',
    ])
  })
  it('are found by the rounds when too many wait', async () => {
    const { calls, nova } = heldNova()
    const world = await opened(nova)
    for (let n = 0; n < 2200; n += 100) await Promise.all(Array.from({ length: 100 }, () => world.bind('easy')))
    const delivered = () => new Set(calls.flatMap(({ events }) => events.map(({ tag }) => tag))).size
    for (let at = 0; delivered() < 2200 && at < 200; at++) {
      for (const { answer } of calls) answer()
      await quiet()
      await world.plane.sweeper.round()
      await quiet()
    }
    expect(delivered()).toBe(2200)
  }, 60_000)
  it('carry the id of their request, and one of their own when they are of several', async () => {
    const { calls, nova } = heldNova()
    const world = await opened(nova)
    for (let n = 0; n < CALLS_MAX; n++) {
      await world.bind('easy')
      await quiet(2)
    }
    const other = { ...NOVA, requestId: `req-${randomUUID()}` }
    await Promise.all([world.bind('easy'), world.bind('easy', undefined, other)])
    calls[0]!.answer()
    await quiet()
    expect(calls[0]!.requestId).toBe(NOVA.requestId)
    expect([NOVA.requestId, other.requestId]).not.toContain(calls[CALLS_MAX]!.requestId)
    expect(calls[CALLS_MAX]!.requestId).toMatch(/^req-[0-9a-f-]{36}$/)
  })
})
