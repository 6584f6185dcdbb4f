/** Why a host does not fit, to the letter: each obstacle with its words and what it prevents. */
import { describe, expect, test } from 'vitest'
import { DEVICES_SHOWN, type Stop } from '../../src/actors/explain/answer.ts'
import { CHANGES } from '../../src/actors/explain/changes.ts'
import { type HostFacts, isOfInterest, judgeHost } from '../../src/actors/explain/host.ts'
import type { RequestedGroup } from '../../src/actors/explain/judge.ts'
import { type Fact, described, granted, order } from '../audit/cases/scene.ts'
import { FPGA, type Told, UP, asks, attributes, board, factsOf, inPlacement, obstacles, standing } from './explained.ts'

const found = (facts: HostFacts, asked: RequestedGroup = asks(FPGA)) => judgeHost([asked], facts).all[0]![0]!.obstacles
const PAIR = ['x1', 'x2', 'x3']
const CAN = 'attach handles that are asked for can be granted; it has'

describe('an obstacle of a device', () => {
  const quarantine: Fact = { type: 'HandleQuarantined', handle: 'a-2', until: 'released', by: 'op', reason: 'r' }
  const hidden: Fact = { type: 'DeployableDescribed', description: described(['a-1'], { hostWork: false }) }
  const programs: Fact = { type: 'ProgramStarted', image: 'i', order: order('uuid a', 1, { type: 'Program' }) }
  test.each<[string, HostFacts, RequestedGroup, readonly Told[]]>([
    ['none', factsOf([board('a')]), asks(FPGA), []],
    ['none, of its last image', factsOf([board('a')]), asks(FPGA, ['x1'], { bitstream: 'image' }), []],
    [
      'no image',
      factsOf([board('a', {}, granted('a-1'), granted('a-2'))]),
      asks(FPGA, ['x1'], { refusal: 'there is no image' }),
      [
        ['image', 'there is no image', 'bind'],
        ['no_free_handle', `0 of the 1 ${CAN}: 2 held`, 'bind'],
      ],
    ],
    [
      'another class, and traits',
      factsOf([board('a', { attributes: attributes('NIC', 'A', 'B') })]),
      asks({ ...FPGA, 'trait:A': 'forbidden', 'trait:B': 'forbidden', 'trait:C': 'required', 'trait:D': 'required' }),
      [
        ['resource_class', 'it offers NIC, the request asks for FPGA', 'bind'],
        ['trait_missing', 'it lacks C, D', 'bind'],
        ['trait_forbidden', 'it has the forbidden A, B', 'bind'],
      ],
    ],
    [
      'no handle at all',
      factsOf([board('a', { handles: [] })]),
      asks(FPGA),
      [['no_free_handle', `0 of the 1 ${CAN}: none`, 'bind']],
    ],
    [
      'too few handles',
      factsOf([board('a', {}, quarantine)]),
      asks(FPGA, PAIR),
      [['no_free_handle', `1 of the 3 ${CAN}: 1 free, 1 quarantined`, 'bind']],
    ],
    [
      'a handle that is not shown',
      factsOf([board('a', {}, granted('a-1'), hidden)]),
      asks(FPGA),
      [['no_free_handle', `0 of the 1 ${CAN}: 1 held, 1 missing`, 'bind']],
    ],
    [
      'a half of a unit',
      factsOf([
        board('a', {
          handles: ['a-1', 'a-2'].map((uuid) => ({ uuid, type: 'PCI', info: {}, canonical: uuid, set: 0 })),
        }),
      ]),
      asks(FPGA),
      [
        [
          'whole_unit',
          'it is given as a whole: its 2 functions need 2 accelerator requests of one instance, not 1',
          'bind',
        ],
      ],
    ],
    [
      'the whole device, and too few handles beside',
      factsOf([board('a', {}, quarantine, { type: 'StatusSet', status: 'maintaining' }, programs)]),
      asks(FPGA, PAIR),
      [
        ['device_disabled', 'its device is in maintenance', 'bind'],
        ['being_programmed', 'it is being programmed', 'bind'],
        ['no_free_handle', `1 of the 3 ${CAN}: 1 free, 1 quarantined`, 'bind'],
      ],
    ],
    [
      'a silent host with work',
      factsOf([board('a', { hostWork: true })], { host: { ...UP, liveness: 'stale' } }),
      asks(FPGA),
      [['host_silent', 'its host was not heard from, and has work to do at a bind', 'work']],
    ],
    [
      'that nobody knows of it, of a silent host without work',
      factsOf([board('a')], { host: { ...UP, liveness: 'down' } }),
      asks(FPGA),
      [['host_silent', 'its host was not heard from, and nobody knows whether the device is still there', 'work']],
    ],
    ['none in Placement', factsOf([board('a')], { placement: standing('in_sync') }), asks(FPGA), []],
    [
      'no compute node',
      factsOf([board('a')], {
        placement: inPlacement({
          trouble: { state: 'waiting_for_compute_node', reason: 'none of that name', since: 1 },
        }),
      }),
      asks(FPGA),
      [['no_compute_node', 'none of that name', 'placement']],
    ],
    [
      'a Placement that was not compared',
      factsOf([board('a')], {
        placement: inPlacement({ trouble: { state: 'unreachable', reason: 'away', since: 1 } }),
      }),
      asks(FPGA),
      [['placement_pending', 'not compared with Placement yet', 'placement']],
    ],
    [
      'what is pending',
      factsOf([board('a')], { placement: standing('pending', 'w') }),
      asks(FPGA),
      [['placement_pending', 'w', 'placement']],
    ],
    [
      'what is pending without a reason',
      factsOf([board('a')], { placement: standing('pending') }),
      asks(FPGA),
      [['placement_pending', 'pending', 'placement']],
    ],
    [
      'a conflict',
      factsOf([board('a')], { placement: standing('placement_conflict', 'w') }),
      asks(FPGA),
      [['placement_conflict', 'w', 'placement']],
    ],
    [
      'a conflict without a reason',
      factsOf([board('a')], { placement: standing('placement_conflict') }),
      asks(FPGA),
      [['placement_conflict', 'placement_conflict', 'placement']],
    ],
    [
      'several classes, and another one than those',
      factsOf([board('a', { attributes: attributes('NIC') })], { placement: standing('in_sync') }),
      asks({ 'resources:FPGA': '1', 'resources:PGPU': '1' }),
      [
        ['resource_class', 'it offers NIC, the request asks for FPGA, PGPU', 'bind', 'placement'],
        ['several_classes', 'it offers one resource class, the group asks for FPGA, PGPU', 'placement'],
      ],
    ],
    [
      'units that others have',
      factsOf([board('a', {}, granted('a-1'))], { placement: standing('in_sync') }),
      asks({ 'resources:FPGA': '2' }),
      [['placement_capacity', '1 of its 2 units are left in Placement, the group asks for 2', 'placement']],
    ],
    [
      'everything that reserves a device',
      factsOf(
        [
          board(
            'a',
            {},
            { type: 'StatusSet', status: 'maintaining' },
            { type: 'HealthSet', failing: 'hot' },
            { type: 'PresenceSet', presence: 'missing' },
            programs,
          ),
        ],
        {
          placement: standing('in_sync'),
          host: { ...UP, liveness: 'down', retired: { by: 'op', reason: 'r', at: 1 } },
        },
      ),
      asks(FPGA),
      [
        ['device_disabled', 'its device is in maintenance', 'bind', 'placement'],
        ['device_failing', 'its device is failing: hot', 'bind', 'placement'],
        ['device_missing', 'its device is missing', 'bind', 'placement'],
        ['being_programmed', 'it is being programmed', 'bind', 'placement'],
        [
          'host_silent',
          'its host was not heard from, and nobody knows whether the device is still there',
          'work',
          'placement',
        ],
        ['host_retired', 'its host is out of service', 'placement'],
      ],
    ],
  ])('is %s', (_, facts, asked, told) => expect(found(facts, asked)).toEqual(obstacles(...told)))

  test('is its class and its traits where nothing else of it is looked at', () => {
    const other = {
      deployable: 'o',
      device: 'od',
      provider: 'orp',
      name: 'other',
      resourceClass: null,
      traits: new Set(['A']),
    }
    const judged = (placed: boolean) =>
      judgeHost([asks({ ...FPGA, 'trait:A': 'forbidden' })], {
        ...factsOf([], placed ? { placement: inPlacement() } : {}),
        others: [other],
      })
    const why = (...stops: readonly Stop[]) =>
      obstacles(
        ['resource_class', 'it offers nothing, the request asks for FPGA', ...stops],
        ['trait_forbidden', 'it has the forbidden A', ...stops],
      )
    const identity = { deployable: 'o', device: 'od', provider: 'orp', name: 'other' }
    expect(judged(true).all).toEqual([[{ ...identity, obstacles: why('bind', 'placement') }]])
    expect(judged(false).all).toEqual([[{ ...identity, obstacles: why('bind') }]])
    expect([judged(true).distance, judged(true).isNear]).toEqual([110, false])
  })
})

