/**
 * What a host that was killed does next. The disk and the hardware stay; the process, its memory and its driver's calls
 * do not.
 */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { Disk, MemoryDisk } from '../../src/host/disk.ts'
import type { Host } from '../../src/host/host.ts'
import type { Order } from '../../src/wire/orders.ts'
import { quiet } from '../support/lab.ts'
import type { HostLab } from '../support/hostLab.ts'
import { openHostLab } from '../support/hostLab.ts'

const never = <Value>() => new Promise<Value>(() => {})

/**
 * A process that dies at its n-th step to the outside, before or after the step took effect. Steps are: writes to its
 * disk, calls of its driver, messages to the bus.
 */
const mortal = (lab: HostLab, dies: { readonly at: number; readonly when: 'before' | 'after' }) => {
  let [steps, alive] = [0, true]
  const step = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (!alive) return never()
    const last = ++steps === dies.at
    if (last && dies.when === 'before') alive = false
    if (!alive) return never()
    const value = await work()
    if (last) alive = false
    return alive ? value : never()
  }
  const drivers: Driver[] = [
    {
      ...lab.driver,
      prepare: (...args) => step(() => lab.driver.prepare(...args)),
      release: (...args) => step(() => lab.driver.release(...args)),
    },
  ]
  const disk: Disk = {
    read: lab.disk.read,
    // written before the host takes orders; see boot.test.ts and identity.test.ts
    replace: (path, text) =>
      /\/(?:boot\.json|key\.pem)$/.test(path) ? lab.disk.replace(path, text) : step(() => lab.disk.replace(path, text)),
    append: (...args) => step(() => lab.disk.append(...args)),
  }
  const bus = {
    consume: lab.bus.consume,
    publish: (batch: Parameters<typeof lab.bus.publish>[0]) => step(() => lab.bus.publish(batch)),
  }
  return { parts: { drivers, disk, bus }, isDead: () => !alive, steps: () => steps }
}

/** The control side: says an order again until it hears its result. */
const insist = async (lab: HostLab, order: Order, revive: () => Promise<void>): Promise<void> => {
  const heard = () => lab.results().some(({ slot, number }) => slot === order.slot && number === order.number)
  for (let turn = 0; turn < 10 && !heard(); turn++) {
    await revive()
    await lab.send(order)
    await lab.clock.pass(100)
  }
  expect(heard()).toBe(true)
}

const way = (lab: HostLab): Order[] => [
  lab.order('PrepareSlot', 1),
  lab.order('PrepareSlot', 1, { device: 1 }),
  lab.order('ReleaseSlot', 2),
  lab.order('PrepareSlot', 3),
  lab.order('ReleaseSlot', 2, { device: 1 }),
]

const run = async (
  dies: { readonly at: number; readonly when: 'before' | 'after' },
  spoil: (disk: MemoryDisk) => unknown = () => {},
) => {
  const lab = await openHostLab()
  const life = mortal(lab, dies)
  let host: Host = await lab.boot(life.parts)
  let revived = false
  const revive = async () => {
    if (revived || !life.isDead()) return
    revived = true
    await lab.kill(host)
    spoil(lab.disk)
    host = await lab.boot()
  }
  const orders = way(lab)
  for (const order of orders) await insist(lab, order, revive)
  const after = async () => Object.keys((await lab.effects()).prepared)
  const told = await after()
  // whatever of it comes once more, late and in another order, changes nothing
  for (const order of orders.toReversed()) await lab.send(order)
  await lab.clock.pass(100)
  return { lab, life, host, revived, told, after: await after() }
}

describe('killed at a step and started again', () => {
  test('the way has enough steps', async () => {
    const { life, revived, told } = await run({ at: 0, when: 'after' })
    expect(life.steps()).toBeGreaterThan(20)
    expect(revived).toBe(false)
    expect(told).toHaveLength(1)
  })
  const steps = Array.from({ length: 21 }, (_, at) => at + 1)
  test.each(steps)('%s: the orders end as they were given, and old ones come to nothing', async (at) => {
    for (const when of ['before', 'after'] as const) {
      const { revived, told, after, lab } = await run({ at, when })
      expect(revived).toBe(true)
      expect(told).toEqual([lab.order('PrepareSlot', 3).slot])
      expect(after).toEqual(told)
      expect(lab.results().every(({ result }) => result.status === 'done')).toBe(true)
    }
  })
  test.each(steps)('%s: also when the disk lost its last write, or half of it', async (at) => {
    for (const spoil of [(disk: MemoryDisk) => disk.loseLast(), (disk: MemoryDisk) => disk.tearLast()]) {
      const { told, lab } = await run({ at, when: 'after' }, spoil)
      expect(told).toEqual([lab.order('PrepareSlot', 3).slot])
    }
  })
})

