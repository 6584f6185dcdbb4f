/** What follows from the report of a host, to the letter. */
import { describe, expect, it } from 'vitest'
import { cardOf } from '../../src/card.ts'
import type { HeldDevice, Host } from '../../src/actors/host/decider.ts'
import { host as hostDecider } from '../../src/actors/host/decider.ts'
import { digestOf } from '../../src/actors/inventory/digest.ts'
import { type Agreement, reconcile } from '../../src/actors/inventory/reconcile.ts'
import type { Handles } from '../../src/actors/inventory/rivalry.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'

type Part = { readonly bus: string; readonly physfn?: string }
const info = ({ bus }: Part) => ({ domain: '0000', bus, device: '00', function: '0' })
const handle = (part: Part) => ({ type: 'PCI', info: info(part), ...(part.physfn ? { physfn: part.physfn } : {}) })
/** Its control path is `{"path":NAME}`, its only deployable is called like it. */
const device = (path: string, part: Part, more: object = {}, name = path): ReportedDevice =>
  ({
    type: 'FPGA',
    vendor: '1bf2',
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI', info: `{"path": "${path}"}` },
    deployables: [
      {
        name,
        numAccelerators: 1,
        driverName: 'd',
        attributes: [{ key: 'rc', value: 'FPGA' }],
        handles: [handle(part)],
        hostWork: true,
        programmable: false,
      },
    ],
    ...more,
  }) as ReportedDevice
const canonical = (path: string) => `{"path":"${path}"}`
const [one, two] = [device('p1', { bus: '01' }), device('p2', { bus: '02' })]

type Section = InventoryReport['drivers'][number]
const ok = (driver: string, ...devices: readonly ReportedDevice[]): Section => ({ driver, status: 'ok', devices })
const failed = (driver: string): Section => ({ driver, status: 'failed', error: 'e' })
const report = (...drivers: readonly Section[]) => ({ drivers }) as unknown as InventoryReport

const known = (reported: ReportedDevice, more: Partial<HeldDevice> = {}, driver = 'a'): HeldDevice => ({
  uuid: `uuid of ${reported.deployables[0]!.name}`,
  id: 1,
  driver,
  digest: digestOf(driver, reported),
  missing: 0,
  card: cardOf(reported),
  deployables: { [reported.deployables[0]!.name]: 'd' },
  ...more,
})
const hostOf = (devices: Readonly<Record<string, HeldDevice>>, more: object = {}): Host => ({
  ...hostDecider.initial,
  exists: true,
  devices: mapped(devices),
  ...more,
})
const mapped = (devices: Readonly<Record<string, HeldDevice>>) =>
  Object.fromEntries(Object.entries(devices).map(([path, held]) => [canonical(path), held]))
/** What is recorded of the hardware of a device, and who has it. */
const recorded = (
  path: string,
  part: Part,
  state: string,
): readonly [string, Handles extends ReadonlyMap<string, infer H> ? H : never] =>
  [canonical(path), [{ ...handle(part), uuid: `h of ${path}`, state }]] as never
const handles = (...all: readonly (readonly [string, unknown])[]): Handles => new Map(all as never)

const shown = (reported: ReportedDevice, driver = 'a') => ({
  canonical: reported.controlPath.info.replace(': ', ':'),
  driver,
  device: reported,
  digest: digestOf(driver, reported),
  card: cardOf(reported),
})
const records = (reported: ReportedDevice, driver = 'a') => ({ do: 'record', shown: shown(reported, driver) })
const describes = (reported: ReportedDevice, held: HeldDevice) => ({ do: 'describe', shown: shown(reported), held })
const gone = (path: string, held: HeldDevice, missing = 1, isThere = false) => ({
  do: 'gone',
  canonical: canonical(path),
  held,
  missing,
  isThere,
})
const refuses = (path: string, reason: string) => ({ canonical: canonical(path), reason })
const partsAt = (...buses: readonly string[]) =>
  buses.map((bus, at) => ({ ...one.deployables[0]!, name: `n${at + 1}`, handles: [handle({ bus })] }))