describe('a host', () => {
  const identity = (name: string) => ({
    deployable: `uuid ${name}`,
    device: `device ${name}`,
    provider: `rp ${name}`,
    name,
  })
  const missing: Fact = { type: 'PresenceSet', presence: 'missing' }
  const MISSING = obstacles(['device_missing', 'its device is missing', 'bind'])
  test('that fits is shown with its devices, the nearest first', () => {
    const [free, gone] = [board('b'), board('a', {}, missing)]
    const judged = judgeHost([asks(FPGA)], { ...factsOf([gone, free]), placement: null })
    const devices = [
      { ...identity('b'), obstacles: [] },
      { ...identity('a'), obstacles: MISSING },
    ]
    expect(judged.shown).toEqual({
      host: 'h1',
      fits: true,
      bind: true,
      placement: null,
      obstacles: [],
      groups: [{ group: 0, fits: true, devices, leftOut: 0 }],
    })
    expect([judged.distance, judged.isNear, judged.root, judged.attaches]).toEqual([0, true, null, [new Set(['PCI'])]])
    expect(judged.all).toEqual([devices.toReversed()])
    expect(['rp b', 'rp a', 'nobody'].map((provider) => judged.bindAccepts([provider]))).toEqual([true, false, false])
  })
  test('shows at most so many devices of a group, by name where they are equally near', () => {
    const names = Array.from({ length: DEVICES_SHOWN + 1 }, (_, at) => String.fromCodePoint(97 + at))
    const judged = (count: number) =>
      judgeHost(
        [asks(FPGA)],
        factsOf(
          names
            .slice(0, count)
            .toReversed()
            .map((name) => board(name)),
        ),
      ).shown.groups[0]!
    expect(judged(17).devices.map(({ name }) => name)).toEqual(names.slice(0, 16))
    expect([judged(17).leftOut, judged(16).leftOut, judged(16).devices.length]).toEqual([1, 0, 16])
  })
  test('without devices is told so', () => {
    const judged = judgeHost(
      [asks(FPGA), asks(FPGA, ['x2'])],
      factsOf([], { placement: inPlacement({ root: 'root' }) }),
    )
    const group = (at: number) => ({ group: at, fits: false, devices: [], leftOut: 0 })
    expect(judged.shown).toEqual({
      host: 'h1',
      fits: false,
      bind: false,
      placement: false,
      obstacles: obstacles(['no_device', 'it has no devices', 'bind']),
      groups: [group(0), group(1)],
    })
    expect([judged.distance, judged.isNear, judged.root]).toEqual([2000, false, 'root'])
  })
  test('that has too few for all groups together is told so', () => {
    const two = [asks(FPGA, ['x1', 'x2']), asks(FPGA, ['y1'])]
    const small = judgeHost(two, factsOf([board('a')]))
    expect([small.shown.fits, small.shown.bind, small.shown.obstacles]).toEqual([
      false,
      false,
      obstacles(['not_together', 'each group fits alone, all together do not', 'bind']),
    ])
    const large = judgeHost(two, factsOf([board('a'), board('b')]))
    expect([large.shown.fits, large.shown.bind, large.shown.obstacles]).toEqual([true, true, []])
    expect([large.bindAccepts(['rp a', 'rp b']), large.bindAccepts(['rp a', 'rp a'])]).toEqual([true, false])
    const one = judgeHost([asks(FPGA, PAIR), asks(FPGA, ['y1'])], factsOf([board('a')]))
    expect([one.shown.fits, one.shown.obstacles]).toEqual([false, []])
  })
  test('is bound to although Placement does not offer it, and the other way round', () => {
    const judged = (...given: Parameters<typeof factsOf>) => {
      const { fits, bind, placement: placed } = judgeHost([asks(FPGA)], factsOf(...given)).shown
      return { fits, bind, placed }
    }
    expect(judged([board('a')], { placement: standing('pending') })).toEqual({ fits: false, bind: true, placed: false })
    const used = board('a', { hostWork: true }, granted('a-1'))
    const stale = { ...UP, liveness: 'stale' as const }
    expect(judged([used], { placement: standing('in_sync'), host: stale })).toEqual({
      fits: false,
      bind: true,
      placed: true,
    })
  })
  test('shows devices of another class only where it has none of the class that is asked for', () => {
    const handles = [{ uuid: 'n-1', type: 'MDEV', canonical: 'n' }]
    const [fpga, nic] = [board('a'), board('n', { attributes: attributes('NIC'), handles })]
    const judged = judgeHost([asks(FPGA)], factsOf([nic, fpga]))
    const { devices, leftOut } = judged.shown.groups[0]!
    expect([devices.map(({ name }) => name), leftOut, judged.attaches]).toEqual([['a'], 1, [new Set(['PCI'])]])
    const without = judgeHost([asks(FPGA)], factsOf([nic]))
    expect([without.shown.groups[0]!.devices.map(({ name }) => name), without.attaches]).toEqual([['n'], [new Set()]])
  })
  test('is given with each obstacle a sentence of its own that says what would remove it', () => {
    const sentences = Object.values(CHANGES)
    expect(sentences.filter((one) => !/^[A-Z][^\n]{10,}[.a-zA-Z]$/.test(one))).toEqual([])
    expect(new Set(sentences).size).toBe(sentences.length)
  })
  test('of which a device is asked for is looked at', () => {
    const of = (rc: string) => ({ attributes: [{ key: 'rc', value: rc }] })
    const groups = [asks(FPGA), asks({ 'resources:NIC': '1' })]
    expect([isOfInterest(groups, of('NIC')), isOfInterest(groups, of('PGPU'))]).toEqual([true, false])
    expect(isOfInterest(groups, { attributes: [] })).toBe(false)
  })
})
