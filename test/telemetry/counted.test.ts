/** What is counted of Placement, of verdicts, of refused binds and of dead letters, each with a value of its own. */
import { describe, expect, test } from 'vitest'
import type { Bus } from '../../src/bus/port.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { timedDriver } from '../../src/cli/observe/metricsHost.ts'
import { observedControl, observedJournal } from '../../src/cli/observe/metricsJournal.ts'
import { observedBus } from '../../src/cli/observe/observedBus.ts'
import { resending, watchedPlane } from '../../src/cli/observe/watching.ts'
import { untraced } from '../../src/vocabulary/trace.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { one } from '../persistence/samples.ts'
import { lines, showControl, shownOf, zeros } from './page.ts'

describe('Placement', () => {
  const shown = async (tally: (view: string, column: string) => Promise<ReadonlyMap<string, number>>) => {
    const meter = openMeter()
    const counts = {
      passes: zeros({ unchanged: 10, failed: 15 }),
      passMs: 2500,
      changes: zeros({ created: 30, removed: 36 }),
      troubles: zeros({ stale: 50, unanswered: 58 }),
    }
    showControl(meter, { sweeper: { placer: { counts: () => counts } }, tally })
    const page = async () => shownOf(await lines(meter)).filter((line) => /placement/.test(line))
    await page()
    return page()
  }
  test('is shown by what passes ended with, what they changed, what went wrong, and how hosts stand', async () => {
    const due = new Map([
      ['placement in_sync', 3],
      ['placement pending', 4],
    ])
    expect(await shown(async (view, column) => (`${view} ${column}` === 'due kind' ? due : new Map()))).toEqual([
      'placement_passes_total outcome=unchanged 10',
      'placement_passes_total outcome=failed 15',
      'placement_pass_seconds_total 2.5',
      'placement_changes_total change=created 30',
      'placement_changes_total change=removed 36',
      'placement_troubles_total trouble=stale 50',
      'placement_troubles_total trouble=unanswered 58',
      'placement_hosts state=pending 4',
      'placement_hosts state=in_sync 3',
    ])
  })
  test('shows no hosts while the database does not answer', async () => {
    const page = await shown(() => Promise.reject(new Error('away')))
    expect(page.filter((line) => /^(placement_hosts|scrape)/.test(line))).toEqual([
      'scrape_failures_total read=placement 1',
    ])
  })
})

describe('the journal', () => {
  const journalOf = (more: object) => ({ onAppended: () => undefined, exclusive: false, ...more }) as never
  test.each([
    ['busy', 'busy'],
    [{ conflict: 'x' }, 'conflict'],
    [{ refused: 'x' }, 'refused'],
    [{ stopped: 'x' }, 'stopped'],
  ])('the verdict %j is counted as %s, and its rows are not', async (verdict, word) => {
    const meter = openMeter()
    const took: number[] = []
    const journal = observedJournal(journalOf({ append: async () => verdict }), meter, (ms) => took.push(ms))
    expect(await journal.append(one('instance/i1', 1))).toBe(verdict)
    expect(await lines(meter)).toEqual(['journal_append_seconds_count 1', `journal_appends_total verdict=${word} 1`])
    expect(took).toEqual([])
  })
  test('an append that wrote its rows is told with how long it took', async () => {
    const took: number[] = []
    const journal = observedJournal(journalOf({ append: async () => 'appended' }), openMeter(), (ms) => took.push(ms))
    await journal.append(one('arq/q1', 1))
    expect(took).toEqual([expect.any(Number)])
  })
  test('reads of the tail are counted, failed ones as such, and let through', async () => {
    const meter = openMeter()
    let fails = false
    const recall = async (keys: readonly string[]) => (fails ? Promise.reject(new Error('away')) : keys)
    const journal = observedJournal(journalOf({ recall }), meter)
    expect(await journal.recall(['a'] as never)).toEqual(['a'])
    fails = true
    await expect(journal.recall(['a'] as never)).rejects.toThrow('away')
    expect(await lines(meter)).toEqual([
      'journal_recalls_total outcome=read 1',
      'journal_recalls_total outcome=failed 1',
    ])
  })
  test('whether it belongs to this process alone is read each time', () => {
    const given = { exclusive: false }
    const journal = observedJournal(Object.assign(given, { onAppended: () => undefined }) as never, openMeter())
    expect(journal.exclusive).toBe(false)
    given.exclusive = true
    expect(journal.exclusive).toBe(true)
  })
  test('appends that one statement wrote together are measured, and what was written by others is not', async () => {
    const meter = openMeter()
    let tell: (appends: readonly unknown[] | undefined) => void = () => undefined
    observedJournal(journalOf({ onAppended: (told: typeof tell) => (tell = told) }), meter)
    tell([1, 2, 3])
    tell(undefined)
    expect(await lines(meter)).toEqual(['journal_batch_appends_sum 3', 'journal_batch_appends_count 1'])
  })
})

