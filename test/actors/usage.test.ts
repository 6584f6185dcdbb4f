/** Reports of usage over the memory; how periods are cut, and what is refused. */
import { describe, expect, test } from 'vitest'
import { boundsOf, monthOf, openTally } from '../../src/actors/usage/tally.ts'
import { usageContract } from '../contracts/usage.contract.ts'
import { NOVA, openPlane } from '../support/plane.ts'
import { openTestStore } from '../support/stores.ts'

usageContract(openTestStore, 60)

const at = (text: string): number => Date.parse(`${text}Z`)
const bounds = (from: string, until: string, period: 'month' | 'day' | 'total') =>
  boundsOf(at(from), at(until), period).map((each) => new Date(each).toISOString().slice(0, 16))

describe('periods', () => {
  test('begin and end by the calendar, also where the time that is asked for does not', () => {
    expect(bounds('2026-01-31T23:00', '2026-03-01T00:00', 'month')).toEqual([
      '2026-01-31T23:00',
      '2026-02-01T00:00',
      '2026-03-01T00:00',
    ])
    expect(bounds('2026-02-28T00:00', '2026-03-02T12:00', 'day')).toEqual([
      '2026-02-28T00:00',
      '2026-03-01T00:00',
      '2026-03-02T00:00',
      '2026-03-02T12:00',
    ])
    expect(bounds('2025-01-01T00:00', '2026-03-02T12:00', 'total')).toEqual(['2025-01-01T00:00', '2026-03-02T12:00'])
    expect([monthOf(at('2026-03-01T00:00')), monthOf(at('2026-03-01T00:01'))]).toEqual([
      at('2026-02-01T00:00'),
      at('2026-03-01T00:00'),
    ])
  })
  test('a binding counts in each period that it touches, and nothing outside', () => {
    const tally = openTally(boundsOf(at('2026-02-27T00:00'), at('2026-03-02T00:00'), 'month'))
    const binding = { project_id: 'p', resource_class: 'GPU', parts: 1 }
    tally.add({ ...binding, from_at: at('2026-01-01T00:00'), until_at: at('2026-03-01T00:00') + 1500 })
    tally.add({ ...binding, parts: 2, from_at: at('2026-03-01T00:00'), until_at: at('2026-03-01T00:00') + 1 })
    tally.add({ ...binding, from_at: at('2026-03-02T00:00'), until_at: at('2026-03-03T00:00') })
    tally.add({ ...binding, from_at: at('2026-01-01T00:00'), until_at: at('2026-02-27T00:00') })
    expect(tally.lines().map(({ deviceSeconds, bindings }) => [deviceSeconds, bindings])).toEqual([
      [2 * 86_400, 1],
      [1.5005, 2],
    ])
  })
})

test('lines stand in the order of their periods, then of projects, then of classes; without a project comes first', () => {
  const tally = openTally(boundsOf(at('2026-01-01T00:00'), at('2026-03-01T00:00'), 'month'))
  for (const project of ['c', null, 'a', 'b'])
    for (const resource of ['PGPU', 'FPGA'])
      for (const month of ['02', '01'])
        tally.add({
          project_id: project,
          resource_class: resource,
          parts: 1,
          from_at: at(`2026-${month}-02T00:00`),
          until_at: at(`2026-${month}-03T00:00`),
        })
  const projects = [null, null, 'a', 'a', 'b', 'b', 'c', 'c']
  const classes = projects.map((_, n) => (n % 2 === 0 ? 'FPGA' : 'PGPU'))
  expect(tally.lines().map(({ project }) => project)).toEqual([...projects, ...projects])
  expect(tally.lines().map(({ resourceClass }) => resourceClass)).toEqual([...classes, ...classes])
})

test('what cannot be answered is refused', async () => {
  const { control, plane } = await openPlane()
  const asked = { from: 0, until: 1, period: 'total', project: null } as const
  expect(await control.usage(NOVA, { ...asked, until: 0 })).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
  expect(await control.usage(NOVA, { ...asked, until: null, period: 'day' })).toMatchObject({
    ok: false,
    fault: { kind: 'conflict' },
  })
  expect(await control.usage(NOVA, asked)).toMatchObject({ ok: true, value: { lines: [] } })
  await plane.stop()
})
