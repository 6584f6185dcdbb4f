/** Topics read from outside: to their ends, or for as long as somebody listens. */
import { beforeEach, expect, test } from 'vitest'
import { followLetters, readLetters } from '../../src/bus/kafka/deadLetters.ts'
import { letterBox } from '../../src/delivery/deadLetters/box.ts'
import type { Raw, ReadOptions } from '../../src/bus/kafka/read.ts'
import { readTopics } from '../../src/bus/kafka/read.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { rawKafka } from '../support/kafka.ts'
import { kafkaLab, optionsOf, ORDERS, REPORTS, say, watchedClock, until } from '../support/kafkaLab.ts'
import { memoryLog, quiet } from '../support/lab.ts'

const lab = kafkaLab()
const LETTERS = 'dead-letters.v1'
const publish = async (...records: Parameters<ReturnType<typeof lab.openBus>['bus']['publish']>[0]): Promise<void> => {
  const { bus } = lab.openBus()
  await bus.publish(records)
}
const begin = (more: Partial<ReadOptions> = {}) => {
  const heard: Raw[] = []
  const read = readTopics({
    kafka: optionsOf(lab.broker),
    log: silent,
    topics: [REPORTS],
    from: 'earliest',
    follow: false,
    take: (raw) => void heard.push(raw),
    ...more,
  })
  read.catch(() => undefined)
  return { heard, read }
}
const brief = (heard: readonly Raw[]) => heard.map(({ topic, key, value }) => `${topic} ${key} ${value}`).toSorted()
const readers = () => lab.broker.groups.names.filter((name) => name.includes('reader-'))

beforeEach(() => publish(say('a', '1'), say('a', '2'), say('d', '3'), say('a', '4', ORDERS)))

test('a bounded read gives all that was there when it began, once, and ends', async () => {
  const { heard, read } = begin({ topics: [REPORTS, ORDERS] })
  expect(await read).toEqual({ missing: [], cut: new Set() })
  expect(brief(heard)).toEqual([`${ORDERS} a 4`, `${REPORTS} a 1`, `${REPORTS} a 2`, `${REPORTS} d 3`])
  const { time, ...first } = heard.find(({ value }) => value === '2')!
  expect(first).toEqual({ topic: REPORTS, partition: 0, offset: 1, key: 'a', value: '2' })
  expect(Math.abs(time - Date.now())).toBeLessThan(60_000)
})

test('it makes no topic, whatever happens to one while it is read', async () => {
  await begin().read
  expect(lab.broker.seen('Metadata').filter(({ makeMissing }) => makeMissing)).toEqual([])
})

test('it is a member for ten seconds without a sign of it, and waits half a second for what comes', async () => {
  await begin().read
  expect(lab.broker.seen('JoinGroup')[0]).toMatchObject({ group: expect.stringMatching(/^reader-/), sessionMs: 10_000 })
  expect(lab.broker.seen('Fetch')[0]).toMatchObject({ maxWaitMs: 500 })
})

test('a message without a key has an empty one', async () => {
  const producer = rawKafka(optionsOf(lab.broker)).producer()
  await producer.connect()
  await producer.send({ topic: ORDERS, messages: [{ value: 'keyless', partition: 2 }] })
  await producer.disconnect()
  const { heard, read } = begin({ topics: [ORDERS] })
  await read
  const sorted = heard.toSorted((one, other) => one.partition - other.partition)
  expect(sorted.map(({ partition, offset, key, value }) => [partition, offset, key, value])).toEqual([
    [0, 0, 'a', '4'],
    [2, 0, '', 'keyless'],
  ])
})

test('its group is deleted afterwards, and nothing was committed in it', async () => {
  await begin().read
  expect(readers()).toEqual([])
  expect(lab.broker.seen('DeleteGroups').length).toBe(1)
  expect(lab.broker.seen('OffsetCommit')).toEqual([])
  await until(() => lab.broker.connections <= 2)
})

