/** An operator has Nova told once more: of what it never took, of what it took and lost, and at once of what waits. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { novaAt } from '../support/novaClients.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { type NovaServer, openNovaServer } from '../support/novaServer.ts'
import { type Cloud, FPGA, GPU, NOVA, openCloud, value } from './cloud.ts'

const HOUR = 3_600_000
const options = { sweepEveryMs: HOUR }
const WORD = { by: 'kim', reason: 'Nova was restored' }

let nova: NovaServer
let clock: ReturnType<typeof handClock>
let cloud: Cloud
const open = async (plan: SimulatedPlan, rc: string) => {
  const neighbour = novaAt({ url: nova.url, timeoutMs: 300 })
  return openCloud(plan, { [`resources:${rc}`]: '1' }, { clock, options, nova: neighbour }, memoryStore(), 'when told')
}
const sweep = async () => {
  await cloud.plane.sweeper.idle()
  await cloud.plane.sweeper.round()
  await cloud.plane.sweeper.idle()
}
const pass = async (ms: number) => {
  await clock.pass(ms)
  await sweep()
}
const resend = (instance: string) => cloud.control.resendDelivery(NOVA, instance, WORD)
beforeEach(async () => {
  nova = await openNovaServer()
  nova.place('everyone', 'on a host')
  clock = handClock()
})
afterEach(async () => {
  await Promise.all([cloud.stop(), clock.pass(HOUR)])
  await nova.close()
})

it('what was given up is told when it is asked for', async () => {
  cloud = await open(GPU, 'PGPU')
  nova.meet(503)
  const { arq, instance } = await cloud.start()
  for (let n = 0; n < 40; n++) await pass(10_000)
  expect((await cloud.steps(arq)).at(-1)).toBe('nova told: undeliverable')
  nova.meet(null)
  expect(value(await resend(instance))).toMatchObject({ instance, statuses: { [arq]: 'completed' }, attempts: 0 })
  await cloud.plane.sweeper.idle()
  expect(nova.heard).toEqual([
    { name: 'accelerator-request-bound', server_uuid: instance, tag: arq, status: 'completed' },
  ])
  expect((await cloud.steps(arq)).slice(-2)).toEqual(['nova to be told once more', 'nova told: delivered'])
})
it('what was given up is listed with the answer of Nova until it is told once more, or its request ends', async () => {
  cloud = await open(GPU, 'PGPU')
  const listed = async (state: 'waiting' | 'undelivered') =>
    value(await cloud.control.deliveries({ state, limit: 10 })).items.map(({ instance }) => instance)
  nova.meet(403)
  const [first, second] = [await cloud.start(), await cloud.start()]
  await sweep()
  expect(await listed('undelivered')).toEqual([])
  for (let n = 0; n < 40; n++) await pass(10_000)
  expect(new Set(await listed('undelivered'))).toEqual(new Set([first.instance, second.instance]))
  expect(await listed('waiting')).toEqual([])
  const [one] = value(await cloud.control.deliveries({ state: 'undelivered', limit: 1 })).items
  expect(one).toMatchObject({ state: 'undelivered', nextAt: null, hostname: 'h1' })
  expect(Object.values(one!.answers)).toEqual([expect.stringMatching(/^403 /)])
  expect(one!.attempts).toBeGreaterThan(5)
  // rows that a control of 0.2.0 has left behind: the first page is not empty because of them
  const stale = [randomUUID(), randomUUID()].map((uuid) =>
    put('due', { entity: `instance/${uuid}`, kind: 'nova-undelivered', at: 1 }),
  )
  const row = { key: `arq/${randomUUID()}`, version: 1, commandId: randomUUID(), events: [], at: 1, cause: {} } as const
  await cloud.store.journal.append({ rows: [row], changes: stale })
  expect(value(await cloud.control.deliveries({ state: 'undelivered', limit: 1 })).items).toEqual([one])
  nova.meet(null)
  value(await resend(first.instance))
  await cloud.plane.sweeper.idle()
  expect(await listed('undelivered')).toEqual([second.instance])
  value(await cloud.control.arqs.unbind(NOVA, [second.arq]))
  expect(await listed('undelivered')).toEqual([])
})
it('what waits for its next try is told at once, and tried for as long as an event of a new bind', async () => {
  cloud = await open(GPU, 'PGPU')
  nova.meet(503)
  const { arq, instance } = await cloud.start()
  for (let n = 0; n < 25; n++) await pass(10_000)
  const before = nova.requests.length
  value(await resend(instance))
  await cloud.plane.sweeper.idle()
  expect(nova.requests).toHaveLength(before + 1)
  for (let n = 0; n < 20; n++) await pass(10_000)
  expect((await cloud.steps(arq)).at(-1)).toBe('nova not reached, will be told again')
  for (let n = 0; n < 20; n++) await pass(10_000)
  expect((await cloud.steps(arq)).at(-1)).toBe('nova told: undeliverable')
})
it('what Nova has taken is told once more, as it ended', async () => {
  cloud = await open(FPGA, 'FPGA')
  const { arq, instance } = await cloud.start()
  await cloud.pump()
  await cloud.answer(cloud.orders.at(-1)!, { status: 'failed', reason: 'no link', final: true })
  await sweep()
  value(await resend(instance))
  await sweep()
  expect(nova.heard).toMatchObject([
    { tag: arq, status: 'failed' },
    { tag: arq, status: 'failed' },
  ])
})
it('is refused while the bind is under way, of an instance that has nothing, and where no Nova is configured', async () => {
  cloud = await open(FPGA, 'FPGA')
  const { arq, instance } = await cloud.start()
  expect(await resend(instance)).toMatchObject({ ok: false, fault: { kind: 'bad_state' } })
  expect(await resend(randomUUID())).toMatchObject({ ok: false, fault: { kind: 'not_found', resource: 'instance' } })
  await cloud.pump()
  await cloud.answer(cloud.orders.at(-1)!, { status: 'done' })
  await sweep()
  value(await cloud.control.arqs.unbind(NOVA, [arq]))
  expect(await resend(instance)).toMatchObject({ ok: false, fault: { kind: 'not_found', resource: 'instance' } })
  await cloud.stop()
  cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, { clock, options })
  expect(await resend(instance)).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
})
