/** One order, carried out by its driver: what is called in which order, with what, and what becomes of each failure. */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDeployable, ReportedHandle } from '../../src/hardware.ts'
import { Final, type Tools, executeOrder } from '../../src/host/executeOrder.ts'
import type { Section } from '../../src/host/sections.ts'
import { type ImageProblem, noImage } from '../../src/images.ts'
import { untraced } from '../../src/trace.ts'
import type { Order } from '../../src/wire/orders.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { imageOf } from '../support/images.ts'

const [IMAGE, OTHER] = ['4a3bd0ae-0000-4000-8000-000000000001', '4a3bd0ae-0000-4000-8000-000000000002']
const INFO = { domain: '0000', bus: 'af', device: '00', function: '0' }
const head = { host: 'h1', slot: 's', number: 4, driver: 'd', deployable: 'card', deployableUuid: 'u', deadline: 9 }
const HANDLE = { type: 'PCI' as const, info: INFO }
type Prepare = Extract<Order, { type: 'PrepareSlot' }>
const prepare = (more: Partial<Prepare> = {}): Order => ({
  ...head,
  type: 'PrepareSlot',
  handle: HANDLE,
  arq: 'r',
  ...more,
})
const RELEASE: Order = { ...head, type: 'ReleaseSlot', handle: HANDLE }
const PROGRAM: Order = { ...head, type: 'Program', image: IMAGE }
const PROBE: Order = { ...head, type: 'Probe' }
const SLOT = { uuid: 's', deployable: 'card', type: 'PCI', info: INFO }
const deployable = (more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  ...{ name: 'card', numAccelerators: 1, driverName: 'd', hostWork: true, programmable: true },
  ...{ attributes: [{ key: 'board', value: 'N3000' }], handles: [HANDLE] },
  ...more,
})
const section = (...deployables: readonly ReportedDeployable[]): Section => ({
  driver: 'd',
  status: 'ok',
  devices: [
    {
      ...{ type: 'FPGA', vendor: '8086', model: 'm', stdBoardInfo: null, vendorBoardInfo: null },
      ...{ controlPath: { type: 'PCI', info: '{}' }, deployables: [...deployables] as never },
    },
  ],
})
const EVIDENCE = {
  ...{ command: '/x', startedAt: 1, finishedAt: 2, exitCode: 0, outputBytes: 0, output: '' },
  outputSha256: 'ab'.repeat(32),
}
type Given = {
  readonly shows?: Section | null
  readonly properties?: Readonly<Record<string, string>>
  readonly image?: ImageProblem
  readonly driver?: Partial<Driver>
  readonly cleans?: boolean
  readonly refuses?: (handles: readonly ReportedHandle[]) => string | null
  readonly also?: Parameters<typeof executeOrder>[2]['also']
  readonly abortOn?: string
}
const carryOut = async (order: Order, given: Given = {}) => {
  const { shows = section(deployable()), properties = {}, image, cleans = false, refuses, also = [], abortOn } = given
  const steps: string[] = []
  const abort = new AbortController()
  let now = 100
  const step = (text: string): void => {
    steps.push(text)
    now += 10.4
    if (abortOn !== undefined && text.startsWith(abortOn)) abort.abort(new Error('a newer order came'))
  }
  const io = recordedHostIo({}, 'h1')
  const is = (signal: AbortSignal): string => (signal === abort.signal ? '' : ' with another signal')
  const driver: Driver = {
    name: 'd',
    discover: async () => [],
    prepare: async (_io, slot, signal) => step(`prepare ${JSON.stringify(slot)}${is(signal)}`),
    release: async (_io, slot, signal) => step(`release ${JSON.stringify(slot)}${is(signal)}`),
    program: async (_io, name, path, signal, { functionId } = {}) =>
      step(`program ${name} ${path}${is(signal)}${functionId === undefined ? '' : ` does ${functionId}`}`),
    ...given.driver,
  }
  const tools: Tools = {
    drivers: new Map([['d', driver]]),
    io,
    images: {
      open: async (uuid, { signal, withinMs }) => {
        step(`open ${uuid} within ${withinMs}${is(signal)}`)
        if (image !== undefined) return noImage(image)
        return { found: true, image: { ...imageOf(uuid), properties }, path: '/image', close: () => step('close') }
      },
    },
    tracer: {
      ...untraced,
      part: (kind, name, parent, attributes) => {
        const span = [kind, name, parent ?? '-', JSON.stringify(attributes)].join(' ')
        return {
          trace: undefined,
          end: (failed) => steps.push(`${span} ended${failed === undefined ? '' : `: ${failed}`}`),
        }
      },
    },
    look: async (name) => {
      step(`look ${name}`)
      return shows
    },
    keepFunctions: async (name, { uuid }) => step(`keep ${name} ${uuid}`),
    cleaner: {
      policies: new Map(),
      clean: async ({ driver: name, number, slot }, signal) => {
        step(`clean ${name} ${number} ${JSON.stringify(slot)}${is(signal)}`)
        return cleans ? EVIDENCE : null
      },
    },
    clock: { monotonic: () => now },
  }
  const term = { signal: abort.signal, withinMs: 77, also, refusalToProgram: refuses }
  const outcome = await executeOrder(tools, order, term).then(
    (value) => value,
    (error: unknown) => `${error instanceof Final ? 'final' : 'not final'}: ${(error as Error).message}`,
  )
  return { outcome, steps }
}
const span = (call: string, failed?: string): string =>
  `internal driver ${call} - {"accelerando.driver":"d"} ended${failed === undefined ? '' : `: ${failed}`}`
