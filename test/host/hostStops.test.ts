/** How long a stop of the host program waits for what does not end, and what it leaves alone from then on. */
import { expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { Disk } from '../../src/host/disk.ts'
import type { PlaybookTools } from '../../src/host/playbooks.ts'
import { stopRecord } from '../../src/wire/message.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const never = <Value>() => new Promise<Value>(() => undefined)
const OLD_LEDGER = '{"ledger":1,"host":"h1"}\n'

test('a stop waits for each part as long as it may, and no longer', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', OLD_LEDGER)
  let hangs = false
  const held =
    <Given extends readonly unknown[]>(work: (...given: Given) => Promise<void>) =>
    (...given: Given): Promise<void> =>
      hangs ? never() : work(...given)
  const disk: Disk = { ...lab.disk, replace: held(lab.disk.replace), append: held(lab.disk.append) }
  const publish: typeof lab.bus.publish = (batch) =>
    batch.some(({ value }) => value.includes('report.OrderResult')) ? never() : lab.bus.publish(batch)
  const consume: typeof lab.bus.consume = async (how) => ({ ...(await lab.bus.consume(how)), stop: () => never() })
  const [second] = lab.devices.slice(1).map(({ deployables }) => deployables[0]!.name)
  const prepare: Driver['prepare'] = (_io, { deployable }) => (deployable === second ? never() : Promise.resolve())
  const host = await lab.boot({
    disk,
    bus: { publish, consume },
    drivers: [{ ...lab.driver, prepare }],
    options: { stopWaitMs: 3000 },
  })
  // its result is not taken by the bus
  await lab.send(lab.order('PrepareSlot', 1))
  await lab.send(lab.order('PrepareSlot', 1, { device: 1 }))
  expect(host.load()).toEqual({ ordersInHand: 1, resultsWaiting: 1 })
  hangs = true
  await lab.send(lab.order('PrepareSlot', 1, { device: 2 }))
  let isOver = false
  void host.stop().then(() => (isOver = true))
  // the bus and the orders as long as is set, the orders that do not heed their signal, results (twice), ledger, place
  await lab.clock.pass(2 * 3000 + 5 * 1000 - 1)
  expect(isOver).toBe(false)
  await lab.clock.pass(1)
  expect(isOver).toBe(true)
})

/** A playbook that ends only with its signal. */
const playbooksOf = (signals: AbortSignal[]): PlaybookTools => ({
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
    await quiet(40)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
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
  await quiet(40)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  const by = 'b0a79999-0000-4000-8000-00000000000a'
  await lab.bus.publish([stopRecord({ type: 'Stop', host: 'h1', bootId: host.bootId, by }, '1', lab.clock.now())])
  await quiet(40)
  expect([signals[0]!.aborted, host.notReady()]).toEqual([true, `another program runs under the name h1: boot ${by}`])
})

test('a driver is not torn down while slots are prepared through it, as the ledger of the host says (PLAYBOOKS-4)', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', OLD_LEDGER)
  const first = await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
  await first.stop()
  await lab.disk.replace('/state/playbooks.json', JSON.stringify({ enabled: ['simulated_driver'], runs: {} }))
  const io = recordedHostIo({ books: { simulated_driver: { 'teardown.yml': 'tear down' } } }, 'h1')
  await lab.boot({ io, drivers: [], playbooks: playbooksOf([]) })
  await quiet(40)
  const reason = '2 attach handles may be prepared through simulated_driver: enable it again until they are released'
  expect(lab.inventories().at(-1)!.playbooks).toMatchObject([{ playbook: 'teardown', status: 'failed', reason }])
})

test('a tool of an earlier start may work on a card as long as the longest cleaning may take', async () => {
  const command: readonly [string] = ['/sbin/wipe']
  const policies = new Map(
    [1_000_000, 2_000_000].map((limitMs, n) => [
      `d${n}`,
      { driver: `d${n}`, kind: 'command' as const, command, limitMs },
    ]),
  )
  const killedAt = async (more: object) => {
    const lab = await openHostLab()
    const killed: number[] = []
    const began = lab.clock.now()
    const atWork = async () => (killed.length > 0 ? [] : [CARD])
    const kill = async () => void killed.push(lab.clock.now() - began)
    await lab.boot({
      toolLocks: { atWork, kill },
      options: { reportEveryMs: 1e9, heartbeatEveryMs: 1e9, measureEveryMs: 1e9 },
      ...more,
    })
    await lab.clock.pass(2_100_000)
    return killed
  }
  expect(await killedAt({})).toEqual([900_000])
  expect(await killedAt({ cleaner: { policies, clean: async () => null } })).toEqual([2_000_000])
})
