/** When a relay reads, saves and tries again, to the millisecond, and what it has done when it is stopped. */
import { describe, expect, test } from 'vitest'
import type { Append, FeedRow } from '../../src/actors/runtime/ports.ts'
import type { RelayOptions } from '../../src/delivery/relay/options.ts'
import { relay } from '../../src/delivery/relay/relay.ts'
import { watchedClock } from '../support/kafkaLab.ts'
import { memoryLog, quiet } from '../support/lab.ts'

type Listener = (appends?: readonly Append[]) => void
/** A relay with the lease, over a journal of rows that the test adds; each becomes one message. */
const open = async (options: Partial<RelayOptions> = {}, { exclusive = true, arrive = false } = {}) => {
  const clock = watchedClock()
  const began = clock.monotonic()
  const since = () => clock.monotonic() - began
  const rows: FeedRow[] = []
  const listeners = new Set<Listener>()
  const said: string[] = []
  const reads: number[] = []
  const say = (what: string) => void said.push(`${since()} ${what}`)
  const way = { publish: async (): Promise<void> => {}, saves: async (): Promise<boolean> => true }
  const one = relay({
    journal: {
      feed: async (after, limit) => {
        reads.push(since())
        return rows.filter(({ position }) => Number(position) > Number(after)).slice(0, limit)
      },
      checkpoint: async () => '',
      onAppended: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      exclusive,
    },
    sharing: {
      acquire: async () => {
        say('acquires')
        return { epoch: 1 }
      },
      release: async () => say('releases'),
      saveUnder: async (_, reader, position) => {
        say(`saves ${reader} ${position}`)
        return way.saves()
      },
    },
    hints: { send: () => {}, onHint: () => () => {}, arrive: () => arrive },
    holder: 'one',
    bus: {
      publish: async (batch) => {
        say(`publishes ${batch.map(({ value }) => value).join()}`)
        await way.publish()
      },
    },
    reactions: ({ position }) => [{ topic: 'arq.events.v1', key: 'k', value: position, headers: {} }],
    clock,
    log: memoryLog(),
    ...options,
  })
  await one.start()
  await quiet()
  const add = (type = 'Happened') => {
    const position = String(rows.length + 1)
    const row = { key: 'arq/a', version: 1, commandId: position, events: [{ type }], at: clock.now(), cause: {} }
    rows.push({ ...row, position })
    return row
  }
  const tell = (...appends: Parameters<Listener>) => listeners.forEach((listener) => listener(...appends))
  /** What was said of this, with the moments. */
  const of = (what: string) => said.filter((each) => each.split(' ')[1] === what)
  return { one, clock, reads, said, of, add, tell, way, listeners }
}

describe('a journal is read', () => {
  test('every half second where no other process writes', async () => {
    const { one, clock, reads } = await open()
    await clock.pass(1500)
    expect(reads).toEqual([0, 500, 1000, 1500])
    await one.stop()
  })
  test('seldom, and often for two seconds after rows were found', async () => {
    const { one, clock, reads, add } = await open({}, { exclusive: false })
    await clock.pass(290)
    add()
    await clock.pass(2400)
    // found at 300: then every 20 ms until 2300
    const often = Array.from({ length: 101 }, (_, n) => 300 + n * 20)
    expect(reads).toEqual([0, 150, ...often, 2450, 2600])
    await one.stop()
  })
  test('less often after rows were found where hints of others arrive', async () => {
    const { one, clock, reads, add } = await open({}, { exclusive: false, arrive: true })
    await clock.pass(140)
    add()
    await clock.pass(160)
    expect(reads).toEqual([0, 150, 210, 270])
    await one.stop()
  })
  test('at once when a store says that something was appended, and not what', async () => {
    const { one, reads, of, add, tell } = await open({ urgent: () => false })
    add()
    tell()
    await quiet()
    expect([reads, of('publishes')]).toEqual([[0, 0], ['0 publishes 1']])
    await one.stop()
  })
  test('a moment later when nothing that was appended is urgent, counted from the first of it', async () => {
    const { one, clock, of, add, tell } = await open({
      urgent: ({ events }) => events.some(({ type }) => type === 'Urgent'),
    })
    const append = (...types: readonly string[]) => tell([{ rows: types.map(add), changes: [] }])
    append('Later')
    await clock.pass(20)
    append('Later', 'Later')
    await clock.pass(20)
    expect(of('publishes')).toEqual(['25 publishes 1,2,3'])
    append('Later', 'Urgent')
    await quiet()
    expect(of('publishes')[1]).toBe('40 publishes 4,5')
    await one.stop()
  })
})

