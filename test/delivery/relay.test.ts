import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { FeedRow, Journal } from '../../src/actors/runtime/ports.ts'
import { Unpublishable } from '../../src/bus/port.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import type { RelayOptions } from '../../src/delivery/relay/options.ts'
import { relay } from '../../src/delivery/relay/relay.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { factRecord } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet, until } from '../support/lab.ts'

const reactions = ({ key, version, events, at, position }: FeedRow): BusRecord[] =>
  events.map((event) =>
    factRecord('arqEvents', key, { entity: key, version, event }, { id: `${key}/${version}`, time: at, position }),
  )

/** A journal one can write into by key, and a bus that keeps what it was given. */
const start = (options: Partial<RelayOptions> = {}) => {
  const { journal, sharing } = memoryStore()
  const versions = new Map<string, number>()
  const append = async (key: string, type = 'Happened') => {
    const version = (versions.get(key) ?? 0) + 1
    versions.set(key, version)
    const row = { key, version, commandId: randomUUID(), events: [{ type }], at: 0, cause: {} }
    await journal.append({ rows: [row], changes: [] })
  }
  const published: string[] = []
  let fails = (_batch: readonly BusRecord[]): boolean => false
  const bus = {
    publish: async (batch: readonly BusRecord[]) => {
      await quiet(1)
      const failed = fails(batch)
      // what a failed publish stored is not certain: here, its first half
      const stored = failed ? batch.slice(0, batch.length >> 1) : batch
      for (const { value } of stored) published.push(JSON.parse(value).id)
      if (failed) throw new Error('the broker is away')
    },
  }
  const log = memoryLog()
  const parts = { journal, sharing, bus, reactions, log, clock: systemClock, retry: { firstMs: 1, maxMs: 5 } }
  const make = (more: Partial<RelayOptions> = {}) => relay({ ...parts, holder: randomUUID(), ...options, ...more })
  return { journal, sharing, append, published, log, make, failWhen: (rule: typeof fails) => void (fails = rule) }
}
const ids = (key: string, count: number) => Array.from({ length: count }, (_, index) => `${key}/${index + 1}`)
/** What a consumer that knows ids keeps. */
const once = (published: readonly string[]) => [...new Set(published)]

test('what is appended is told at once, in commit order, without waiting for the poll', async () => {
  const { append, published, make } = start({ clock: handClock() })
  const relay = make()
  await relay.start()
  for (const key of ['arq/a', 'arq/b', 'arq/a']) await append(key)
  await quiet()
  expect(published).toEqual(['arq/a/1', 'arq/b/1', 'arq/a/2'])
  expect(relay.state()).toMatchObject({ rows: 3, messages: 3, failures: 0, lagMs: 0 })
  await relay.stop()
})

test('RELAY-3 what another process wrote is found by looking', async () => {
  const clock = handClock()
  const { append, published, make, journal } = start({ clock, pollMs: 400 })
  const deaf: Journal = { ...journal, onAppended: () => () => {} }
  const relay = make({ journal: deaf })
  await relay.start()
  await quiet()
  await append('arq/a')
  await clock.pass(399)
  expect(published).toEqual([])
  await clock.pass(2)
  expect(published).toEqual(['arq/a/1'])
  await relay.stop()
})

test('RELAY-3 what nobody waits for is gathered, and goes with what is urgent', async () => {
  const clock = handClock()
  const urgent: RelayOptions['urgent'] = ({ events }) => events.some(({ type }) => type === 'Ordered')
  const { append, published, make } = start({ clock, urgent, gatherMs: 25 })
  const relay = make()
  await relay.start()
  await quiet()
  await append('arq/a')
  await clock.pass(24)
  expect(published).toEqual([])
  await append('arq/a', 'Ordered')
  await quiet()
  expect(published).toEqual(ids('arq/a', 2))
  await append('arq/a')
  await clock.pass(26)
  expect(published).toEqual(ids('arq/a', 3))
  await append('arq/a')
  await relay.drained()
  expect(published).toEqual(ids('arq/a', 4))
  await relay.stop()
})

test('a long journal is told in rounds, each as one publish', async () => {
  const { append, published, make } = start({ rowsMax: 10 })
  for (let count = 0; count < 95; count++) await append('arq/a')
  const relay = make()
  await relay.start()
  await relay.drained()
  expect(published).toEqual(ids('arq/a', 95))
  await relay.stop()
})

