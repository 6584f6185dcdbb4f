/** INBOX: its defaults, the words of its dead letters, who signed what it takes, and what it asks of the bus. */
import { describe, expect, test } from 'vitest'
import { type Fault, done, refuse } from '../../src/fault.ts'
import { type InboxOptions, inbox } from '../../src/delivery/inbox.ts'
import { inventoryDigest } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'
import { start, tell } from './inboxLab.ts'

test('without options it reads the reports of all hosts as the group of all controls', async () => {
  const asked: unknown[] = []
  const consume = async (given: Readonly<Record<string, unknown>>) => {
    asked.push({ ...given, take: typeof given['take'] })
    return { stop: async () => void asked.push('stopped') }
  }
  const bus = { consume, publish: async () => {} } as unknown as InboxOptions['bus']
  const box = inbox({ bus, clock: handClock(), log: memoryLog(), unchanged: () => false, take: async () => done(null) })
  await box.stop()
  await box.start()
  await box.stop()
  expect(asked).toEqual([
    { topic: 'host.reports.v1', group: 'control', from: 'earliest', window: 64, take: 'function' },
    'stopped',
  ])
})
describe('a report that is refused for good', () => {
  test.each<[Fault, string]>([
    [{ kind: 'invalid', field: 'f', rule: 'r' }, 'f: r'],
    [{ kind: 'forbidden', rule: 'not yours' }, 'not yours'],
    [{ kind: 'conflict', reason: 'why' }, 'conflict: {"reason":"why"}'],
    [{ kind: 'not_found', resource: 'host', id: 'h' }, 'not_found: {"resource":"host","id":"h"}'],
  ])('%j is a dead letter that says %s', async (fault, reason) => {
    const { say, letters, log, clock, bus } = await start({ take: async () => refuse(fault) })
    const ids: unknown[] = []
    await bus.consume({
      topic: 'dead-letters.v1',
      group: 'ids',
      from: 'earliest',
      take: async ({ value }) => {
        const { id, time } = JSON.parse(value)
        ids.push([id, Date.parse(time)])
      },
    })
    const record = tell(resultOf('h1', 1))
    await say(record)
    expect(letters).toEqual([{ topic: record.topic, key: 'h1', value: record.value, headers: record.headers, reason }])
    expect(ids).toEqual([[expect.stringMatching(/^host\.reports\.v1\/0\/0\/[0-9a-f]{16}$/), clock.now()]])
    const detail = { topic: 'host.reports.v1', key: 'h1', partition: 0, offset: '0', reason }
    expect(log.said).toMatchObject([
      { level: 'warn', message: 'inbox.dead', detail: { ...detail, offset: expect.anything() } },
    ])
  })
  test('only for its content is known again, by what it holds and not by what its headers say', async () => {
    const taken: string[] = []
    const { say, box } = await start({
      take: async (_, id) => (taken.push(id), refuse({ kind: 'invalid', field: 'f', rule: 'r' })),
    })
    const forged = tell(inventoryOf('h1', 1))
    const other = inventoryDigest(inventoryOf('h1', 1, { version: 'other' }))
    await say({ ...forged, headers: { ...forged.headers, 'report-digest': other } })
    await say(tell(inventoryOf('h1', 2, { version: 'other' })))
    await say(tell(inventoryOf('h1', 3)))
    expect([taken, box.counts()]).toEqual([
      ['h1/Inventory/1', 'h1/Inventory/2', 'h1/Inventory/3'],
      { unchanged: 0, taken: 0, repeated: 0, retried: 0, dead: 3 },
    ])
  })
  test('for another reason than its content is asked for again', async () => {
    let tries = 0
    const { say } = await start({ take: async () => (tries++, refuse({ kind: 'conflict', reason: 'x' })) })
    await say(tell(inventoryOf('h1', 1)))
    await say(tell(inventoryOf('h1', 2)))
    expect(tries).toBe(2)
  })
})

describe('INBOX-8 a message', () => {
  test('that is not admitted is a dead letter with the reason, and nothing of it is used', async () => {
    const seen: unknown[] = []
    const { say, letters, taken } = await start({
      admit: ({ key }) => (key === 'bad' ? { refused: 'signer: unknown' } : { signer: `key of ${key}` }),
      unchanged: (sighting, signer) => seen.push([sighting.host, signer]) < 0,
    })
    await say(tell(inventoryOf('bad', 1)), tell(inventoryOf('h1', 1)))
    expect([letters.map(({ reason }) => reason), seen, taken.map(({ id }) => id)]).toEqual([
      ['signer: unknown'],
      [['h1', 'key of h1']],
      ['h1/Inventory/1'],
    ])
  })
  test.each([
    [undefined, null],
    [{ signer: 'k' }, 'k'],
    [{ signer: null }, null],
  ])('admitted as %j is taken as signed by %j', async (admitted, signer) => {
    const signers: unknown[] = []
    const { say } = await start({
      ...(admitted === undefined ? {} : { admit: () => admitted }),
      take: async (_, __, by) => (signers.push(by), done(null)),
    })
    await say(tell(resultOf('h1', 1)), tell(heartbeatOf('h1')))
    expect(signers).toEqual([signer, signer])
  })
})
test('a heartbeat that comes twice is taken twice, and takes no place among the ids that are known', async () => {
  const { say, taken, box } = await start()
  const result = tell(resultOf('h1', 1))
  await say(result)
  for (let n = 0; n < 70; n++) await say(tell(heartbeatOf('h1'), `beat ${n}`))
  await say(tell(heartbeatOf('h1'), 'beat 0'), result)
  expect([taken.length, box.counts().repeated]).toEqual([72, 1])
})
test('an unchanged report that cannot be looked up is noted and taken', async () => {
  const { say, taken, log } = await start({ unchanged: async () => Promise.reject(new Error('away')) })
  await say(tell(inventoryOf('h1', 1)))
  expect(taken).toHaveLength(1)
  expect(log.said).toEqual([{ level: 'warn', message: 'inbox.lookUpFailed', detail: { host: 'h1', reason: 'away' } }])
})
test('a report that is given up says how often it was tried, and what stopped it last', async () => {
  const { say, clock, letters } = await start({
    take: async () => Promise.reject(new Error('lost')),
    retry: { firstMs: 100, maxMs: 100, tries: 1, forMs: 60_000 },
  })
  await say(tell(resultOf('h1', 1)))
  await clock.pass(1000)
  await quiet()
  expect(letters.map(({ reason }) => reason)).toEqual(['after 1 try: lost'])
})