describe('started again', () => {
  test('a repeated order is answered from disk, an older one is ignored, a newer one is carried out', async () => {
    const lab = await openHostLab()
    await lab.kill(await bootAfter(lab, [lab.order('PrepareSlot', 5)]))
    await lab.boot({ drivers: [{ ...lab.driver, prepare: () => Promise.reject(new Error('touched')) }] })
    const before = lab.results().length
    await lab.send(lab.order('PrepareSlot', 5), lab.order('ReleaseSlot', 4))
    expect(
      lab
        .results()
        .slice(before)
        .map(({ number, result }) => [number, result.status]),
    ).toEqual([[5, 'done']])
    await lab.send(lab.order('ReleaseSlot', 6))
    expect(lab.results().at(-1)).toMatchObject({ number: 6, order: 'ReleaseSlot', result: { status: 'done' } })
  })
  const bootAfter = async (lab: HostLab, orders: readonly Order[]): Promise<Host> => {
    const host = await lab.boot()
    await lab.send(...orders)
    return host
  }

  test('ORDERS-3 an order found in hand is carried out again when it is repeated, and not before', async () => {
    const lab = await openHostLab()
    const first = await lab.boot({ drivers: [{ ...lab.driver, prepare: () => never() }] })
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    // its place in the orders is on the disk, so that only a repeat brings the order again
    await lab.clock.pass(1000)
    await lab.kill(first)
    await lab.boot()
    expect(await lab.ledger()).toMatchObject([{ state: 'in-hand' }])
    expect(lab.results()).toEqual([])
    await lab.send(order)
    expect(lab.results()).toMatchObject([{ number: 1, result: { status: 'done' } }])
  })
  test('past its deadline it fails without the device, and the release that follows is carried out', async () => {
    const lab = await openHostLab()
    const first = await lab.boot({ drivers: [{ ...lab.driver, prepare: () => never() }] })
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    // its place in the orders is on the disk, so that only a repeat brings the order again
    await lab.clock.pass(1000)
    await lab.kill(first)
    await lab.clock.pass(120_001)
    await lab.boot()
    await lab.send(order)
    await lab.send(lab.order('ReleaseSlot', 2))
    expect(lab.results().map(({ number, result }) => [number, result.status])).toEqual([
      [1, 'failed'],
      [2, 'done'],
    ])
  })
  test('OUTBOX-1 results the bus never got are told by the next start, under its boot id', async () => {
    const lab = await openHostLab()
    const first = await lab.boot({
      bus: { consume: lab.bus.consume, publish: () => Promise.reject(new Error('no broker')) },
    })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
    await lab.clock.pass(10_000)
    expect(lab.results()).toEqual([])
    await lab.kill(first)
    const second = await lab.boot()
    expect(lab.results()).toHaveLength(2)
    expect(lab.results().every(({ bootId }) => bootId === second.bootId)).toBe(true)
    // once heard, the start after that has nothing to tell
    await lab.clock.pass(2000)
    await lab.kill(second)
    await lab.boot()
    expect(lab.results()).toHaveLength(2)
  })
  test('a result is told again and again until the bus takes it, as the same message', async () => {
    const lab = await openHostLab()
    let away = 3
    const ids: string[] = []
    const publish: typeof lab.bus.publish = async (batch) => {
      const results = batch.filter(({ headers }) => headers['report-kind'] === 'OrderResult')
      ids.push(...results.map(({ value }) => JSON.parse(value).id as string))
      if (results.length > 0 && away-- > 0) throw new Error('no broker')
      await lab.bus.publish(batch)
    }
    const host = await lab.boot({ bus: { consume: lab.bus.consume, publish } })
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.clock.pass(5000)
    await host.idle()
    expect(lab.results()).toHaveLength(1)
    expect([ids.length, new Set(ids).size]).toEqual([4, 1])
    expect(lab.log.said.filter(({ message }) => message === 'outbox.again')).toHaveLength(3)
  })
  test('a result that comes while an older one of its slot is on its way is told as well', async () => {
    const lab = await openHostLab()
    const gates: (() => void)[] = []
    const publish: typeof lab.bus.publish = async (batch) => {
      if (batch.some(({ headers }) => headers['report-kind'] === 'OrderResult'))
        await new Promise<void>((resolve) => gates.push(resolve))
      await lab.bus.publish(batch)
    }
    const host = await lab.boot({ bus: { consume: lab.bus.consume, publish } })
    for (const order of [lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2)]) await lab.send(order)
    gates[0]!()
    await quiet(40)
    gates[1]?.()
    await host.idle()
    await quiet(40)
    expect(lab.results().map(({ number }) => number)).toEqual([1, 2])
  })
  test('a new boot id, and numbers from one', async () => {
    const lab = await openHostLab()
    const first = await lab.boot()
    await first.reportNow()
    await lab.kill(first)
    const second = await lab.boot()
    const told = lab.inventories().map(({ bootId, number }) => [bootId, number])
    expect(told).toEqual([
      [first.bootId, 1],
      [first.bootId, 2],
      [second.bootId, 1],
    ])
  })
})

describe('stopped in order', () => {
  test('what ends in time is recorded and told, the rest stays in hand for the next start', async () => {
    const lab = await openHostLab()
    const gates: (() => void)[] = []
    const prepare: Driver['prepare'] = (_io, { deployable }, signal) =>
      new Promise((resolve, reject) => {
        if (deployable === lab.devices[0]!.deployables[0]!.name) gates.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    const host = await lab.boot({ drivers: [{ ...lab.driver, prepare }] })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
    const stopped = host.stop()
    await quiet()
    gates[0]!()
    await lab.clock.pass(10_000)
    await stopped
    expect(lab.results()).toMatchObject([{ slot: lab.order('PrepareSlot', 1).slot, result: { status: 'done' } }])
    expect((await lab.ledger()).map(({ state }) => String(state)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'done',
      'in-hand',
    ])
    await lab.clock.pass(300_000)
    const silent = lab.heard.length
    await lab.clock.pass(300_000)
    expect(lab.heard.length).toBe(silent)
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1, { device: 1 }))
    expect(lab.results()).toHaveLength(2)
  })
  test('an idle host stops at once, and once', async () => {
    const lab = await openHostLab()
    const host = await lab.boot()
    await Promise.all([host.stop(), host.stop()])
    await host.stop()
  })
})