const twins = device('p1', { bus: '01' }, { deployables: partsAt('01', '03') })
const stub = device('p1', { bus: '01' }, { stub: true })
const classless = device('p1', { bus: '01' }, { deployables: [{ ...one.deployables[0]!, attributes: [] }] })
const NO_CLASS = 'deployable p1 needs an attribute rc'
const virtual = device('v1', { bus: '09', physfn: '0000:01:00.0' })
const oddParent = device('p1', { bus: '01', physfn: 'nowhere' })
const changed = device('p1', { bus: '01' }, { model: 'n' })
const PARTS = 'function 0000:01:00.0 is offered or attached already'

type Case = readonly [
  what: string,
  host: Host,
  report: InventoryReport,
  steps: readonly unknown[],
  refused?: readonly unknown[],
  handles?: Handles,
]
const plain: readonly Case[] = [
  ['nothing is shown and nothing known', hostOf({}), report(ok('a')), []],
  ['two are new', hostOf({}), report(ok('a', one), ok('b', two)), [records(one), records(two, 'b')]],
  ['one is as it was', hostOf({ p1: known(one) }), report(ok('a', one)), []],
  ['one has changed', hostOf({ p1: known(one) }), report(ok('a', changed)), [describes(changed, known(one))]],
  [
    'one is shown again',
    hostOf({ p1: known(one, { missing: 1 }) }),
    report(ok('a', one)),
    [describes(one, known(one, { missing: 1 }))],
  ],
  ['one is missing', hostOf({ p1: known(one), p2: known(two) }), report(ok('a', two)), [gone('p1', known(one))]],
  [
    'one is missing again',
    hostOf({ p1: known(one, { missing: 4 }) }),
    report(ok('a')),
    [gone('p1', known(one, { missing: 4 }), 5)],
  ],
  ['the driver of one failed', hostOf({ p1: known(one) }), report(failed('a'), ok('b')), []],
  ['the driver of one is not in the report', hostOf({ p1: known(one) }), report(ok('b')), []],
  ['one is not ready, and unknown', hostOf({}), report(ok('a', stub)), []],
  ['one is not ready, and known', hostOf({ p1: known(one) }), report(ok('a', stub)), []],
  ['one is not ready, and was missing', hostOf({ p1: known(one, { missing: 1 }) }), report(ok('a', stub)), []],
  [
    'the host is retired',
    hostOf({ p1: known(one) }, { retired: { by: 'op', reason: 'r', at: 1 } }),
    report(ok('a', two)),
    [{ do: 'take out', canonical: canonical('p1'), held: known(one) }],
  ],
]
const unfitting: readonly Case[] = [
  [
    'one cannot be recorded, the other can',
    hostOf({}),
    report(ok('a', classless, two)),
    [records(two)],
    [refuses('p1', NO_CLASS)],
  ],
  [
    'a known one cannot be recorded any more',
    hostOf({ p1: known(one) }),
    report(ok('a', classless)),
    [],
    [refuses('p1', NO_CLASS)],
  ],
  [
    'one is shown by two drivers',
    hostOf({}),
    report(ok('a', one), ok('b', one)),
    [records(one)],
    [refuses('p1', 'b shows a control path that a shows too')],
  ],
  [
    'one is shown by two drivers, and the second cannot be recorded',
    hostOf({}),
    report(ok('a', one), ok('b', classless)),
    [records(one)],
    [refuses('p1', 'b shows a control path that a shows too')],
  ],
  [
    'two have one name',
    hostOf({}),
    report(ok('a', one, device('p2', { bus: '02' }, {}, 'p1'))),
    [records(one)],
    [refuses('p2', 'deployable name p1 is on this host already')],
  ],
  [
    'two have two names in common: the first is named',
    hostOf({}),
    report(ok('a', twins, device('p2', { bus: '02' }, { deployables: partsAt('02', '04') }))),
    [records(twins)],
    [refuses('p2', 'deployable name n1 is on this host already')],
  ],
  [
    'a new one has the name of a known one that comes later',
    hostOf({ p1: known(one) }),
    report(ok('a', device('p2', { bus: '02' }, {}, 'p1'), one)),
    [],
    [refuses('p2', 'deployable name p1 is on this host already')],
  ],
  [
    'two are the same hardware',
    hostOf({}),
    report(ok('a', one, device('p2', { bus: '01' }))),
    [records(one)],
    [refuses('p2', PARTS)],
  ],
  [
    'a new one is the hardware of a known one that comes later',
    hostOf({ p2: known(two) }),
    report(ok('a', device('p1', { bus: '02' }), two)),
    [],
    [refuses('p1', 'function 0000:02:00.0 is offered or attached already')],
  ],
  [
    'virtual functions come before the whole that is shown first',
    hostOf({}),
    report(ok('a', one, virtual)),
    [records(virtual)],
    [refuses('p1', 'parts of function 0000:01:00.0 are offered or attached already')],
  ],
  [
    'virtual functions come before the whole that is known, which is given up',
    hostOf({ p1: known(one) }),
    report(ok('a', one, virtual)),
    [records(virtual), gone('p1', known(one))],
    [refuses('p1', 'parts of function 0000:01:00.0 are offered or attached already')],
  ],
]
const toB = 'it belongs to a, which fails at present'
const drivers: readonly Case[] = [
  [
    'a device stays with its driver while that fails, though another one shows it',
    hostOf({ p1: known(one) }),
    report(failed('a'), ok('b', one)),
    [],
    [refuses('p1', toB)],
  ],
  [
    'a device of a driver that is not enabled any more goes to the one that shows it',
    hostOf({ p1: known(one) }),
    report(ok('b', one)),
    [{ do: 'describe', shown: shown(one, 'b'), held: known(one) }],
  ],
  [
    'a device that was gone already goes to the one that shows it',
    hostOf({ p1: known(one, { missing: 1 }) }),
    report(failed('a'), ok('b', one)),
    [{ do: 'describe', shown: shown(one, 'b'), held: known(one, { missing: 1 }) }],
  ],
  [
    'of two drivers that show a device it stays with the one that has it, wherever that stands in the list',
    hostOf({ p1: known(one) }),
    report(ok('b', one), ok('a', one)),
    [],
    [refuses('p1', 'b shows a control path that a shows too')],
  ],
]
const twice = [changed, device('p2', { bus: '02' })] as const
const having: readonly Case[] = [
  [
    'one that is shown twice was hardware that another one is now',
    hostOf({ p1: known(one) }),
    report(ok('a', ...twice), ok('b', one)),
    [describes(changed, known(one)), records(twice[1])],
    [refuses('p1', 'b shows a control path that a shows too')],
    handles(recorded('p1', { bus: '02' }, 'free')),
  ],
  [
    'a new one is hardware that somebody has',
    hostOf({ p9: known(device('p9', { bus: '01' })) }),
    report(ok('a', one)),
    [gone('p9', known(device('p9', { bus: '01' })), 1, true)],
    [refuses('p1', PARTS)],
    handles(recorded('p9', { bus: '01' }, 'held')),
  ],
  [
    'a new one is hardware that nobody has any more',
    hostOf({ p9: known(device('p9', { bus: '01' })) }),
    report(ok('a', one)),
    [records(one), gone('p9', known(device('p9', { bus: '01' })))],
    [],
    handles(recorded('p9', { bus: '01' }, 'free')),
  ],
  [
    'a new one is hardware of one whose driver failed',
    hostOf({ p9: known(device('p9', { bus: '01' }), {}, 'b') }),
    report(ok('a', one), failed('b')),
    [],
    [refuses('p1', PARTS)],
    handles(recorded('p9', { bus: '01' }, 'free')),
  ],
  [
    'a new one is hardware of one that is not ready',
    hostOf({ p9: known(device('p9', { bus: '01' })) }),
    report(ok('a', device('p9', { bus: '01' }, { stub: true }), one)),
    [],
    [refuses('p1', PARTS)],
    handles(recorded('p9', { bus: '01' }, 'free')),
  ],
  [
    'a new one names a physical function that is none',
    hostOf({}),
    report(ok('a', oddParent, two)),
    [records(two)],
    [refuses('p1', "deployable p1 names a physical function 'nowhere', which is not a PCI address")],
  ],
  [
    'a new one is hardware of one that cannot be recorded any more',
    hostOf({ p9: known(device('p9', { bus: '01' })) }),
    report(
      ok(
        'a',
        device('p9', { bus: '01' }, { deployables: [{ ...one.deployables[0]!, name: 'p9', attributes: [] }] }),
        one,
      ),
    ),
    [],
    [refuses('p9', 'deployable p9 needs an attribute rc'), refuses('p1', PARTS)],
    handles(recorded('p9', { bus: '01' }, 'free')),
  ],
  [
    'a new one is hardware of one that was missing, whose driver failed',
    hostOf({ p9: known(device('p9', { bus: '01' }), { missing: 1 }, 'b') }),
    report(ok('a', one), failed('b')),
    [records(one)],
    [],
    handles(recorded('p9', { bus: '01' }, 'free')),
  ],
  [
    'one that is refused for its name was hardware that another one is now',
    hostOf({ p2: known(two), p3: known(device('p3', { bus: '03' })) }),
    report(ok('a', device('p2', { bus: '05' }, {}, 'p3'), device('p3', { bus: '02' }))),
    [describes(device('p3', { bus: '02' }), known(device('p3', { bus: '03' }))), gone('p2', known(two))],
    [refuses('p2', 'deployable name p3 is on this host already')],
    handles(recorded('p2', { bus: '02' }, 'free'), recorded('p3', { bus: '03' }, 'free')),
  ],
  [
    'one that is refused for its name is no hardware of others',
    hostOf({ p2: known(two), p3: known(device('p3', { bus: '03' })) }),
    report(ok('a', device('p2', { bus: '05' }, {}, 'p3'), device('p3', { bus: '03' }))),
    [],
    [refuses('p2', 'deployable name p3 is on this host already')],
    handles(recorded('p2', { bus: '02' }, 'free'), recorded('p3', { bus: '03' }, 'free')),
  ],
]