test('a group that cannot be deleted does not spoil the read', async () => {
  lab.broker.on('DeleteGroups', async ({ groups }) => ({
    throttleMs: 0,
    groups: groups.map((group) => ({ group, errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED })),
  }))
  const log = memoryLog()
  const { heard, read } = begin({ log })
  await read
  expect(heard.length).toBe(3)
  expect(log.said.filter(({ message }) => message === 'kafka.groupLeft').length).toBe(1)
})

test('what comes after the beginning is beyond a bounded read', async () => {
  let late = false
  lab.broker.on('JoinGroup', async (_request, answer) => {
    if (!late) await publish(say('a', 'late'), say('f', 'late'))
    late = true
    return answer()
  })
  const { heard, read } = begin()
  await read
  expect(brief(heard)).toEqual([`${REPORTS} a 1`, `${REPORTS} a 2`, `${REPORTS} d 3`])
})

test('with nothing to read nobody joins, and the missing are named', async () => {
  lab.broker.topics.make('state', 2)
  const { heard, read } = begin({ topics: ['nobody', 'state'] })
  expect([await read, heard]).toEqual([{ missing: ['nobody'], cut: new Set() }, []])
  expect(await begin({ topics: ['nobody'], follow: true }).read).toEqual({ missing: ['nobody'], cut: new Set() })
  expect(lab.broker.seen('JoinGroup')).toEqual([])
})

test('partitions whose first messages are gone are named, and their rest is read', async () => {
  lab.broker.topics.log(REPORTS, 0)!.forgetBefore(2)
  await publish(say('a', '5'))
  const { heard, read } = begin()
  expect(await read).toEqual({ missing: [], cut: new Set([`${REPORTS}/0`]) })
  expect(brief(heard)).toEqual([`${REPORTS} a 5`, `${REPORTS} d 3`])
})

test('a tombstone has no value, and topics are named without the prefix', async () => {
  const topic = `mine.${REPORTS}`
  lab.broker.topics.make(topic, 2)
  const kafka = optionsOf(lab.broker, { prefix: 'mine.' })
  await lab.openBus({ options: kafka }).bus.publish([{ ...say('a', ''), tombstone: true }])
  lab.broker.topics.log(topic, 1)!.leaveOut(1)
  lab.broker.topics.log(topic, 1)!.forgetBefore(1)
  const { heard, read } = begin({ kafka, topics: [REPORTS, ORDERS] })
  expect(await read).toEqual({ missing: [ORDERS], cut: new Set([`${REPORTS}/1`]) })
  expect(heard).toMatchObject([{ topic: REPORTS, key: 'a', value: null }])
})

test('one that follows gives what comes, also to partitions that were empty, until it is told to end', async () => {
  const told = new AbortController()
  const { heard, read } = begin({ follow: true, signal: told.signal })
  await until(() => heard.length === 3)
  await publish(say('a', '5'), say('f', '6'))
  await until(() => heard.length === 5)
  told.abort()
  expect(await read).toEqual({ missing: [], cut: new Set() })
  expect(readers()).toEqual([])
})

test('one that follows topics that were empty does not end with the first message', async () => {
  const topic = 'device.events.v1'
  lab.broker.topics.make(topic, 2)
  const told = new AbortController()
  let ended = false
  const { heard, read } = begin({ topics: [topic], follow: true, signal: told.signal })
  void read.then(() => (ended = true))
  for (const count of [1, 2]) {
    await publish(say('a', String(count), topic))
    await until(() => heard.length === count)
  }
  await quiet()
  expect(ended).toBe(false)
  told.abort()
  await read
})

test('one that follows from the end leaves out what was there, and nothing that came since', async () => {
  const told = new AbortController()
  let late = false
  lab.broker.on('JoinGroup', async (_request, answer) => {
    if (!late) await publish(say('a', 'while it joined'))
    late = true
    return answer()
  })
  const { heard, read } = begin({ follow: true, from: 'latest', signal: told.signal })
  await until(() => heard.length > 0)
  await publish(say('f', 'after'))
  await until(() => heard.length > 1)
  expect(brief(heard)).toEqual([`${REPORTS} a while it joined`, `${REPORTS} f after`])
  told.abort()
  await read
})

test('who was told to end before it began ends', async () => {
  const { read } = begin({ follow: true, signal: AbortSignal.abort() })
  expect(await read).toMatchObject({ missing: [] })
})

