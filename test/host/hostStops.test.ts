/** How long a stop of the host program waits for what does not end, and what it leaves alone from then on. */
import { expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { Disk } from '../../src/host/disk.ts'
import type { HostStart } from '../../src/host/host.ts'
import { stopRecord } from '../../src/wire/message.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { openHostLab } from '../support/hostLab.ts'
import { until } from '../support/lab.ts'

const never = <Value>() => new Promise<Value>(() => undefined)
const OLD_LEDGER = '{"ledger":1,"host":"h1"}\n'

type Part = 'consumer' | 'order' | 'results' | 'ledger' | 'place'
const STOP_WAIT_MS = 3000
/** How long a stop takes where these parts do not end. */
const stopMs = async (parts: readonly Part[]): Promise<number | null> => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', OLD_LEDGER)
  let diskHangs = false
  const held =
    <Given extends readonly unknown[]>(part: Part, work: (...given: Given) => Promise<void>) =>
    (...given: Given): Promise<void> =>
      diskHangs && parts.includes(part) ? never() : work(...given)
  const disk: Disk = { ...lab.disk, replace: held('place', lab.disk.replace), append: held('ledger', lab.disk.append) }
  const publish: typeof lab.bus.publish = (batch) =>
    parts.includes('results') && batch.some(({ value }) => value.includes('report.OrderResult'))
      ? never()
      : lab.bus.publish(batch)
  const consume: typeof lab.bus.consume = async (how) => {
    const consumer = await lab.bus.consume(how)
    return parts.includes('consumer') ? { ...consumer, stop: () => never() } : consumer
  }
  const second = lab.devices[1]!.deployables[0]!.name
  const prepare: Driver['prepare'] = (_io, { deployable }) =>
    parts.includes('order') && deployable === second ? never() : Promise.resolve()
  const host = await lab.boot({
    disk,
    bus: { publish, consume },
    drivers: [{ ...lab.driver, prepare }],
    options: { stopWaitMs: STOP_WAIT_MS },
  })
  await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
  diskHangs = true
  // an order that cannot be recorded any more
  if (parts.includes('ledger')) await lab.send(lab.order('PrepareSlot', 1, { device: 2 }))
  const began = lab.clock.now()
  let tookMs: number | null = null
  void host.stop().then(() => (tookMs = lab.clock.now() - began))
  await lab.clock.pass(60_000)
  return tookMs
}
/** Until the orders end by themselves, and until they end after they were told to. */
const ORDERS_MS = STOP_WAIT_MS + 1000
test.each<[string, number, readonly Part[]]>([
  ['for nothing that ends', 0, []],
  ['for the bus as long as is set', STOP_WAIT_MS, ['consumer']],
  ['for an order as long as is set, and a second more after it was aborted', ORDERS_MS, ['order']],
  ['for results a second until they are sent, and another until the last attempt has ended', 2000, ['results']],
  [
    'for the ledger a second, after the bus and the orders, which wait for it as well',
    STOP_WAIT_MS + ORDERS_MS + 1000,
    ['ledger'],
  ],
  ['for the place in the topic a second', 1000, ['place']],
  [
    'for all of them one after the other',
    STOP_WAIT_MS + ORDERS_MS + 2000 + 1000 + 1000,
    ['consumer', 'order', 'results', 'ledger', 'place'],
  ],
])('a stop waits %s: %i ms', async (_, ms, parts) => expect(await stopMs(parts)).toBe(ms))

/** A playbook that ends only with its signal. */
const playbooksOf = (signals: AbortSignal[]): NonNullable<HostStart['playbooks']> => ({
  dir: '/books',
  program: 'ansible-playbook',
  limitMs: 1e9,
  environment: {},
  programAt: async (name) => `/usr/bin/${name}`,
  killAged: async () => [],
  run: ({ signal }) => {
    signals.push(signal)
    const { promise, resolve } = Promise.withResolvers<{ failure: string; output: string; cut: number }>()
    signal.addEventListener('abort', () => resolve({ failure: 'stopped', output: '', cut: 0 }), { once: true })
    return promise
  },
})
const CARD = { card: 'other', workers: [] }

test.each(['orderly', 'at once'] as const)(
  'a stop that is %s ends a playbook, and looks at no card any more',
  async (how) => {
    const lab = await openHostLab()
    const signals: AbortSignal[] = []
    let looks = 0
    const host = await lab.boot({
      io: recordedHostIo({ books: { simulated_driver: { 'setup.yml': 'set up' } } }, 'h1'),
      playbooks: playbooksOf(signals),
      toolLocks: { atWork: async () => (looks++, [CARD]), kill: async () => undefined },
    })
    await until(() => signals.length === 1)
    expect(signals[0]!.aborted).toBe(false)
    await lab.clock.pass(500)
    expect(looks).toBe(2)
    await host.stop(how)
    expect(signals[0]!.aborted).toBe(true)
    await lab.clock.pass(5000)
    expect(looks).toBe(2)
  },
)

test('a host that steps back for another program of its name ends its playbook as well', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', OLD_LEDGER)
  const signals: AbortSignal[] = []
  const io = recordedHostIo({ books: { simulated_driver: { 'setup.yml': 'set up' } } }, 'h1')
  const host = await lab.boot({ io, playbooks: playbooksOf(signals) })
  await until(() => signals.length === 1)
  expect(signals[0]!.aborted).toBe(false)
  const by = 'b0a79999-0000-4000-8000-00000000000a'
  await lab.bus.publish([stopRecord({ type: 'Stop', host: 'h1', bootId: host.bootId, by }, '1', lab.clock.now())])
  await until(() => signals[0]!.aborted)
  expect([signals.length, host.notReady()]).toEqual([1, `another program runs under the name h1: boot ${by}`])
})
