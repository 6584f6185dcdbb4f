/** One driver's discoveries and their limits, and which hardware they say belongs together. */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import { handleKey } from '../../src/host/entry.ts'
import { Atlas, type Section, Watch, type WatchOptions, failure, fitting } from '../../src/host/sections.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { handClock, quiet } from '../support/lab.ts'

const device = (
  info: string,
  handles: ReportedDevice['deployables'][number]['handles'] = [],
  name = 'h1_card',
): ReportedDevice => ({
  type: 'GPU',
  vendor: '10de',
  model: 'm',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info },
  deployables: [
    { name, numAccelerators: 1, driverName: 'pci', attributes: [], handles, hostWork: false, programmable: false },
  ],
})
const ok = (driver: string, devices: readonly ReportedDevice[]): Section => ({
  driver,
  status: 'ok',
  devices: [...devices],
})
const failed = (error: string): Section => ({ driver: 'd', status: 'failed', error })
const LIMIT_MS = 1000
const watching = (driver: Partial<Driver>, heldBack: WatchOptions['heldBack'] = () => null) => {
  const clock = handClock()
  const io = recordedHostIo({}, 'h1')
  const whole: Driver = {
    name: 'd',
    discover: async () => [],
    prepare: async () => undefined,
    release: async () => undefined,
    ...driver,
  }
  const watch = new Watch(whole, { io, clock, limitMs: LIMIT_MS, heldBack })
  let seen = false
  void watch.seen.then(() => (seen = true))
  return { clock, io, watch, isSeen: async () => (await quiet(), seen) }
}

describe('a discovery', () => {
  test('gives the devices as a report takes them, and is seen then', async () => {
    const { watch, isSeen } = watching({ discover: async () => [device('{}')] })
    expect([watch.name, await isSeen()]).toEqual(['d', false])
    expect(await watch.look()).toEqual(ok('d', [device('{}')]))
    expect(await isSeen()).toBe(true)
  })
  test('of more than a thousand devices fails', async () => {
    const many = (count: number) => watching({ discover: async () => Array(count).fill(device('{}')) }).watch.look()
    expect((await many(1000)).status).toBe('ok')
    expect(await many(1001)).toEqual(failed(expect.stringMatching(/^reported what no report may hold: devices: /)))
  })
  test.each<[unknown, string]>([
    [new Error('no sysfs'), 'no sysfs'],
    [new Error(''), 'failed without a reason'],
    [new Error(`${'x'.repeat(2000)}y`), 'x'.repeat(2000)],
  ])('that fails is told with its reason, and is seen all the same: case %#', async (thrown, reason) => {
    const { watch, isSeen } = watching({ discover: () => Promise.reject(thrown) })
    expect([await watch.look(), await isSeen()]).toEqual([failed(reason), true])
  })
  test('that does not end in time is given up; until it ends, none is begun, however many are asked for', async () => {
    const gates: PromiseWithResolvers<readonly ReportedDevice[]>[] = []
    const { watch, clock, isSeen } = watching({
      discover: () => {
        gates.push(Promise.withResolvers())
        return gates.at(-1)!.promise
      },
    })
    const [first, second] = [watch.look(), watch.look()]
    await clock.pass(LIMIT_MS - 1)
    expect([await isSeen(), gates.length]).toEqual([false, 1])
    await clock.pass(1)
    const NOT_ENDED = failed('the discovery before this one has not ended yet')
    expect([await first, await second]).toEqual([failed('did not answer within 1000 ms'), NOT_ENDED])
    expect([await watch.look(), await isSeen(), gates.length]).toEqual([NOT_ENDED, true, 1])
    gates[0]!.resolve([])
    await quiet()
    const third = watch.look()
    await quiet()
    gates[1]!.resolve([device('{}')])
    expect(await third).toEqual(ok('d', [device('{}')]))
  })
  test('follows the one before it', async () => {
    const steps: string[] = []
    const gate = Promise.withResolvers<void>()
    const { watch } = watching({
      discover: async () => {
        steps.push('begun')
        await gate.promise
        steps.push('ended')
        return []
      },
    })
    const looks = [watch.look(), watch.look()]
    await quiet()
    expect(steps).toEqual(['begun'])
    gate.resolve()
    await Promise.all(looks)
    expect(steps).toEqual(['begun', 'ended', 'begun', 'ended'])
  })
  test('is not begun while the driver is held back; one that is held back for long counts as seen', async () => {
    let held: { readonly reason: string; readonly isOver: boolean } | null = { reason: 'it is set up', isOver: false }
    const { watch, isSeen } = watching({}, () => held)
    expect([await watch.look(), await isSeen()]).toEqual([failed('it is set up'), false])
    held = { reason: 'its set-up failed', isOver: true }
    expect([await watch.look(), await isSeen()]).toEqual([failed('its set-up failed'), true])
    held = null
    expect(await watch.look()).toEqual(ok('d', []))
  })
  test('comes after what a restart has undone is made again, until that is whole', async () => {
    const steps: unknown[] = []
    const answers = [false, true]
    const { watch } = watching({
      restore: async (_io, signal) => {
        steps.push(signal.aborted)
        return answers.shift()!
      },
      discover: async () => (steps.push('discover'), []),
    })
    for (let n = 0; n < 3; n++) await watch.look()
    expect(steps).toEqual([false, 'discover', false, 'discover', 'discover'])
  })
  test('that hangs while it makes things again is told to end', async () => {
    const signals: AbortSignal[] = []
    const { watch, clock } = watching({
      restore: (_io, signal) => {
        signals.push(signal)
        return new Promise(() => undefined)
      },
    })
    const look = watch.look()
    await clock.pass(LIMIT_MS)
    expect([await look, (signals[0]!.reason as Error).message]).toEqual([
      failed('did not answer within 1000 ms'),
      'no end within 1000 ms',
    ])
  })
})