describe('a checkpoint', () => {
  test('is saved a tenth of a second after a publish, and a second after a save that failed', async () => {
    const { one, clock, of, add, tell, way } = await open()
    let failures = 2
    way.saves = async () => (failures-- > 0 ? Promise.reject(new Error('away')) : true)
    add()
    tell()
    await clock.pass(5000)
    expect(of('saves')).toEqual(['100 saves relay 1', '1100 saves relay 1', '2100 saves relay 1'])
    await one.stop()
    expect(of('saves')).toHaveLength(3)
  })
})

describe('a round that fails', () => {
  test('is repeated after waits that grow to five seconds, and how late its rows are is told', async () => {
    const { one, clock, of, add, tell, way } = await open({ asideAfterMs: 1e9 })
    way.publish = async () => Promise.reject(new Error('away'))
    add()
    tell()
    await clock.pass(16_000)
    expect(of('publishes').map((each) => Number(each.split(' ')[0]))).toEqual([
      0, 20, 60, 140, 300, 620, 1260, 2540, 5100, 10_100, 15_100,
    ])
    expect(one.state()).toMatchObject({ active: true, rows: 0, messages: 0, failures: 11, lagMs: 16_000 })
    way.publish = async () => {}
    await clock.pass(5000)
    expect(one.state()).toEqual({
      active: true,
      epoch: 1,
      position: '1',
      rows: 1,
      messages: 1,
      failures: 0,
      lagMs: 0,
      states: 0,
      setAside: 0,
    })
    await one.stop()
  })
  test('RELAY-9 for six seconds: the lease is given away, and not asked for in the next two and a half', async () => {
    const lease = { leaseMs: 5000, trustMs: 3500, renewMs: 500 }
    const { one, clock, said, add, tell, way } = await open({ retry: { firstMs: 6000, maxMs: 6000 }, lease })
    way.publish = async () => Promise.reject(new Error('away'))
    add()
    tell()
    await clock.pass(9000)
    expect(said.filter((each) => Number(each.split(' ')[0]) >= 6000 && !each.includes('publishes'))).toEqual([
      '6000 releases',
      '8500 acquires',
      '9000 acquires',
    ])
    await one.stop()
  })
})

describe('a relay that is stopped', () => {
  test('RELAY-8 ends its round, saves, and gives the lease away, one after the other; nothing is left to be done', async () => {
    const { one, clock, said, add, tell, way, listeners } = await open()
    const stored = Promise.withResolvers<void>()
    way.publish = () => stored.promise
    add()
    tell()
    await quiet()
    said.length = 0
    let drained = false
    void one.drained().then(() => (drained = true))
    const stopping = one.stop().then(() => said.push('stopped'))
    await clock.pass(10)
    expect([said, drained]).toEqual([[], false])
    stored.resolve()
    await stopping
    expect(said).toEqual(['10 saves relay 1', '10 releases', 'stopped'])
    await quiet()
    expect([drained, clock.pending(), listeners.size]).toEqual([true, 0, 0])
  })
  test('has nothing left to be done either when its last save failed, or when rows were waiting', async () => {
    const { one, clock, of, add, tell, way } = await open({ urgent: () => false })
    way.saves = async () => Promise.reject(new Error('away'))
    add()
    tell()
    await quiet()
    tell([{ rows: [add()], changes: [] }])
    await one.stop()
    expect([of('saves'), clock.pending()]).toEqual([['0 saves relay 1'], 0])
  })
})
