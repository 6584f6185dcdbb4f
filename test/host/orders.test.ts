import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { quiet } from '../support/lab.ts'
import type { HostLab } from '../support/hostLab.ts'
import { IMAGE, openHostLab } from '../support/hostLab.ts'
import { noImage } from '../../src/vocabulary/images.ts'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const outcomes = () => lab.results().map(({ number, order, result }) => `${order} ${number} ${result.status}`)
const prepared = async () => Object.keys((await lab.effects()).prepared)

/** A driver whose work ends when told. */
const gated = (driver: Driver) => {
  const begun: string[] = []
  const gates = new Map<string, { readonly pass: () => void; readonly signal: AbortSignal }>()
  const work =
    (name: string, heeds: boolean) =>
    async (_io: unknown, slot: { readonly uuid: string } | string, ...rest: unknown[]) => {
      const signal = rest.at(-1) as AbortSignal
      const id = `${name} ${typeof slot === 'string' ? slot : slot.uuid.slice(0, 8)}`
      begun.push(id)
      await new Promise<void>((resolve, reject) => {
        gates.set(id, { pass: resolve, signal })
        if (heeds) signal.addEventListener('abort', () => reject(signal.reason))
      })
    }
  const make = (heeds = true): Driver => ({
    ...driver,
    prepare: work('prepare', heeds),
    release: work('release', heeds),
    program: work('program', heeds),
  })
  return { begun, gates, make, pass: async (id: string) => (gates.get(id)!.pass(), await quiet()) }
}

describe('an order', () => {
  test('is carried out and its result told, with what a reader needs', async () => {
    const host = await lab.boot()
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    expect(await prepared()).toEqual([order.slot])
    expect(lab.results()).toEqual([
      {
        type: 'OrderResult',
        host: 'h1',
        bootId: host.bootId,
        bootNumber: expect.any(Number),
        order: 'PrepareSlot',
        slot: order.slot,
        deployableUuid: order.deployableUuid,
        number: 1,
        arq: 'b0a77000-0000-4000-8000-000000000000',
        startedAt: lab.clock.now(),
        finishedAt: lab.clock.now(),
        result: { status: 'done' },
      },
    ])
  })
  test('LEDGER-1 has its number on disk before the device is touched, and its result before it is told', async () => {
    const { make, begun, pass } = gated(lab.driver)
    const seen: string[] = []
    const publish: typeof lab.bus.publish = async (batch) => {
      for (const { value } of batch) {
        const { type } = JSON.parse(value)
        if (type === 'accelerando.report.OrderResult')
          seen.push(`told: ${JSON.stringify((await lab.ledger()).map(({ state }) => state))}`)
      }
      await lab.bus.publish(batch)
    }
    await lab.boot({ drivers: [make()], bus: { ...lab.bus, publish } })
    await lab.send(lab.order('PrepareSlot', 7))
    expect(begun).toHaveLength(1)
    expect(await lab.ledger()).toMatchObject([{ number: 7, type: 'PrepareSlot', state: 'in-hand' }])
    expect(lab.results()).toEqual([])
    await pass(begun[0]!)
    expect(seen).toEqual(['told: ["done"]'])
    expect(outcomes()).toEqual(['PrepareSlot 7 done'])
  })
  test('for another host in the same partition is not ours', async () => {
    await lab.boot()
    await lab.send({ ...lab.order('PrepareSlot', 1), host: 'h2' })
    expect([await prepared(), lab.results(), await lab.ledger()]).toEqual([[], [], []])
  })
})