describe('what is in use', () => {
  const USED = [{ type: 'PCI' as const, info: {}, by: 'a guest' }]
  test('is what the driver says, or nothing where it cannot tell', async () => {
    expect(await watching({ inUse: async () => USED }).watch.inUse()).toEqual(USED)
    expect(await watching({}).watch.inUse()).toBe(null)
  })
  test('is not asked while the driver is held back, or a discovery has not ended', async () => {
    const held = { reason: 'no', isOver: true }
    expect(await watching({ inUse: async () => USED }, () => held).watch.inUse()).toBe(null)
    const { watch, clock } = watching({ inUse: async () => USED, discover: () => new Promise(() => undefined) })
    void watch.look()
    expect(await watch.inUse()).toEqual(USED)
    await clock.pass(LIMIT_MS)
    expect(await watch.inUse()).toBe(null)
  })
  test('is an error where the driver fails, or does not answer in time', async () => {
    await expect(watching({ inUse: () => Promise.reject(new Error('no')) }).watch.inUse()).rejects.toThrow('no')
    const { watch, clock } = watching({ inUse: () => new Promise(() => undefined) })
    const asked = expect(watch.inUse()).rejects.toThrow('no answer within 1000 ms')
    await clock.pass(LIMIT_MS)
    await asked
  })
})

test('a report that is too long loses its biggest sections, each with its size, until it fits', () => {
  const sections = [
    ok('small', [device('a')]),
    ok('big', [device('b'), device('c')]),
    ok('bigger', Array(5).fill(device('d'))),
  ]
  const sizes = sections.map((one) => Buffer.byteLength(JSON.stringify(one))) as [number, number, number]
  const total = sizes[0] + sizes[1] + sizes[2]
  const told = (driver: string, bytes: number, most: number) =>
    failure(driver, `its inventory of ${bytes} bytes does not fit into a report of ${most}`)
  expect(fitting(sections, total)).toBe(sections)
  expect(fitting(sections, total - 1)).toEqual([sections[0], sections[1], told('bigger', sizes[2], total - 1)])
  const most = sizes[0] + 300
  expect(fitting(sections, most)).toEqual([sections[0], told('big', sizes[1], most), told('bigger', sizes[2], most)])
  const none = [failed('a'), failed('b')]
  expect(fitting(none, 1)).toBe(none)
  expect(fitting([], 0)).toEqual([])
})

describe('the atlas', () => {
  const address = (fn: string) => ({ domain: '0000', bus: 'af', device: '00', function: fn })
  const pci = (fn: string, physfn?: string) => ({
    type: 'PCI' as const,
    info: address(fn),
    ...(physfn === undefined ? {} : { physfn }),
  })
  const mdev = (mark: string) => ({
    type: 'MDEV' as const,
    info: { ...address('3'), asked_type: 't', vgpu_mark: mark },
  })
  test('knows the device of a deployable and its handles, as its driver has shown them last', () => {
    const atlas = new Atlas()
    atlas.note(ok('one', [device('first', [pci('1')]), device('second', [pci('2')], 'h1_other')]))
    atlas.note(ok('two', [device('third')]))
    const key = (fn: string) => handleKey(pci(fn))
    expect([
      atlas.deviceOf('one', 'h1_card'),
      atlas.deviceOf('one', 'h1_other'),
      atlas.deviceOf('two', 'h1_card'),
    ]).toEqual(['first', 'second', 'third'])
    expect([atlas.deviceOf('one', 'nobody'), atlas.deviceOf('three', 'h1_card')]).toEqual([null, null])
    const holds = (driver: string, name: string, ...keys: readonly string[]) =>
      keys.map((one) => atlas.holds(driver, name, one))
    expect(holds('one', 'h1_card', '', key('1'), key('2'))).toEqual([true, true, false])
    expect([...holds('one', 'nobody', ''), ...holds('three', 'h1_card', '')]).toEqual([false, false])
    // a discovery that failed says nothing, the next one all; where a deployable was is still known (ORDERS-4)
    atlas.note({ driver: 'one', status: 'failed', error: 'no' })
    expect(atlas.deviceOf('one', 'h1_card')).toBe('first')
    atlas.note(ok('one', []))
    expect([
      atlas.deviceOf('one', 'h1_card'),
      atlas.holds('one', 'h1_card', ''),
      atlas.deviceOf('two', 'h1_card'),
    ]).toEqual(['first', false, 'third'])
    atlas.note(ok('one', [device('moved')]))
    expect([atlas.deviceOf('one', 'h1_card'), atlas.deviceOf('one', 'h1_other')]).toEqual(['moved', 'second'])
  })
  test('knows which functions are the same hardware, whichever driver shows them', () => {
    const atlas = new Atlas()
    const [PF, ONE, TWO, THREE] = ['0', '1', '2', '3'].map((fn) => `0000:af:00.${fn}`) as [
      string,
      string,
      string,
      string,
    ]
    atlas.note(
      ok('one', [device('a', [pci('0'), pci('1', '0000:AF:00.0'), pci('4', 'nonsense')]), device('b', [mdev('m')])]),
    )
    atlas.note(ok('two', [device('c', [pci('2', PF)])]))
    expect(atlas.shares(PF)).toEqual([ONE, TWO])
    expect([ONE, TWO, '0000:af:00.4'].map(atlas.shares)).toEqual([[PF], [PF], []])
    const [part] = atlas.shares(THREE)
    expect(part).toMatch(/^MDEV:/)
    expect(atlas.shares(part!)).toEqual([THREE])
    atlas.note(ok('one', []))
    expect([atlas.shares(PF), atlas.shares(THREE)]).toEqual([[TWO], []])
  })
})