test('requested binds are counted as accepted, or by the kind of the refusal, and answered as before', async () => {
  const meter = openMeter()
  const answers = [
    { ok: true, value: 1 },
    { ok: false, fault: { kind: 'conflict' } },
  ]
  const control = {
    arqs: { bind: async (...given: readonly unknown[]) => ({ ...answers.shift(), given }), get: 7 },
    hosts: 8,
  }
  const observed = observedControl(control as never, meter)
  expect(observed).toMatchObject({ hosts: 8, arqs: { get: 7 } })
  const bind = observed.arqs.bind as unknown as (...given: readonly unknown[]) => Promise<unknown>
  expect(await bind('a', 'b')).toEqual({ ok: true, value: 1, given: ['a', 'b'] })
  expect(await bind('c')).toEqual({ ok: false, fault: { kind: 'conflict' }, given: ['c'] })
  expect(await lines(meter)).toEqual([
    'bind_requests_total outcome=accepted reason=none 1',
    'bind_requests_total outcome=refused reason=conflict 1',
  ])
  const plane = { control } as never
  expect(watchedPlane(plane, undefined)).toBe(plane)
  expect(watchedPlane(plane, meter).control.arqs.bind).not.toBe(control.arqs.bind)
})

describe('the bus', () => {
  const storing: Pick<Bus, 'publish'> = { publish: async () => {} }
  const letter = (topic: string) =>
    deadLetterRecord({ topic, key: 'k', value: 'v', headers: {} }, 'why', { id: topic, time: 0 })
  const published = async (...batch: readonly ReturnType<typeof letter>[]) => {
    const meter = openMeter()
    await observedBus(storing, { meter }).publish(batch)
    return (await lines(meter)).filter((line) => line.startsWith('dead_letters'))
  }
  test('a dead letter that cannot be read is of another topic', async () => {
    const broken = { ...letter('host.orders.v1'), value: 'no JSON' }
    expect(await published(letter('host.orders.v1'), broken)).toEqual([
      'dead_letters_total topic=host.orders.v1 1',
      'dead_letters_total topic=other 1',
    ])
  })
  test('a message of another topic with the same text is no dead letter', async () => {
    expect(await published({ ...letter('host.orders.v1'), topic: 'host.events.v1' })).toEqual([])
  })
  test('with a tracer alone nothing is counted, and with neither the bus stays as it is', async () => {
    const bus = { ...storing, other: 1 }
    const watched = observedBus(bus, { tracer: { ...untraced } })
    expect(watched).not.toBe(bus)
    expect(watched.other).toBe(1)
    await watched.publish([letter('host.orders.v1')])
    expect(observedBus(bus, { tracer: untraced })).toBe(bus)
  })
  test('orders are counted as sent again when they are stored, answers to hosts and other topics are not', async () => {
    const meter = openMeter()
    const order = { topic: 'host.orders.v1', key: 'h', value: '{"type":"accelerando.order.Probe"}', headers: {} }
    const batch = [order, { ...order, value: '{"type":"accelerando.answer"}' }, { ...order, topic: 'arq.events.v1' }]
    await expect(resending(() => Promise.reject(new Error('away')), meter)(batch)).rejects.toThrow('away')
    expect(await lines(meter)).toEqual([])
    const sent: unknown[] = []
    await resending(async (given) => void sent.push(...given), meter)(batch)
    await resending(async () => {}, undefined)(batch)
    expect([sent, await lines(meter)]).toEqual([batch, ['orders_resent_total 1']])
  })
})

test('a driver that loads no images is timed without that call', () => {
  const driver = { name: 'd', discover: async () => [], prepare: async () => {}, release: async () => {}, other: 1 }
  const timed = timedDriver(driver, openMeter())
  expect(Object.keys(timed)).toEqual(['name', 'discover', 'prepare', 'release', 'other'])
})