describe('ORDERS-1 ORDERS-2 numbers', () => {
  test('a repeated order is answered with the recorded result, under a new message id, and the device is left alone', async () => {
    const { make, begun, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    await pass(begun[0]!)
    await lab.clock.pass(50)
    await lab.send(order)
    expect(begun).toHaveLength(1)
    expect(lab.results()).toHaveLength(2)
    expect(lab.results()[1]).toEqual(lab.results()[0])
    const ids = lab.heard.filter(({ report }) => report.type === 'OrderResult').map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
  })
  test('an order of the number of another one is neither answered nor carried out: the journal has gone back', async () => {
    await lab.boot()
    const first = lab.order('PrepareSlot', 1)
    await lab.send(first)
    await lab.send({ ...first, arq: 'b0a77000-0000-4000-8000-000000000001' } as typeof first)
    await lab.send(lab.order('ReleaseSlot', 1))
    expect(outcomes()).toEqual(['PrepareSlot 1 done'])
    expect(lab.results()[0]!.arq).toBe('b0a77000-0000-4000-8000-000000000000')
    expect(await prepared()).toEqual([first.slot])
    await lab.send(first)
    expect(outcomes()).toEqual(['PrepareSlot 1 done', 'PrepareSlot 1 done'])
  })
  test('a failure is answered again too, not tried again', async () => {
    lab.driver.control.faults.failPrepare = 1
    await lab.boot()
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    await lab.send(order)
    expect(outcomes()).toEqual(['PrepareSlot 1 failed', 'PrepareSlot 1 failed'])
    expect(lab.results()[0]!.result).toMatchObject({
      reason: expect.stringContaining('failed, as it was told to'),
      final: false,
    })
    expect(await prepared()).toEqual([])
  })
  test('a repeated order that is in hand is not begun twice and told once', async () => {
    const { make, begun, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    const order = lab.order('PrepareSlot', 1)
    await lab.send(order)
    await lab.send(order, order)
    expect(begun).toHaveLength(1)
    await pass(begun[0]!)
    expect(outcomes()).toEqual(['PrepareSlot 1 done'])
  })
  test('an older order is ignored and logged, whatever the last one came to', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.send(lab.order('ReleaseSlot', 2))
    await lab.send(lab.order('PrepareSlot', 1))
    expect(await prepared()).toEqual([])
    expect(outcomes()).toEqual(['PrepareSlot 1 done', 'ReleaseSlot 2 done'])
    expect(lab.log.said.filter(({ message }) => message === 'order.older')).toMatchObject([
      { detail: { number: 1, last: 2 } },
    ])
  })
  test('a newer order ends the one in hand, waits for its end, and only its own result is told', async () => {
    const { make, begun, gates, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make(false)] })
    await lab.send(lab.order('PrepareSlot', 1))
    const [prepare] = begun
    await lab.send(lab.order('ReleaseSlot', 2))
    expect(gates.get(prepare!)!.signal.aborted).toBe(true)
    expect(begun).toEqual([prepare])
    await pass(prepare!)
    expect(begun).toEqual([prepare, prepare!.replace('prepare', 'release')])
    await pass(begun[1]!)
    expect(outcomes()).toEqual(['ReleaseSlot 2 done'])
  })
  test('of three orders for a slot in one moment, the newest counts', async () => {
    lab.driver.control.faults.delayMs = 10
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2), lab.order('PrepareSlot', 3))
    await lab.clock.pass(100)
    expect(await prepared()).toHaveLength(1)
    expect(outcomes()).toEqual(['PrepareSlot 3 done'])
  })
})

describe('ORDERS-4 devices', () => {
  test('one order at a time on a device, all devices at once', async () => {
    const { make, begun, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    await lab.send(
      lab.order('PrepareSlot', 1),
      lab.order('PrepareSlot', 1, { unit: 1 }),
      lab.order('PrepareSlot', 1, { device: 1 }),
    )
    expect(begun).toEqual(['prepare b0a70001', 'prepare b0a70011'])
    await pass(begun[0]!)
    expect(begun).toEqual(['prepare b0a70001', 'prepare b0a70011', 'prepare b0a70002'])
    for (const id of begun.slice(1)) await pass(id)
    expect(outcomes()).toHaveLength(3)
  })
  test('a card that is off its bus while it is written is still waited for', async () => {
    const { make, begun, pass } = gated(lab.driver)
    let isGone = false
    const discover: Driver['discover'] = async (io) => (await lab.driver.discover(io)).slice(isGone ? 1 : 0)
    const host = await lab.boot({ drivers: [{ ...make(), discover }] })
    await lab.send(lab.order('PrepareSlot', 1))
    isGone = true
    await host.reportNow()
    await lab.send(lab.order('ReleaseSlot', 1, { unit: 1 }), lab.order('PrepareSlot', 1, { device: 1 }))
    expect(begun).toEqual(['prepare b0a70001', 'prepare b0a70011'])
    await pass(begun[0]!)
    expect(begun.at(-1)).toBe('release b0a70002')
  })
  test('the status of heartbeats counts what is in hand', async () => {
    const { make } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { unit: 1 }))
    await lab.clock.pass(5000)
    expect(lab.heartbeats().at(-1)!.status).toEqual({
      drivers: { simulated_driver: 'ok' },
      ordersInHand: 2,
      resultsWaiting: 0,
    })
  })
})

