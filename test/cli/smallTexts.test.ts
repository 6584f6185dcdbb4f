/** Small texts of commands, word for word: what would be changed, what differs, how long a step took. */
import { describe, expect, test } from 'vitest'
import { archivedText } from '../../src/cli/commands/archive.ts'
import type { Impact, ProfileVersion } from '../../src/cli/operators/apiShapes.ts'
import { noteLine } from '../../src/cli/operators/apiShapes.ts'
import { FOUND, type Found } from '../../src/cli/operators/foundRows.ts'
import { impactLines } from '../../src/cli/operators/impactLines.ts'
import { diffLines, partOf } from '../../src/cli/operators/profileDiff.ts'
import { SHOWN, groupText, profilePath } from '../../src/cli/operators/profileRows.ts'
import { arqPath } from '../../src/cli/operators/arqRows.ts'
import { timelineDrawing } from '../../src/cli/operators/timelineDrawing.ts'

describe('a change that is only tried', () => {
  const arq = {
    uuid: 'q1',
    state: 'Bound',
    project_id: 'p1',
    instance_uuid: 'i1',
    hostname: 'h1',
    deployable_uuid: 'd1',
  } as const
  const impact = (more: Partial<Impact>): Impact => ({
    dry_run: true,
    refusal: null,
    effect: 'kept',
    devices: [],
    instances: [],
    projects: [],
    arqs: [],
    arqs_left_out: 0,
    ...more,
  })
  test('that concerns nobody', () => {
    expect(impactLines(impact({}))).toEqual([
      'it would be done',
      '0 devices, 0 instances, 0 projects, 0 accelerator requests',
      'nothing was changed',
    ])
  })
  test('that concerns some, and would be refused', () => {
    const some = { devices: ['d1'], instances: ['i1', 'i2'], projects: ['p1'], arqs: [arq], refusal: 'it is in use' }
    expect(impactLines(impact(some))).toEqual([
      'it would be refused: it is in use',
      '1 device, 2 instances, 1 project, 1 accelerator request, kept as they are',
      'ARQ  STATE  PROJECT  INSTANCE  HOST',
      'q1   Bound  p1       i1        h1',
      'nothing was changed',
    ])
  })
  test('that unbinds more than are shown', () => {
    expect(impactLines(impact({ effect: 'unbound', arqs: [arq], arqs_left_out: 1 })).slice(1)).toEqual([
      '0 devices, 0 instances, 0 projects, 2 accelerator requests, unbound by force',
      'ARQ  STATE  PROJECT  INSTANCE  HOST',
      'q1   Bound  p1       i1        h1',
      'and 1 more',
      'nothing was changed',
    ])
    expect(impactLines(impact({ effect: 'unbound', arqs_left_out: 3 })).slice(1)).toEqual([
      '0 devices, 0 instances, 0 projects, 3 accelerator requests, unbound by force',
      'and 3 more',
      'nothing was changed',
    ])
  })
})

describe('two versions of a profile', () => {
  const version = (number: number, at: string) => ({ version: number, created_at: at }) as ProfileVersion
  const pair = { from: version(1, 'T1'), to: version(3, 'T3') }
  const head = 'version 1 of T1, and version 3 of T3'
  test('that ask for the same', () => {
    expect(diffLines(pair, { parts: [] } as never)).toEqual([head, 'they ask for the same'])
  })
  test('that differ: what is gone, what is new, what is another', () => {
    const parts = [
      { group: 0, key: 'resources:FPGA', from: '1', to: '2' },
      { group: 1, key: 'trait:A', from: null, to: 'required' },
      { group: null, key: 'description', from: 'old', to: null },
    ]
    expect(diffLines(pair, { parts } as never)).toEqual([
      head,
      '- group 0 resources:FPGA = 1',
      '+ group 0 resources:FPGA = 2',
      '+ group 1 trait:A = required',
      '- description = old',
    ])
    expect(parts.map((part) => partOf(part as never))).toEqual([
      'group 0 resources:FPGA',
      'group 1 trait:A',
      'description',
    ])
  })
})

