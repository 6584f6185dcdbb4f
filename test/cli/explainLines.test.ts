/** The text of `accelerando explain`, of made-up explanations: what is there is said, what is not is left out. */
import { expect, test } from 'vitest'
import type { Explanation } from '../../src/cli/operators/apiShapes.ts'
import { alternativesLines, explainLines, firstThatFits } from '../../src/cli/operators/explainLines.ts'

type Obstacle = Explanation['hosts'][number]['obstacles'][number]
const obstacle = (code: string, stops: Obstacle['stops']): Obstacle =>
  ({ code, reason: `reason of ${code}`, change: `change of ${code}`, stops }) as Obstacle

const device = (name: string, ...obstacles: readonly Obstacle[]) => ({ name, obstacles })
const WHOLE = {
  profile: { uuid: 'u1', name: 'two-cards' },
  fits: true,
  hosts_checked: 4,
  devices_checked: 9,
  hosts_fitting: 2,
  placement: 'unreachable',
  groups: [
    {
      group: 0,
      arqs: 2,
      devices: 1,
      removed: { trait_missing: 3, no_free_handle: 1 },
      nearest: { ...device('card-1', obstacle('device_disabled', ['bind', 'work', 'placement'])), host: 'h1' },
    },
    { group: 1, arqs: 1, devices: 2, removed: {}, nearest: null },
  ],
  warnings: [{ code: 'odd', group: 0, reason: 'hardly meant', change: 'leave it out' }],
  hosts: [
    {
      host: 'h1',
      fits: true,
      obstacles: [],
      groups: [{ group: 0, devices: [device('card-2'), device('card-3', obstacle('busy', ['work']))], left_out: 0 }],
    },
    {
      host: 'h2',
      fits: false,
      obstacles: [obstacle('host_down', ['placement', 'bind'])],
      groups: [
        { group: 0, devices: [], left_out: 1 },
        { group: 1, devices: [device('card-4')], left_out: 2 },
      ],
    },
  ],
  hosts_left_out: 2,
} as unknown as Explanation

test('the whole of an explanation', () => {
  expect(explainLines(WHOLE).join('\n')).toMatchInlineSnapshot(`
    "2 of 4 hosts fit; 9 devices looked at; Placement could not be asked
    warning: odd: hardly meant
      leave it out
    group 0: 2 accelerator requests, 1 device without an obstacle
      obstacles: trait_missing 3, no_free_handle 1
      nearest: card-1 on h1
        device_disabled: reason of device_disabled (a bind is refused, its host cannot serve a bind, Nova is not shown it)
          change of device_disabled
    group 1: 1 accelerator request, 2 devices without an obstacle
    h1: fits
      group 0: card-2 fits
      group 0: card-3
        busy: reason of busy (its host cannot serve a bind)
          change of busy
    h2: does not fit
      host_down: reason of host_down (Nova is not shown it, a bind is refused)
        change of host_down
      group 0: 1 further device
      group 1: card-4 fits
      group 1: 2 further devices
    2 further hosts; --limit shows more"
  `)
})
test.each([
  ['asked', 1, 1, '1 of 1 host fits; 1 device looked at; Placement was asked'],
  ['not_configured', 0, 3, '0 of 3 hosts fit; 1 device looked at; no Placement is configured'],
  ['unreachable', 2, 3, '2 of 3 hosts fit; 1 device looked at; Placement could not be asked'],
] as const)('where Placement is %s and %i hosts of %i fit', (placement, fitting, checked, first) => {
  const empty = { groups: [], hosts: [], hosts_left_out: 0, devices_checked: 1 }
  const { warnings: _, ...told } = WHOLE
  const explained = { ...told, ...empty, placement, hosts_fitting: fitting, hosts_checked: checked }
  expect(explainLines(explained)).toEqual([first])
})
test('one host that is left out is counted in the singular', () => {
  expect(explainLines({ ...WHOLE, hosts_left_out: 1 }).at(-1)).toBe('1 further host; --limit shows more')
})
test('of several profiles the first that fits is named, and each is explained below its name', () => {
  const plain = { ...WHOLE, warnings: [], groups: [], hosts: [], hosts_left_out: 0 }
  const named = (name: string, fits: boolean) => ({ ...plain, profile: { uuid: name, name }, fits })
  const all = [named('a', false), named('b', true), named('c', true)]
  const line = '  2 of 4 hosts fit; 9 devices looked at; Placement could not be asked'
  expect(firstThatFits(all)).toBe('b')
  expect(alternativesLines(all)).toEqual([
    'the first that fits: b',
    '1. a: does not fit',
    '2. b: fits',
    '3. c: fits',
    '',
    'a:',
    line,
    '',
    'b:',
    line,
    '',
    'c:',
    line,
  ])
  expect(firstThatFits([named('a', false)])).toBe(null)
  expect(alternativesLines([named('a', false)])).toEqual(['none of them fits', '1. a: does not fit', '', 'a:', line])
})