test('drained waits for what was journaled before it was asked, also over failures', async () => {
  const { append, published, make, failWhen } = start()
  let failures = 3
  failWhen(() => failures-- > 0)
  const relay = make()
  await relay.start()
  await append('arq/a')
  await relay.drained()
  expect(once(published)).toEqual(['arq/a/1'])
  await relay.stop()
  await relay.drained()
})

describe('RELAY-1 no row is lost or out of order', () => {
  test.each([1, 2, 3, 5, 8, 13, 21, 34])(
    'stopped and started again at every %s. moment, with failing publishes',
    async (stride) => {
      const { append, published, make, failWhen, log } = start({ rowsMax: 3, saveEveryMs: 1 })
      let publishes = 0
      failWhen(() => ++publishes % 3 === 0)
      let [running, steps] = [make(), 0]
      await running.start()
      for (let count = 0; count < 40; count++) {
        await append(`arq/${count % 2 === 0 ? 'a' : 'b'}`)
        for (let turn = 0; turn < count % 4; turn++) await quiet(1)
        if (++steps % stride !== 0) continue
        await running.stop()
        running = make()
        await running.start()
      }
      await running.drained()
      await running.stop()
      for (const key of ['arq/a', 'arq/b'])
        expect(once(published.filter((id) => id.startsWith(key)))).toEqual(ids(key, 20))
      // a new reader of the same checkpoint has nothing to tell
      const before = published.length
      const last = make()
      await last.start()
      await last.drained()
      await last.stop()
      expect(published.length).toBe(before)
      expect(new Set(log.said.map(({ message }) => message))).toEqual(new Set(['relay.leaseTaken', 'relay.again']))
    },
  )

  test('the checkpoint is saved at most every saveEveryMs, and never before the publish', async () => {
    const clock = handClock()
    const { append, make, sharing, failWhen, published } = start({ clock, saveEveryMs: 100 })
    const saves: string[] = []
    const saving: RelayOptions['sharing'] = {
      ...sharing,
      saveUnder: (lease, reader, position) => {
        saves.push(`${position} after ${published.length}`)
        return sharing.saveUnder(lease, reader, position)
      },
    }
    const relay = make({ sharing: saving })
    await relay.start()
    for (let count = 0; count < 5; count++) await append('arq/a')
    await clock.pass(99)
    expect(saves).toEqual([])
    await clock.pass(2)
    expect(saves).toEqual(['5 after 5'])
    failWhen(() => true)
    await append('arq/a')
    await clock.pass(50)
    await relay.stop()
    expect(saves).toEqual(['5 after 5'])
  })

  test('a store that cannot be read, and a checkpoint that cannot be saved, only delay', async () => {
    const { append, published, make, journal, sharing } = start({ saveEveryMs: 1 })
    let trouble = 6
    const failing = <T>(work: () => Promise<T>) => (trouble-- > 0 ? Promise.reject(new Error('no database')) : work())
    const shaky: Journal = {
      ...journal,
      feed: (after, limit) => failing(() => journal.feed(after, limit)),
    }
    const saving: RelayOptions['sharing'] = {
      ...sharing,
      saveUnder: (lease, reader, position) => failing(() => sharing.saveUnder(lease, reader, position)),
    }
    const relay = make({ journal: shaky, sharing: saving })
    await relay.start()
    for (let count = 0; count < 3; count++) await append('arq/a')
    await until(() => published.length === 3)
    trouble = 1
    await append('arq/a')
    await until(() => published.length === 4)
    await relay.stop()
    expect(await journal.checkpoint('relay')).toBe('4')
  })
})

describe('RELAY-4 what cannot be told', () => {
  test('goes to the dead letters with its reason, and the rest goes on', async () => {
    const { append, make, log } = start()
    const records: BusRecord[] = []
    const relay = make({
      bus: { publish: async (batch) => void records.push(...batch) },
      reactions: (row) => {
        if (row.version === 2) throw new Error('nobody thought of this')
        return reactions(row).map((record) =>
          row.version === 3 ? { ...record, value: 'x'.repeat(1_000_000) } : record,
        )
      },
    })
    await relay.start()
    for (let count = 0; count < 4; count++) await append('arq/a')
    await relay.drained()
    await relay.stop()
    expect(records.map(({ topic }) => topic)).toEqual([
      'arq.events.v1',
      'dead-letters.v1',
      'dead-letters.v1',
      'arq.events.v1',
    ])
    const letters = records.slice(1, 3).map(({ value }) => JSON.parse(value).data)
    expect(letters[0]).toMatchObject({ topic: 'journal', key: 'arq/a', reason: 'reaction: nobody thought of this' })
    expect(letters[1]).toMatchObject({ topic: 'arq.events.v1', reason: expect.stringContaining('1000000 bytes') })
    expect(letters[1].value).toHaveLength(64 * 1024)
    expect(log.said.map(({ message }) => message)).toEqual(['relay.leaseTaken', 'relay.untold', 'relay.untold'])
  })
})

