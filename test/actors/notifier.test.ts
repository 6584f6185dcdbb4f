import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Nova } from '../../src/actors/neighbours.ts'
import { novaAt } from '../support/novaClients.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, until } from '../support/lab.ts'
import { type NovaServer, openNovaServer } from '../support/novaServer.ts'
import { openPlane } from '../support/plane.ts'
import { type Cloud, FPGA, GPU, NOVA, openCloud, value } from './cloud.ts'

const HOUR = 3_600_000
const options = { sweepEveryMs: HOUR }

let nova: NovaServer
let clock: ReturnType<typeof handClock>
let cloud: Cloud
const portOf = () => novaAt({ url: nova.url, timeoutMs: 300 })
const open = async (plan: SimulatedPlan, rc: string, amount = '1', store = memoryStore()) =>
  openCloud(plan, { [`resources:${rc}`]: amount }, { clock, options, nova: portOf() }, store, 'when told')
const sweep = async () => {
  await cloud.plane.sweeper.idle()
  await cloud.plane.sweeper.round()
  await cloud.plane.sweeper.idle()
}
/** One round of telling after another, as time goes by. */
const pass = async (ms: number) => {
  await clock.pass(ms)
  await sweep()
}
beforeEach(async () => {
  nova = await openNovaServer()
  nova.place('everyone', 'on a host')
  clock = handClock()
})
afterEach(async () => {
  await Promise.all([cloud.stop(), clock.pass(HOUR)])
  await nova.close()
})

describe('Nova hears', () => {
  it('of a bind that needs no host work at once, after it can be read (S6, S7)', async () => {
    cloud = await open(GPU, 'PGPU')
    const { arq, instance } = await cloud.start()
    await sweep()
    expect(nova.heard).toEqual([
      { name: 'accelerator-request-bound', server_uuid: instance, tag: arq, status: 'completed' },
    ])
    expect(nova.requests[0]!.headers).toMatchObject({ 'openstack-api-version': 'compute 2.82' })
    expect(await cloud.steps(arq)).toEqual([
      'created',
      'bind accepted',
      'bound',
      'nova to be told',
      'nova told: delivered',
    ])
  })
  it('of all requests of a bind in one message, when the last is resolved', async () => {
    cloud = await open(FPGA, 'FPGA', '2')
    const { arqs } = await cloud.start()
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!)
    await sweep()
    expect(nova.requests).toEqual([])
    await cloud.answer(cloud.orders[1]!)
    await sweep()
    expect(nova.requests).toHaveLength(1)
    expect(new Set(nova.heard.map(({ tag }) => tag))).toEqual(new Set(arqs))
  })
  it('of a bind that failed, once', async () => {
    cloud = await open(FPGA, 'FPGA', '2')
    await cloud.start()
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!, { status: 'failed', reason: 'no', final: true })
    await sweep()
    await pass(60_000)
    expect(nova.heard.map(({ status }) => status)).toEqual(['failed', 'failed'])
  })
  it('nothing of a bind that is refused, nor of an unbind', async () => {
    cloud = await open(GPU, 'PGPU')
    const { arq } = await cloud.start()
    await sweep()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq, randomUUID(), { deviceRpUuid: randomUUID() })])
    await pass(60_000)
    expect(nova.requests).toHaveLength(1)
  })
  it('of a request that was bound again while the answer to its first event was on its way (L2)', async () => {
    cloud = await open(GPU, 'PGPU')
    nova.meet('silence')
    const { arq, instance } = await cloud.start()
    await until(() => nova.requests.length === 1)
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.bind([arq], instance))
    nova.meet(null)
    await pass(1000)
    await pass(2000)
    expect(nova.heard.at(-1)).toMatchObject({ tag: arq, status: 'completed' })
  })
})

describe('Nova that cannot be reached', () => {
  it.each([503, 401, 403, 'cut', 'silence'] as const)(
    'with %s is told again, later and later, until it hears',
    async (trouble) => {
      cloud = await open(GPU, 'PGPU')
      nova.meet(trouble)
      const { arq } = await cloud.start()
      await sweep()
      expect(nova.requests).toHaveLength(1)
      await pass(999)
      expect(nova.requests).toHaveLength(1)
      await pass(1)
      expect(nova.requests).toHaveLength(2)
      await pass(1999)
      expect(nova.requests).toHaveLength(2)
      nova.meet(null)
      await pass(1)
      expect(nova.heard).toHaveLength(1)
      await pass(60_000)
      expect(nova.heard).toHaveLength(1)
      expect((await cloud.steps(arq)).slice(-3)).toEqual([
        'nova not reached, will be told again',
        'nova not reached, will be told again',
        'nova told: delivered',
      ])
    },
  )
  it('for 300 s after the acceptance is recorded as such, and not told any more', async () => {
    cloud = await open(GPU, 'PGPU')
    nova.meet(503)
    const { arq } = await cloud.start()
    for (let n = 0; n < 40; n++) await pass(10_000)
    const requests = nova.requests.length
    expect((await cloud.steps(arq)).at(-1)).toBe('nova told: undeliverable')
    nova.meet(null)
    await pass(60_000)
    expect(nova.requests).toHaveLength(requests)
    expect(await cloud.states([arq])).toEqual(['Bound'])
  })
  it('because its port is broken, or judges only some, is told again all the same', async () => {
    const asked: number[] = []
    const broken: Nova = {
      notify: async (events) => {
        asked.push(events.length)
        if (asked.length === 1) throw new Error('no token file')
        return asked.length === 2 ? [] : events.map(({ tag }) => ({ tag, outcome: 'delivered', code: 200 }))
      },
    }
    cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, { clock, options, nova: broken })
    const { arq } = await cloud.start()
    await sweep()
    await pass(999)
    expect(asked).toEqual([1])
    await pass(1)
    await pass(2000)
    expect(asked).toEqual([1, 1, 1])
    expect((await cloud.steps(arq)).at(-1)).toBe('nova told: delivered')
  })
  it('is told by the next process when this one has died', async () => {
    const store = memoryStore()
    cloud = await open(GPU, 'PGPU', '1', store)
    nova.meet(503)
    const { arq } = await cloud.start()
    await sweep()
    await cloud.stop()
    nova.meet(null)
    await clock.pass(1000)
    const next = await openPlane({ clock, options, nova: portOf() }, store)
    await next.plane.sweeper.round()
    await next.plane.sweeper.idle()
    expect(nova.heard).toMatchObject([{ tag: arq, status: 'completed' }])
    await Promise.all([next.plane.stop(), clock.pass(HOUR)])
  })
})

describe('Nova judges element by element', () => {
  it('a server that is on no host yet is done with, one that is gone too', async () => {
    cloud = await open(GPU, 'PGPU')
    const [one, other] = [await cloud.start(), await cloud.start()]
    nova.place(one.instance, 'on no host')
    nova.place('everyone', null)
    await sweep()
    await pass(60_000)
    expect((await cloud.steps(one.arq)).at(-1)).toBe('nova told: delivered')
    expect((await cloud.steps(other.arq)).at(-1)).toBe('nova told: gone')
    expect(nova.requests.length).toBeLessThanOrEqual(2)
  })
})

describe('without Nova', () => {
  it('the bind says so in its timeline', async () => {
    cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, { clock, options })
    const { arq } = await cloud.start()
    const { steps } = value(await cloud.control.arqs.timeline(NOVA, arq))
    expect(steps.at(-1)).toMatchObject({
      step: 'nova not told',
      detail: { status: 'completed', why: 'no Nova is configured' },
    })
  })
})