describe('ORDERS-5 deadlines', () => {
  test('past its deadline an order fails for good, and nothing is touched', async () => {
    const { make, begun } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    const late = { deadline: lab.clock.now() - 10 }
    await lab.send(lab.order('PrepareSlot', 1, late), lab.order('Program', 1, { ...late, device: 1 }))
    expect(begun).toEqual([])
    expect(lab.results().map(({ result }) => result)).toEqual([
      { status: 'failed', reason: 'deadline passed 10 ms ago', final: true },
      { status: 'failed', reason: 'deadline passed 10 ms ago', final: true },
    ])
  })
  test('a release is carried out however late it is', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.send(lab.order('ReleaseSlot', 2, { deadline: 1 }))
    expect(await prepared()).toEqual([])
    expect(outcomes()).toEqual(['PrepareSlot 1 done', 'ReleaseSlot 2 done'])
  })
  test('a deadline that passes while the order waits for its device counts too', async () => {
    const { make, begun, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make()] })
    await lab.send(
      lab.order('PrepareSlot', 1),
      lab.order('PrepareSlot', 1, { unit: 1, deadline: lab.clock.now() + 100 }),
    )
    await lab.clock.pass(200)
    expect(lab.results()).toMatchObject([
      { slot: lab.order('PrepareSlot', 1, { unit: 1 }).slot, result: { status: 'failed' } },
    ])
    await pass(begun[0]!)
    expect(begun).toHaveLength(1)
    expect(outcomes().at(-1)).toBe('PrepareSlot 1 done')
  })
})

describe('limits', () => {
  test('an order that takes too long is told to end, and fails', async () => {
    lab.driver.control.faults.delayMs = 100_000
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.clock.pass(60_001)
    expect(lab.results()[0]!.result).toEqual({ status: 'failed', reason: 'took longer than 60000 ms', final: false })
    expect(await prepared()).toEqual([])
  })
  test('ORDERS-6 a driver that does not end keeps its device: what comes after fails as busy, other devices go on', async () => {
    const { make, begun, pass } = gated(lab.driver)
    await lab.boot({ drivers: [make(false)] })
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.clock.pass(65_001)
    expect(outcomes()).toEqual(['PrepareSlot 1 failed'])
    await lab.send(lab.order('ReleaseSlot', 2), lab.order('PrepareSlot', 1, { device: 1 }))
    await lab.clock.pass(60_002)
    expect(begun).toEqual(['prepare b0a70001', 'prepare b0a70011'])
    expect(lab.results()[1]).toMatchObject({
      number: 2,
      result: { status: 'failed', reason: expect.stringContaining('busy'), final: false },
    })
    await pass(begun[0]!)
    await lab.send(lab.order('ReleaseSlot', 3))
    expect(begun.at(-1)).toBe('release b0a70001')
  })
  test('more orders than may be in hand come again later', async () => {
    lab.driver.control.faults.delayMs = 10
    await lab.boot({ options: { limits: { inHandMax: 1 } } })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
    await lab.clock.pass(500)
    expect(outcomes()).toEqual(['PrepareSlot 1 done', 'PrepareSlot 1 done'])
  })
  test('a driver that is not enabled fails for good', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1, { driver: 'other_driver' }))
    expect(lab.results()[0]!.result).toEqual({
      status: 'failed',
      reason: 'the driver other_driver is not enabled on this host',
      final: true,
    })
  })
})