test('the columns of a profile', () => {
  const profile = {
    name: 'p',
    uuid: 'u',
    description: null,
    version: 2,
    enabled: true,
    groups: [{ 'resources:FPGA': '1', 'trait:A': 'required' }, { 'resources:PGPU': '2' }],
    projects: ['a', 'b'],
    created_at: 'T1',
    updated_at: 'T2',
  }
  expect(SHOWN.map(({ name, head, of }) => [head ?? name, of(profile as never)])).toEqual([
    ['name', 'p'],
    ['uuid', 'u'],
    ['description', null],
    ['version', 2],
    ['enabled', true],
    ['groups', 'resources:FPGA=1,trait:A=required; resources:PGPU=2'],
    ['projects', 'a b'],
    ['created', 'T1'],
    ['updated', 'T2'],
  ])
  expect(groupText({})).toBe('')
  expect([profilePath('a/b'), arqPath('a/b')]).toEqual(['/device_profiles/a%2Fb', '/accelerator_requests/a%2Fb'])
})
test('a deployable that a driver finds, usable or not, enabled or not', () => {
  const found: Found = {
    driver: 'd',
    enabled: true,
    device: '0000:01:00.0',
    type: 'GPU',
    model: 'm',
    usable: true,
    total: 2,
    resource_class: 'PGPU',
    traits: ['CUSTOM_A', 'OWNER_CYBORG', 'CUSTOM_B'],
  }
  const shown = (more: Partial<Found>) => FOUND.map(({ of }) => of({ ...found, ...more }))
  expect(FOUND.map(({ name, head }) => head ?? name)).toEqual([
    'driver',
    'device',
    'type',
    'model',
    'units',
    'class',
    'traits',
  ])
  expect(shown({})).toEqual(['d', '0000:01:00.0', 'GPU', 'm', 2, 'PGPU', 'CUSTOM_A CUSTOM_B'])
  expect(shown({ enabled: false, usable: false, resource_class: null, traits: ['OWNER_CYBORG'] })).toEqual([
    'd (not enabled)',
    '0000:01:00.0',
    'GPU',
    'm',
    'not usable yet',
    null,
    null,
  ])
})
test('what was archived, and in how many seconds', () => {
  expect(archivedText(12, 3, 1240)).toBe('archived 12 rows of 3 entities, 1.2 s')
  expect(archivedText(0, 0, 60_060)).toBe('archived 0 rows of 0 entities, 60.1 s')
})
test('a note of an operator is one line', () => {
  expect(noteLine(null)).toBe('-')
  expect(noteLine({ by: 'kim', at: 'T1', reason: 'old' })).toBe('by kim at T1: old')
})

describe('a timeline', () => {
  const drawn = (took: readonly (number | null)[], more: object = {}, name = 's') =>
    timelineDrawing({
      arq: 'q1',
      project_id: null,
      deleted: false,
      total_ms: took.reduce<number>((sum, each) => sum + (each ?? 0), 0),
      steps: took.map((took_ms) => ({
        at: 'T1',
        step: name,
        took_ms,
        cause: null,
        request_id: null,
        detail: {},
        ...more,
      })),
    })
  test.each([
    [119_999, '119.999 s'],
    [120_000, '2.0 min'],
    [7_199_000, '120.0 min'],
    [7_200_000, '2.0 h'],
  ])('%i ms are %s', (ms, text) => {
    const [head, , last] = drawn([null, ms])
    expect(head).toBe(`accelerator request q1, project -, from T1, ${text} in all`)
    expect(last!.slice(0, 11)).toBe(`+${text}`.padStart(11))
  })
  test('marks a gap of more than five seconds, and no shorter one', () => {
    expect(drawn([0, 5000])).toHaveLength(3)
    const cut = drawn([0, 5001])
    expect(cut[2]).toContain(`${'/'.repeat(40)}|`)
    expect(cut.at(-1)).toBe('/ stands for more than 5 s without a step')
  })
  test('takes a negative time for none, and shows what is no text as JSON', () => {
    expect(drawn([0, -5, 10], { cause: 'kim', detail: { a: 'b', c: { d: 1 }, e: null } }).slice(1)).toEqual([
      `   +0.000 s  |${' '.repeat(40)}  s  by kim a=b c={"d":1} e=null`,
      `   +0.000 s  |${' '.repeat(40)}  s  by kim a=b c={"d":1} e=null`,
      `   +0.010 s  ${'='.repeat(40)}|  s  by kim a=b c={"d":1} e=null`,
    ])
  })
  test('gives the names of steps one width, up to 60 letters', () => {
    const of = (length: number) => drawn([0], { cause: 'x' }, 'n'.repeat(length))[1]!.slice(-length - 6)
    expect(of(60)).toBe(`${'n'.repeat(60)}  by x`)
    expect(of(61)).toBe(`${'n'.repeat(61)}  by x`)
    const both = timelineDrawing({
      arq: 'q1',
      project_id: 'p',
      deleted: false,
      total_ms: 0,
      steps: ['n'.repeat(61), 'b'].map((step) => ({ at: 'T', step, took_ms: 0, cause: 'x', detail: {} })),
    } as never)
    expect(both[2]!.endsWith(`  b${' '.repeat(59)}  by x`)).toBe(true)
  })
})