const SLOT_TEXT = JSON.stringify(SLOT)
const LOADED = { fetchMs: 10, programMs: 21 }

describe('a preparation', () => {
  test('without an image is one call of the driver', async () =>
    expect(await carryOut(prepare())).toEqual({
      outcome: { changed: false },
      steps: [`prepare ${SLOT_TEXT}`, span('prepare')],
    }))
  test('of what the request has already says so to the driver', async () =>
    expect((await carryOut(prepare({ again: true }))).steps[0]).toBe(
      `prepare ${JSON.stringify({ ...SLOT, again: true })}`,
    ))
  test('whose card holds the image does not load it', async () => {
    for (const order of [prepare({ bitstream: IMAGE }), prepare({ expects: IMAGE })])
      expect(await carryOut(order, { shows: section(deployable({ bitstreamId: IMAGE })) })).toEqual({
        outcome: { changed: false, bitstreamId: IMAGE },
        steps: ['look d', `prepare ${SLOT_TEXT}`, span('prepare')],
      })
  })
  test('whose card holds another one loads it first, with what the image does', async () =>
    expect(
      await carryOut(prepare({ bitstream: IMAGE }), {
        shows: section(deployable({ bitstreamId: OTHER })),
        properties: { function_uuid: 'F-1' },
      }),
    ).toEqual({
      outcome: { changed: true, bitstreamId: IMAGE, loaded: LOADED },
      steps: [
        ...['look d', `open ${IMAGE} within 77`, `keep card ${IMAGE}`, 'program card /image does f-1', span('program')],
        ...['close', `prepare ${SLOT_TEXT}`, span('prepare')],
      ],
    }))
  test.each<[string, Section, string]>([
    ['another image', section(deployable({ bitstreamId: OTHER })), `holds ${OTHER}, not image ${IMAGE}`],
    ['no image', section(deployable()), `holds no known image, not image ${IMAGE}`],
    ['what nobody shows', section(), `holds no known image, not image ${IMAGE}`],
  ])('whose card holds %s than is expected fails for good', async (_, shows, reason) =>
    expect(await carryOut(prepare({ expects: IMAGE }), { shows })).toEqual({
      outcome: `final: image_changed: card ${reason}`,
      steps: ['look d'],
    }),
  )
  test('of a part of a card has the image of the nearest part above it that shows one', async () => {
    const below = [deployable({ parent: 'pf' }), deployable({ name: 'pf', parent: 'root' })]
    const holds = async (...all: readonly ReportedDeployable[]) =>
      (await carryOut(prepare({ expects: IMAGE }), { shows: section(...all) })).outcome
    const held = { changed: false, bitstreamId: IMAGE }
    const root = deployable({ name: 'root', bitstreamId: IMAGE })
    expect(await holds(...below, root)).toEqual(held)
    expect(await holds(...below.toReversed(), root)).toEqual(held)
    expect(await holds(below[0]!, { ...below[1]!, bitstreamId: OTHER }, root)).toContain(`holds ${OTHER}`)
    for (const circle of [deployable({ name: 'root', parent: 'pf' }), deployable({ name: 'root', parent: 'root' })])
      expect(await holds(...below, circle)).toContain('holds no known image')
  })
  test.each<[Section | null, string]>([
    [{ driver: 'd', status: 'failed', error: 'no sysfs' }, 'not final: no sysfs'],
    [null, 'not final: the driver d is not enabled on this host'],
  ])('whose card cannot be looked at fails: case %#', async (shows, outcome) =>
    expect((await carryOut(prepare({ expects: IMAGE }), { shows })).outcome).toBe(outcome),
  )
})