describe('from the report of a host follows', () => {
  it.each([...plain, ...unfitting, ...drivers, ...having].map((one) => [one[0], one] as const))(
    'what is to be done when %s',
    (_, [, host, said, steps, refused = [], had]) => {
      expect(reconcile(host, said, had && { present: had, departed: new Map() })).toEqual({
        steps,
        refused,
      } as Agreement)
    },
  )
  it.each([
    ['quarantined', [], [refuses('p1', PARTS)]],
    ['held', [], [refuses('p1', PARTS)]],
    ['missing', [records(one)], []],
    ['free', [records(one)], []],
  ])('what is to be done when a new one is hardware of a device that left, which is %s', (state, steps, refused) => {
    const departed = handles(recorded('p9', { bus: '01' }, state))
    const agreed = reconcile(hostOf({}), report(ok('a', one)), { present: new Map(), departed })
    expect(agreed).toEqual({ steps, refused } as Agreement)
  })
  it('no more looks at each recorded device where there are many', () => {
    const many = Array.from({ length: 200 }, (_, n) => device(`p${n}`, { bus: n.toString(16).padStart(2, '0') }))
    let looks = 0
    const watched = (held: HeldDevice): HeldDevice => Object.defineProperty(held, 'first', { get: () => void looks++ })
    const host = hostOf(Object.fromEntries(many.map((each, n) => [`p${n}`, watched(known(each))])))
    expect(reconcile(host, report(ok('a', ...many))).steps).toEqual([])
    expect(looks).toBeLessThan(10 * many.length)
  })
})
