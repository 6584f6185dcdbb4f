/** FENCE: a physical function is prepared for one slot at a time, whatever the control believes. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Order } from '../../src/wire/orders.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { IMAGE, openHostLab, type HostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const SECOND = 'b0a79999-0000-4000-8000-00000000000b'
const THIRD = 'b0a79999-0000-4000-8000-00000000000c'
const ARQ = 'b0a79999-0000-4000-8000-0000000000a1'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const outcomes = () => lab.results().map(({ slot, order, result }) => `${order} ${slot.at(-1)} ${result.status}`)
const reasonOf = (wanted: string) => {
  const { result } = lab.results().findLast(({ slot }) => slot === wanted)!
  return result.status === 'failed' ? result : null
}
const lastReason = () => reasonOf(lab.results().at(-1)!.slot)
const prepared = async () => Object.keys((await lab.effects()).prepared)

describe('FENCE-1 a second slot for one physical function', () => {
  test('is refused while the first is prepared, for good, and the hardware is left alone', async () => {
    await lab.boot()
    const first = lab.order('PrepareSlot', 1)
    await lab.send(first, lab.order('PrepareSlot', 1, { slot: SECOND, arq: ARQ }))
    expect(outcomes().toSorted()).toEqual(['PrepareSlot 0 done', 'PrepareSlot b failed'])
    expect(reasonOf(SECOND)).toMatchObject({ final: true, reason: expect.stringContaining(`slot ${first.slot}`) })
    expect(await prepared()).toEqual([first.slot])
  })
  test('is not released either, because the driver would release the function of the first', async () => {
    await lab.boot()
    const first = lab.order('PrepareSlot', 1)
    await lab.send(first, lab.order('PrepareSlot', 1, { slot: SECOND }), lab.order('ReleaseSlot', 2, { slot: SECOND }))
    expect(outcomes().toSorted()).toEqual(['PrepareSlot 0 done', 'ReleaseSlot b failed'])
    expect(reasonOf(SECOND)?.final).toBe(true)
    expect(await prepared()).toEqual([first.slot])
  })
  test('is prepared once the first is released', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { slot: SECOND }))
    await lab.send(lab.order('ReleaseSlot', 2))
    await lab.send(lab.order('PrepareSlot', 3, { slot: SECOND }))
    expect(outcomes().slice(-2)).toEqual(['ReleaseSlot 0 done', 'PrepareSlot b done'])
    expect(await prepared()).toEqual([SECOND])
  })
  test('is refused after a kill of the host too, and after the ledger was cleaned', async () => {
    const host = await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.kill(host)
    await lab.boot({ options: { ledgerKeepMs: 1000, reportEveryMs: 5000 } })
    lab.driver.control.unplug(0)
    await lab.clock.pass(20_000)
    lab.driver.control.replug(0)
    await lab.send(lab.order('PrepareSlot', 1, { slot: SECOND }))
    expect(outcomes().at(-1)).toBe('PrepareSlot b failed')
  })
  test('is refused while the first is still being prepared', async () => {
    lab.driver.control.faults.delayMs = 1000
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { slot: SECOND }))
    await lab.clock.pass(3000)
    expect(outcomes().toSorted()).toEqual(['PrepareSlot 0 done', 'PrepareSlot b failed'])
  })
  test('is refused after a failure in which the driver may have touched the hardware, until a release', async () => {
    lab.driver.control.faults.failPrepare = 1
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.send(lab.order('PrepareSlot', 1, { slot: SECOND }))
    expect(lastReason()?.reason).toContain('is prepared for slot')
    lab.driver.control.faults.failPrepare = 0
    await lab.send(lab.order('ReleaseSlot', 2))
    await lab.send(lab.order('PrepareSlot', 2, { slot: SECOND }))
    expect(outcomes().at(-1)).toBe('PrepareSlot b done')
  })
  test('is prepared after a failure that came before the driver: nothing was touched', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1, { deadline: lab.clock.now() - 1 }))
    await lab.send(lab.order('PrepareSlot', 1, { slot: SECOND }))
    expect(outcomes()).toEqual(['PrepareSlot 0 failed', 'PrepareSlot b done'])
  })
  test('another function of the same device is not concerned', async () => {
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { unit: 1 }))
    expect(outcomes()).toEqual(['PrepareSlot 0 done', 'PrepareSlot 0 done'])
  })
})

describe('a ledger of release 0.2.0, which did not write whether a slot is prepared', () => {
  test.each([
    ['a done preparation', 'PrepareSlot', { status: 'done' }, 'failed'],
    ['a preparation without a result', 'PrepareSlot', undefined, 'failed'],
    ['a failed release', 'ReleaseSlot', { status: 'failed', reason: 'no', final: false }, 'failed'],
    ['a done release', 'ReleaseSlot', { status: 'done' }, 'done'],
  ])('%s: a second slot is then %s', async (_, type, result, wanted) => {
    const { slot, driver, deployable, deployableUuid } = lab.order('PrepareSlot', 1)
    const { type: kind, info } = lab.devices[0]!.deployables[0]!.handles[0]!
    const entry = {
      ...{ slot, number: 1, type, driver, deployable, deployableUuid, handle: JSON.stringify([kind, info]) },
      ...{ state: result ? 'done' : 'in-hand', startedAt: 1, finishedAt: 1, sent: true, ...(result ? { result } : {}) },
    }
    await lab.disk.replace('/state/ledger.jsonl', `{"ledger":1,"host":"h1"}\n${JSON.stringify(entry)}\n`)
    await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1, { slot: SECOND }))
    expect(lab.results().at(-1)!.result.status).toBe(wanted)
  })
})

describe('FENCE-2 a physical function and its virtual functions', () => {
  const address = (fn: string) => ({ domain: '0000', bus: '3b', device: '00', function: fn })
  /** One card whose physical function and one virtual function are both offered. */
  const withFamily = (driver: Driver): Driver => ({
    ...driver,
    discover: async (io) => {
      const [first, ...others] = await driver.discover(io)
      const [deployable] = first!.deployables
      const handles = [
        { type: 'PCI' as const, info: address('0') },
        { type: 'PCI' as const, info: address('1'), physfn: '0000:3b:00.0' },
      ]
      return [{ ...first!, deployables: [{ ...deployable!, handles }] }, ...others]
    },
    prepare: async () => {},
    release: async () => {},
  })
  const orderFor = (slot: string, fn: string) =>
    lab.order('PrepareSlot', 1, { slot, handle: { type: 'PCI', info: address(fn) } } as object)
  const attempts = async (first: string, second: string) => {
    await lab.boot({ drivers: [withFamily(lab.driver)] })
    await quiet()
    await lab.send(orderFor(SECOND, first))
    await lab.send(orderFor(THIRD, second))
    return outcomes()
  }

  test('are the same hardware: a virtual function is refused while its physical function is prepared', async () => {
    expect(await attempts('0', '1')).toEqual(['PrepareSlot b done', 'PrepareSlot c failed'])
  })
  test('and the physical function while one of its virtual functions is prepared', async () => {
    expect(await attempts('1', '0')).toEqual(['PrepareSlot b done', 'PrepareSlot c failed'])
  })
})