describe('a programming', () => {
  test('tells what the card holds then, and how long it took', async () =>
    expect((await carryOut(PROGRAM)).outcome).toEqual({ changed: true, bitstreamId: IMAGE, loaded: LOADED }))
  test('looks at the card where the image is for some hardware, or something is prepared', async () => {
    const looks = async (given: Given) => (await carryOut(PROGRAM, given)).steps.includes('look d')
    expect(await looks({})).toBe(false)
    expect(await looks({ properties: { board: 'N3000' } })).toBe(true)
    expect(await looks({ refuses: () => null })).toBe(true)
  })
  test('is refused by the functions of the card that are prepared', async () => {
    const seen: unknown[] = []
    const { outcome, steps } = await carryOut(PROGRAM, { refuses: (handles) => (seen.push(handles), 'it is prepared') })
    expect([outcome, seen, steps]).toEqual([
      'final: it is prepared',
      [[HANDLE]],
      [`open ${IMAGE} within 77`, 'look d', 'close'],
    ])
  })
  test('is refused for other hardware, in the words of a programming or of a bind', async () => {
    const unfit = { properties: { board: 'D5005' } }
    const reason = `final: image_unsuitable: image ${IMAGE} is made for other hardware: it is for board D5005, and this is N3000`
    expect((await carryOut(PROGRAM, unfit)).outcome).toBe(reason)
    expect((await carryOut(prepare({ bitstream: IMAGE }), unfit)).outcome).toBe(reason)
    expect((await carryOut(PROGRAM, { ...unfit, shows: section() })).outcome).toBe(
      'not final: the driver d does not show card',
    )
    const vendor = { properties: { vendor: 'Xilinx' } }
    expect((await carryOut(PROGRAM, vendor)).outcome).toContain('it is for vendor Xilinx')
  })
  test.each<[ImageProblem, string]>([
    ['unknown', 'final'],
    ['unavailable', 'not final'],
  ])('of an image that is %s fails, and is %s', async (image, how) => {
    const { outcome, steps } = await carryOut(PROGRAM, { image })
    expect(outcome).toMatch(new RegExp(`^${how}: image_${image}: `))
    expect(steps).toEqual([`open ${IMAGE} within 77`])
  })
  test('by a driver that cannot is refused before the image is fetched', async () => {
    const driver = { program: undefined } as unknown as Partial<Driver>
    expect(await carryOut(PROGRAM, { driver })).toEqual({ outcome: 'final: the driver d cannot program', steps: [] })
  })
  test('that fails closes the image, and tells the reason', async () => {
    const driver = { program: () => Promise.reject(new Error('no card')) }
    const { outcome, steps } = await carryOut(PROGRAM, { driver })
    expect([outcome, steps.slice(-2)]).toEqual(['not final: no card', [span('program', 'no card'), 'close']])
  })
})

describe('an order that is given up', () => {
  test('after its image was fetched does not touch the card', async () =>
    expect(await carryOut(PROGRAM, { abortOn: 'open' })).toEqual({
      outcome: 'not final: a newer order came',
      steps: [`open ${IMAGE} within 77`, 'close'],
    }))
  test('after its card was looked at is not prepared', async () =>
    expect(
      await carryOut(prepare({ expects: IMAGE }), {
        shows: section(deployable({ bitstreamId: IMAGE })),
        abortOn: 'look',
      }),
    ).toEqual({ outcome: 'not final: a newer order came', steps: ['look d'] }))
})

describe('a release', () => {
  const also = { uuid: 'other', deployable: 'card', type: 'PCI' as const, info: INFO }
  test('is that of the other slots first, and is cleaned at the end', async () => {
    const { outcome, steps } = await carryOut({ ...RELEASE, clean: true }, { also: [also], cleans: true })
    expect(outcome).toEqual({ changed: false, cleaned: EVIDENCE })
    expect(steps).toEqual([
      ...[`release ${JSON.stringify(also)}`, span('release'), `release ${SLOT_TEXT}`, span('release')],
      ...[`clean d 4 ${SLOT_TEXT}`, 'internal cleaning - {"accelerando.driver":"d"} ended'],
    ])
  })
  test('without a cleaner is done, unless it has to be cleaned', async () => {
    expect((await carryOut(RELEASE)).outcome).toEqual({ changed: false })
    expect((await carryOut({ ...RELEASE, clean: true })).outcome).toBe(
      'final: it has to be cleaned, and this host has neither a command nor a playbook for d',
    )
  })
})

test('a probe tells what the card holds', async () => {
  const outcome = async (shows: Section) => (await carryOut(PROBE, { shows })).outcome
  expect(await outcome(section(deployable({ bitstreamId: OTHER })))).toEqual({ changed: true, bitstreamId: OTHER })
  expect(await outcome(section(deployable()))).toStrictEqual({ changed: true })
  expect(await outcome(section())).toBe('not final: the driver d does not show card')
})

test('an order for a driver that is not enabled fails for good, and nothing is done', async () => {
  const order = { ...RELEASE, driver: 'other' }
  expect(await carryOut(order)).toEqual({
    outcome: 'final: the driver other is not enabled on this host',
    steps: [],
  })
})
