/** What is answered about whom a change concerns, about what is free, and about what was bound for how long. */
import { describe, expect, test } from 'vitest'
import { CONCERNED_SHOWN, impactOf } from '../../src/actors/answers/impact.ts'
import { arq } from '../../src/actors/arq/decider.ts'
import { boundSince, usageRow } from '../../src/actors/arq/rows.ts'
import { type CapacityRows, capacityOf } from '../../src/actors/capacity/tally.ts'
import type { Row } from '../../src/actors/runtime/views.ts'
import { bindStarted, created, isBound, unbound } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

describe('whom a change concerns', () => {
  const row = (uuid: string, n: number, more: object = {}) =>
    ({
      uuid,
      state: 'Bound',
      instance_uuid: `i${n}`,
      project_id: `p${n}`,
      hostname: `h${n}`,
      deployable_uuid: `d${n}`,
      ...more,
    }) as unknown as Row<'arqs'>
  const about = { refusal: 'why', effect: 'kept', devices: ['c2', 'c1'] } as const
  const concerned = (arq: string, n: number, more: object = {}) => ({
    arq,
    state: 'Bound',
    instance: `i${n}`,
    project: `p${n}`,
    host: `h${n}`,
    deployable: `d${n}`,
    ...more,
  })
  test('is told by request in the order of their UUIDs, and each instance and project once', () => {
    const nothing = { instance_uuid: null, project_id: null, hostname: null, deployable_uuid: null, state: 'Initial' }
    const given = [row('a2', 9), row('a4', 1), row('a1', 2), row('a3', 2), row('a5', 0, nothing)]
    expect(impactOf(given, about)).toEqual({
      ...about,
      instances: ['i1', 'i2', 'i9'],
      projects: ['p1', 'p2', 'p9'],
      arqs: [
        concerned('a1', 2),
        concerned('a2', 9),
        concerned('a3', 2),
        concerned('a4', 1),
        concerned('a5', 0, { state: 'Initial', instance: null, project: null, host: null, deployable: null }),
      ],
      arqsLeftOut: 0,
    })
  })
  test('is told of a thousand requests, and how many more there are', () => {
    const many = (count: number) =>
      impactOf(
        Array.from({ length: count }, (_, n) => row(`a${n}`, n)),
        about,
      )
    const shown = (count: number) => [many(count).arqs.length, many(count).arqsLeftOut, many(count).instances.length]
    expect(CONCERNED_SHOWN).toBe(1000)
    expect([shown(1000), shown(1002)]).toEqual([
      [1000, 0, 1000],
      [1000, 2, 1002],
    ])
  })
})