describe('FENCE-5 a deployable', () => {
  test('is not programmed while a slot of it is prepared, by no order', async () => {
    await lab.boot()
    const first = lab.order('PrepareSlot', 1)
    await lab.send(first, lab.order('Program', 2, { image: IMAGE }))
    expect(outcomes()).toEqual(['PrepareSlot 0 done', 'Program 0 failed'])
    const reason = `is not programmed: its slot ${first.slot} is prepared for accelerator request`
    expect(lastReason()).toMatchObject({ final: true, reason: expect.stringContaining(reason) })
    await lab.send(lab.order('PrepareSlot', 3, { unit: 1, bitstream: IMAGE }))
    expect(lastReason()).toMatchObject({ final: true, reason: expect.stringContaining('is not programmed') })
    expect((await lab.effects()).loaded).toEqual({})
    // another deployable is, and this one once nothing of it is prepared
    await lab.send(lab.order('Program', 1, { image: IMAGE, device: 1 }), lab.order('ReleaseSlot', 4))
    await lab.send(lab.order('Program', 5, { image: IMAGE }))
    expect(outcomes().slice(-3).toSorted()).toEqual(['Program 0 done', 'Program 0 done', 'ReleaseSlot 0 done'])
    expect(Object.keys((await lab.effects()).loaded)).toHaveLength(2)
  })
  const mates = (image: string = IMAGE): Order[] => [
    lab.order('PrepareSlot', 1, { bitstream: IMAGE }),
    lab.order('PrepareSlot', 2, { unit: 1, bitstream: image }),
  ]
  test('is programmed once for the slots of one bind, also while the others wait for it', async () => {
    await lab.boot()
    // both orders are in hand before the first of them programs
    lab.driver.control.faults.delayMs = 1000
    await lab.send(...mates())
    await lab.clock.pass(10_000)
    expect(outcomes()).toEqual(['PrepareSlot 0 done', 'PrepareSlot 0 done'])
    const { prepared, loaded } = await lab.effects()
    expect([Object.keys(prepared).length, Object.values(loaded)]).toEqual([2, [IMAGE]])
  })
  test('is programmed for the slots of one bind after a kill in the middle of it', async () => {
    const host = await lab.boot()
    lab.driver.control.faults.delayMs = 1000
    await lab.send(...mates())
    await lab.kill(host)
    await lab.boot()
    lab.driver.control.faults.delayMs = 0
    await lab.send(...mates().toReversed())
    await lab.clock.pass(5000)
    expect(outcomes().slice(-2)).toEqual(['PrepareSlot 0 done', 'PrepareSlot 0 done'])
  })
  test('is not programmed with another image while a slot waits for its own', async () => {
    await lab.boot()
    lab.driver.control.faults.delayMs = 1000
    const [first, second] = mates('another-image')
    await lab.send(first!)
    await lab.send(second!)
    await lab.clock.pass(10_000)
    expect(outcomes().toSorted()).toEqual(['PrepareSlot 0 done', 'PrepareSlot 0 failed'])
  })
  test('is programmed where its slots show no function that is prepared, whether or not it needs other work on its host', async () => {
    const bare = lab.driver
    const discover: Driver['discover'] = async (io) => {
      const devices = await bare.discover(io)
      return devices.map((device) => ({
        ...device,
        deployables: device.deployables.map((one) => ({ ...one, ...shown })),
      }))
    }
    let shown: object = { hostWork: false }
    await lab.boot({ drivers: [{ ...bare, discover }] })
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    await lab.send(lab.order('Program', 2))
    expect(outcomes()).toEqual(['PrepareSlot 0 done', 'Program 0 failed'])
    shown = {}
    await lab.send(lab.order('Program', 3))
    expect(outcomes().at(-1)).toBe('Program 0 failed')
    shown = { name: 'another' }
    await lab.send(lab.order('Program', 4))
    expect(lastReason()).toMatchObject({ final: false, reason: expect.stringContaining('does not show') })
    shown = { handles: [] }
    await lab.send(lab.order('Program', 5))
    expect(outcomes().at(-1)).toBe('Program 0 done')
  })
  test('is programmed for the slot itself that was prepared before the kill, and needs no programming for a second slot', async () => {
    const host = await lab.boot()
    lab.driver.control.faults.delayMs = 1000
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    await lab.kill(host)
    await lab.boot()
    lab.driver.control.faults.delayMs = 0
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    await lab.send(lab.order('PrepareSlot', 2, { bitstream: IMAGE, unit: 1 }))
    await lab.clock.pass(5000)
    expect(outcomes().slice(-2)).toEqual(['PrepareSlot 0 done', 'PrepareSlot 0 done'])
  })
})
