/** What Nova has not taken, as it is shown: one delivery, and the pages of a list of them. */
import { describe, expect, test } from 'vitest'
import { type Instance, instance } from '../../src/actors/instance/decider.ts'
import { idOf } from '../../src/actors/runtime/memory.ts'
import { type Outcome, done } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { deliveryOf } from '../../src/services/nova/resendDelivery.ts'
import { createDeliveries } from '../../src/services/overview/tallies.ts'
import { REFUSED_AWAY } from '../support/kernelParts.ts'

const known = (more: Partial<Instance>): Instance => ({
  ...instance.initial,
  uuid: 'i1',
  hostname: 'h1',
  requestId: 'req-1',
  ...more,
})
const ABOUT = { instance: 'i1', hostname: 'h1', requestId: 'req-1' }
const telling = { statuses: { a: 'completed' as const }, nextAt: 7, until: 90, attempts: 2, of: { a: 1 } }
const undelivered = {
  a: { ending: 'undeliverable' as const, status: 'completed' as const, at: 50, attempts: 4, note: '503 no' },
  b: { ending: 'refused' as const, status: 'failed' as const, at: 40, attempts: 3, note: null },
}

test.each<readonly [what: string, of: Partial<Instance>, delivery: object]>([
  ['has nothing to tell', {}, { state: 'waiting', statuses: {}, attempts: 0, nextAt: 6, until: null, answers: {} }],
  [
    'is told again, also of what was given up before',
    { telling, undelivered },
    { state: 'waiting', statuses: { a: 'completed' }, attempts: 2, nextAt: 6, until: 90, answers: {} },
  ],
  [
    'is not told any more, since the first that was given up and with the most attempts',
    { undelivered },
    {
      state: 'undelivered',
      statuses: { a: 'completed', b: 'failed' },
      attempts: 4,
      nextAt: null,
      until: 40,
      answers: { a: '503 no' },
    },
  ],
])('the delivery is shown of an instance that %s', (_, of, delivery) => {
  expect(deliveryOf(known(of), 6)).toEqual({ ...ABOUT, ...delivery })
})

describe('a list', () => {
  /** The pages of due rows: each instance, and whether it still has something of that kind. */
  const opened = (
    pages: readonly (readonly (readonly [uuid: string, isStill: boolean])[])[],
    state: 'waiting' | 'undelivered',
  ) => {
    const asked: unknown[] = []
    const left = [...pages]
    const is = new Map(pages.flat())
    const list = async (...question: readonly unknown[]): Promise<Outcome<object>> => {
      asked.push(question)
      const page = left.shift()
      if (page === undefined) return REFUSED_AWAY
      const items = page.map(([uuid]) => ({ entity: `instance/${uuid}`, at: 6 }))
      return done({ items, next: left.length > 0 ? { value: 6, key: 'k' } : null })
    }
    const readCurrent = async (_: unknown, key: EntityKey): Promise<Outcome<object>> => {
      const isUndelivered = is.get(idOf(key)) === (state === 'undelivered')
      // the row may be older than the instance, which may have no name any more
      return done({ state: { ...instance.initial, ...(isUndelivered ? { undelivered } : { telling }) } })
    }
    const deliveries = createDeliveries({ readers: { list }, region: { readCurrent } } as unknown as Kernel)
    const names = async (marker?: string) => {
      const answer = await deliveries({ state, limit: 2, ...(marker === undefined ? {} : { marker }) })
      return answer.ok ? [answer.value.items.map((one) => one.instance), answer.value.next] : answer
    }
    return { asked, names }
  }
  test.each([
    ['waiting', 'nova'],
    ['undelivered', 'nova-undelivered'],
  ] as const)('of those that are %s leaves out the others, and reads on when none is left', async (state, kind) => {
    const pages = [
      [
        ['i1', false],
        ['i2', false],
      ],
      [
        ['i3', false],
        ['i4', true],
      ],
      [['i5', true]],
    ] as const
    const { asked, names } = opened(pages, state)
    expect(await names('i0')).toEqual([['i4'], { value: 6, key: 'k' }])
    expect(asked).toEqual([
      ['due', { kind }, { limit: 2, marker: 'instance/i0' }],
      ['due', { kind }, { limit: 2, marker: 'instance/i2' }],
    ])
    expect(await names()).toEqual([['i5'], null])
    expect(asked[2]).toEqual(['due', { kind }, { limit: 2 }])
    expect(await names()).toEqual(REFUSED_AWAY)
  })
  test('ends with the last page, also if nothing is on it', async () => {
    const { names } = opened([[['i1', false]], []], 'waiting')
    expect(await names()).toEqual([[], null])
  })
})