describe('what is free', () => {
  const part = (uuid: string, hostname: string, attributes: readonly object[], device_uuid = 'c1') => ({
    uuid,
    device_uuid,
    hostname,
    attributes,
    presence: 'present' as const,
  })
  const rc = (name: string, ...traits: readonly string[]) => [
    { rc: name },
    ...traits.map((trait, at) => ({ [`trait${at}`]: trait })),
  ]
  const device = (uuid: string, more: object = {}) => ({
    uuid,
    status: 'enabled' as const,
    presence: 'present' as const,
    failing: null,
    ...more,
  })
  const handles = (deployable: string, ...states: readonly string[]) =>
    states.map((state) => ({ deployable_uuid: deployable, state }))
  const amount = (total: number, held: number, free: number, withheld: number, broken: number) => ({
    total,
    held,
    free,
    withheld,
    broken,
  })
  test('is counted by class and traits, hosts with the most free handles first, whatever order the rows have', () => {
    const rows = {
      hosts: [
        { name: 'h1', liveness: 'up' },
        { name: 'h2', liveness: 'up' },
        { name: 'h3', liveness: 'down' },
        { name: 'h4', liveness: 'removed' },
      ],
      devices: [device('c1'), device('c2', { status: 'maintaining' }), device('c3', { presence: 'missing' })],
      deployables: [
        part('n1', 'h1', rc('NIC')),
        part('f1', 'h1', rc('FPGA', 'B', 'A')),
        part('f2', 'h2', rc('FPGA', 'A', 'B')),
        part('f3', 'h3', rc('FPGA', 'A', 'B')),
        part('f4', 'h4', rc('FPGA', 'A', 'B')),
        part('f5', 'h1', rc('FPGA')),
        part('f6', 'h2', rc('FPGA'), 'c2'),
        part('f7', 'h1', rc('FPGA'), 'c3'),
        part('f8', 'h0', rc('FPGA'), 'c1'),
        part('f9', 'h0', rc('FPGA'), 'unknown'),
        { ...part('fa', 'h2', rc('FPGA')), presence: 'missing' },
        part('u1', 'h1', [{ site: 'b2' }]),
      ],
      handles: [
        ...handles('u1', 'free'),
        ...handles('n1', 'held', 'releasing'),
        ...handles('f1', 'free', 'quarantined'),
        ...handles('f2', 'free', 'free', 'missing'),
        ...handles('f3', 'free', 'held'),
        ...handles('f4', 'free'),
        ...handles('f5', 'free'),
        ...handles('f6', 'free', 'quarantined'),
        ...handles('f7', 'free', 'quarantined'),
        ...handles('f8', 'free'),
        ...handles('f9', 'free'),
        ...handles('fa', 'free'),
        ...handles('nobody knows', 'free'),
      ],
      orders: [],
    } as unknown as CapacityRows
    const lines = [
      {
        resourceClass: 'FPGA',
        traits: ['A', 'B'],
        amount: amount(8, 1, 3, 3, 1),
        hosts: [
          { host: 'h2', amount: amount(3, 0, 2, 0, 1) },
          { host: 'h1', amount: amount(2, 0, 1, 1, 0) },
          { host: 'h3', amount: amount(2, 1, 0, 1, 0) },
          { host: 'h4', amount: amount(1, 0, 0, 1, 0) },
        ],
      },
      {
        resourceClass: 'FPGA',
        traits: [],
        amount: amount(8, 0, 1, 3, 4),
        hosts: [
          { host: 'h1', amount: amount(3, 0, 1, 0, 2) },
          { host: 'h0', amount: amount(2, 0, 0, 1, 1) },
          { host: 'h2', amount: amount(3, 0, 0, 2, 1) },
        ],
      },
      {
        resourceClass: 'NIC',
        traits: [],
        amount: amount(2, 2, 0, 0, 0),
        hosts: [{ host: 'h1', amount: amount(2, 2, 0, 0, 0) }],
      },
      {
        resourceClass: 'UNKNOWN',
        traits: [],
        amount: amount(1, 0, 1, 0, 0),
        hosts: [{ host: 'h1', amount: amount(1, 0, 1, 0, 0) }],
      },
    ]
    expect(capacityOf(rows)).toEqual(lines)
    expect(capacityOf({ ...rows, handles: rows.handles.toReversed() })).toEqual(lines)
  })
})

describe('for how long a request was bound', () => {
  const { after } = exactly(arq)
  const [made] = created('a1', { group: { 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_XILINX': 'required' } }).events
  const bound = after(made!, bindStarted(), isBound)
  const left = after(made!, bindStarted(), isBound, unbound)
  const usage = (changes: ReturnType<typeof arq.rows>) => changes.filter(({ view }) => view === 'usage')
  const row = {
    id: 'a1/3000',
    arq_uuid: 'a1',
    project_id: 'p1',
    resource_class: 'FPGA',
    parts: 2,
    from_at: 3000,
    until_at: 4000,
  }
  test('is recorded when its binding ends', () => {
    expect(usage(arq.rows(bound, left))).toEqual([{ view: 'usage', key: 'a1/3000', row }])
    expect(usage(arq.rows(left, after(made!)))).toEqual([])
    expect(usage(arq.rows(bound, { ...bound, reason: 'x' }))).toEqual([])
  })
  test('is not recorded where one of its ends is not known', () => {
    expect(usage(arq.rows({ ...bound, updatedAt: null }, left))).toEqual([])
    expect(usage(arq.rows(bound, { ...left, updatedAt: null }))).toEqual([])
  })
  test('begins with the last change of a bound one, and is not below zero where a clock went back', () => {
    expect(boundSince({ state: 'Bound', updated_at: 7 })).toBe(7)
    expect(boundSince({ state: 'Unbound', updated_at: 7 })).toBe(null)
    const [short] = [
      usageRow({ uuid: 'a1', project_id: null, group: { 'resources:A': '1', 'resources:B': '2' } }, 9, 8),
    ]
    expect(short).toEqual({
      id: 'a1/9',
      arq_uuid: 'a1',
      project_id: null,
      resource_class: 'A B',
      parts: 1,
      from_at: 9,
      until_at: 9,
    })
  })
})