describe('programming', () => {
  test('loads the image, tells what the card holds, and a new picture follows at once', async () => {
    await lab.boot()
    expect(lab.inventories()).toHaveLength(1)
    const order = lab.order('Program', 1)
    await lab.send(order)
    expect((await lab.effects()).loaded).toEqual({ [order.deployable]: IMAGE })
    expect(lab.results()[0]!.result).toEqual({
      status: 'done',
      bitstreamId: IMAGE,
      loaded: { fetchMs: 0, programMs: 0 },
    })
    expect(lab.inventories()).toHaveLength(2)
    const [section] = lab.inventories()[1]!.drivers
    expect(section).toMatchObject({ devices: [{ deployables: [{ bitstreamId: IMAGE }] }, {}, {}] })
  })
  test('of an unknown image, without a store, or by a driver that cannot, fails for good', async () => {
    const { program: _, ...plain } = lab.driver
    const host = await lab.boot()
    await lab.send(lab.order('Program', 1, { image: 'no-such' }))
    await host.stop()
    const bare = await lab.boot({ options: { images: { open: async () => noImage('none') } } })
    await lab.send(lab.order('Program', 2))
    await bare.stop()
    await lab.boot({ drivers: [plain] })
    await lab.send(lab.order('Program', 3))
    expect(lab.results().map(({ result }) => result)).toMatchObject([
      { reason: 'image_unknown: there is no image no-such', final: true },
      { reason: 'image_none: no image store is configured', final: true },
      { reason: 'the driver simulated_driver cannot program', final: true },
    ])
  })
  test('a slot that wants a bitstream gets it before it is prepared, once', async () => {
    let programs = 0
    const program: Driver['program'] = async (...args) => {
      programs++
      expect(await prepared()).toEqual([])
      await lab.driver.program(...args)
    }
    await lab.boot({ drivers: [{ ...lab.driver, program }] })
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    expect(await prepared()).toHaveLength(1)
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE, unit: 1 }))
    expect([programs, outcomes()]).toEqual([1, ['PrepareSlot 1 done', 'PrepareSlot 1 done']])
    // the second one found it there
    expect(lab.results().map(({ result }) => result)).toEqual([
      { status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } },
      { status: 'done', bitstreamId: IMAGE },
    ])
  })
  test('a slot whose bitstream cannot be loaded is not prepared', async () => {
    lab.driver.control.faults.failProgram = true
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    expect([outcomes(), await prepared()]).toEqual([['PrepareSlot 1 failed'], []])
  })
  test('a probe looks at the device and tells what it holds; of one that is gone it fails', async () => {
    await lab.boot()
    await lab.send(lab.order('Program', 1))
    await lab.send(lab.order('Probe', 2))
    await lab.send(lab.order('Probe', 1, { device: 1 }))
    lab.driver.control.unplug(0)
    const gone = lab.order('Probe', 3)
    await lab.send(gone)
    expect(lab.results().map(({ result }) => result)).toEqual([
      { status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } },
      { status: 'done', bitstreamId: IMAGE },
      { status: 'done' },
      { status: 'failed', reason: `the driver simulated_driver does not show ${gone.deployable}`, final: false },
    ])
  })
  test('a probe of a driver that cannot look is told why', async () => {
    let broken = false
    const discover: Driver['discover'] = async (io) => {
      if (broken) throw new Error('the bus does not answer')
      return lab.driver.discover(io)
    }
    await lab.boot({ drivers: [{ ...lab.driver, discover }] })
    broken = true
    await lab.send(lab.order('Probe', 1))
    expect(lab.results()[0]!.result).toEqual({
      status: 'failed',
      reason: expect.stringContaining('the bus does not answer'),
      final: false,
    })
  })
})