test('an error of the taker ends the read with it', async () => {
  const bad = new TypeError('of the taker')
  const { read } = begin({
    take: () => {
      throw bad
    },
  })
  await expect(read).rejects.toBe(bad)
  expect(readers()).toEqual([])
})

test('a consumer that kafkajs starts again by itself is waited for', async () => {
  lab.broker.on('JoinGroup', ({ member }) => {
    lab.broker.off('JoinGroup')
    const errorCode = ERRORS.REQUEST_TIMED_OUT
    return { throttleMs: 0, errorCode, generation: -1, protocol: '', leader: '', member, members: [] }
  })
  const { heard, read } = begin()
  await read
  expect(heard.length).toBe(3)
  expect(lab.broker.seen('JoinGroup').length).toBe(2)
})

test('a consumer that is refused for good ends the read', async () => {
  lab.broker.on('JoinGroup', async (_request, answer) => ({
    ...(await answer()),
    errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED,
  }))
  await expect(begin().read).rejects.toThrow(/Not authorized to access group/)
})

test('a bounded read to which nothing comes for a minute fails; each message gives it another minute', async () => {
  const clock = watchedClock()
  let open = 0
  lab.broker.on('Fetch', async (_request, answer) => {
    const all = await answer()
    const held = <Row extends { readonly partition: number }>(row: Row) =>
      row.partition < open ? row : { ...row, records: Buffer.alloc(0) }
    return { ...all, topics: all.topics.map((each) => ({ ...each, partitions: each.partitions.map(held) })) }
  })
  let failed: Error | null = null
  const { heard, read } = begin({ clock })
  read.catch((error: Error) => (failed = error))
  await until(() => lab.broker.seen('Fetch').length > 0)
  await clock.pass(59_999)
  open = 1
  await until(() => heard.length === 2)
  await quiet()
  await clock.pass(59_999)
  expect(failed).toBeNull()
  await clock.pass(1)
  await expect(read).rejects.toThrow('no message was read from the topics for 60 s')
  expect(brief(heard)).toEqual([`${REPORTS} a 1`, `${REPORTS} a 2`])
})

test('a bounded read that has ended, and one that follows, wait for nothing', async () => {
  const clock = watchedClock()
  const told = new AbortController()
  const following = begin({ clock, follow: true, signal: told.signal })
  await until(() => following.heard.length === 3)
  expect(clock.waits).toEqual([])
  told.abort()
  await following.read
  await begin({ clock }).read
  expect(clock.pending()).toBe(0)
})

test('dead letters are read whole, and without their topic there is a sentence', async () => {
  const box = letterBox(systemClock)
  await expect(readLetters(optionsOf(lab.broker), silent, box.take)).rejects.toThrow(
    `there is no topic ${LETTERS}: accelerando topic create makes it`,
  )
  lab.broker.topics.make(LETTERS, 2)
  await publish(deadLetterRecord({ ...say('a', 'x'), headers: {} }, 'unreadable', { id: 'one', time: 5 }))
  await readLetters(optionsOf(lab.broker), silent, box.take)
  expect(box.all()).toMatchObject([
    { id: 'one', topic: REPORTS, key: 'a', value: 'x', reason: 'unreadable', cut: false, retriedAt: null },
  ])
})

test.each([
  ['some', 1],
  ['none', 0],
])(
  'letters that are followed: it is told when those were read that were there (%s), and later ones come too',
  async (_, there) => {
    lab.broker.topics.make(LETTERS, 2)
    const letter = (id: string) => deadLetterRecord({ ...say('a', id), headers: {} }, 'unreadable', { id, time: 5 })
    if (there > 0) await publish(letter('early'))
    const [box, end] = [letterBox(systemClock), new AbortController()]
    let read = false
    const follow = followLetters(optionsOf(lab.broker), silent)
    const following = follow(box.take, () => void (read = true), end.signal)
    await until(() => read)
    expect(box.all()).toHaveLength(there)
    await publish(letter('late'))
    await until(() => box.all().some(({ id }) => id === 'late'))
    end.abort()
    await following
  },
)