describe('RELAY-4 what the bus never takes', () => {
  /** A bus that refuses whatever says so, until it has changed its mind. */
  const picky = (refusal: () => Error, away: () => boolean = () => false) => {
    const stored: BusRecord[] = []
    const publish = async (batch: readonly BusRecord[]) => {
      if (away()) throw new Error('the bus is away')
      const isBad = ({ topic, value }: BusRecord) => topic === 'arq.events.v1' && value.includes('/3"')
      if (batch.some(isBad)) throw refusal()
      stored.push(...batch)
    }
    const facts = () => stored.filter(({ topic }) => topic === 'arq.events.v1').map(({ value }) => JSON.parse(value).id)
    const letters = () => stored.filter(({ topic }) => topic === 'dead-letters.v1')
    return { bus: { publish }, facts, letters }
  }
  test('is set aside at once when the bus says so, and everything else is published', async () => {
    const { append, make, log } = start()
    const { bus, facts, letters } = picky(() => new Unpublishable('a message that is too large'))
    const relay = make({ bus })
    await relay.start()
    for (let count = 0; count < 6; count++) await append('arq/a')
    await relay.drained()
    expect(facts()).toEqual(['arq/a/1', 'arq/a/2', 'arq/a/4', 'arq/a/5', 'arq/a/6'])
    expect(letters().map(({ value }) => JSON.parse(value).data)).toMatchObject([
      { topic: 'arq.events.v1', key: 'arq/a', reason: 'the bus does not take it: a message that is too large' },
    ])
    expect(relay.state()).toMatchObject({ setAside: 1, failures: 0, position: '6' })
    expect(log.said.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(['relay.setAside'])
    await relay.stop()
  })
  test('is set aside after a time when the bus does not say why, and not before', async () => {
    const clock = handClock()
    const { append, make } = start({ clock, stuckAfterMs: 6000 })
    const { bus, facts, letters } = picky(() => new Error('no'))
    const relay = make({ bus, asideAfterMs: 3_600_000 })
    await relay.start()
    for (let count = 0; count < 6; count++) await append('arq/a')
    await clock.pass(5500)
    expect([facts(), letters()]).toEqual([['arq/a/1'], []])
    await clock.pass(6000)
    expect(facts()).toEqual(['arq/a/1', 'arq/a/2', 'arq/a/4', 'arq/a/5', 'arq/a/6'])
    expect(letters()).toHaveLength(1)
    await Promise.all([relay.stop(), clock.pass(1000)])
  })
  test('is nothing while the bus is away, however long', async () => {
    const clock = handClock()
    let away = true
    const { append, make } = start({ clock, stuckAfterMs: 6000 })
    const { bus, facts, letters } = picky(
      () => new Error('no'),
      () => away,
    )
    const relay = make({ bus, asideAfterMs: 3_600_000 })
    await relay.start()
    for (let count = 0; count < 2; count++) await append('arq/a')
    await clock.pass(30_000)
    away = false
    await clock.pass(10_000)
    expect([facts(), letters(), relay.state().setAside]).toEqual([['arq/a/1', 'arq/a/2'], [], 0])
    await Promise.all([relay.stop(), clock.pass(1000)])
  })
})

test('from append to a consumer: only turns of the loop, no timer', async () => {
  const { append, make } = start()
  const clock = handClock()
  const bus = inProcessBus({ clock })
  const heard: number[] = []
  let sent = 0
  await bus.consume({
    topic: 'arq.events.v1',
    group: 'g',
    from: 'earliest',
    take: async () => void heard.push(performance.now() - sent),
  })
  const relay = make({ bus, clock })
  await relay.start()
  for (let count = 1; count <= 50; count++) {
    sent = performance.now()
    await append('arq/a')
    await until(() => heard.length === count)
  }
  expect(heard.toSorted((a, b) => a - b)[25]).toBeLessThan(3)
  await relay.stop()
  await bus.stop()
})
