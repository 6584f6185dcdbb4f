/** What kafkajs is told at its start, and what of its sentences is noted how often. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { logLevel } from 'kafkajs'
import { configOf, kafkaClient } from '../../src/bus/kafka/client.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { silent } from '../../src/log.ts'
import { memoryLog } from '../support/lab.ts'

const OPTIONS: KafkaOptions = { brokers: ['a:1', 'b:2'], prefix: 'p.', clientId: 'c', tls: null, sasl: null }
const RETRY = { retries: 7 }

describe('kafkajs is told', () => {
  const config = (more: Partial<KafkaOptions> = {}) => configOf({ ...OPTIONS, ...more }, silent, RETRY)
  const plain = {
    brokers: ['a:1', 'b:2'],
    clientId: 'c',
    connectionTimeout: 3000,
    authenticationTimeout: 5000,
    requestTimeout: 5000,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: expect.any(Function),
  }
  test('the brokers, how long they may take, and what to do again', () => expect(config()).toEqual(plain))
  test('other times where they are set', () =>
    expect(config({ patience: { connectMs: 1, answerMs: 2 } })).toEqual({
      ...plain,
      connectionTimeout: 1,
      authenticationTimeout: 2,
      requestTimeout: 2,
    }))
  test('which certificates are trusted, and who it is', () => {
    const sasl = { mechanism: 'scram-sha-512', username: 'bob', password: 'secret' } as const
    expect(config({ tls: { ca: null }, sasl })).toEqual({ ...plain, ssl: true, sasl })
    expect(config({ tls: { ca: 'PEM' } })).toEqual({ ...plain, ssl: { ca: ['PEM'] } })
  })
})

describe('KAFKA-3 a sentence of kafkajs', () => {
  afterEach(() => vi.restoreAllMocks())
  const open = () => {
    let now = 1000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const log = memoryLog()
    const logger = kafkaClient(OPTIONS, log, RETRY).logger()
    const pass = (ms: number) => void (now += ms)
    /** How many of the sentences are noted. */
    const noted = (...sentences: readonly string[]) => {
      const before = log.said.length
      for (const sentence of sentences) logger.namespace('Part').warn(sentence)
      return log.said.length - before
    }
    return { log, logger, pass, noted }
  }
  test('is noted with its part, its group, its broker and its reason: errors for operators, the rest for developers', () => {
    const { log, logger } = open()
    const detail = { groupId: 'g', broker: 'a:1', error: 'why' }
    logger.namespace('Part').error('broken', detail)
    logger.namespace('Part').warn('odd', detail)
    logger.namespace('Part').info('nothing', detail)
    const said = { part: 'Part', group: 'g', broker: 'a:1', reason: 'why' }
    expect(log.said).toEqual([
      { level: 'info', message: 'kafka.client', detail: { ...said, says: 'broken' } },
      { level: 'debug', message: 'kafka.client', detail: { ...said, says: 'odd' } },
    ])
  })
  test('is noted again after ten seconds, and one of another part at once', () => {
    const { logger, pass, noted, log } = open()
    expect(noted('same', 'same', 'other')).toBe(2)
    pass(9999)
    expect(noted('same')).toBe(0)
    pass(1)
    expect(noted('same', 'same')).toBe(1)
    logger.namespace('Another').warn('same')
    expect(log.said).toHaveLength(4)
  })
  test('is forgotten with all others when a hundred are known', () => {
    const { noted } = open()
    const sentences = Array.from({ length: 100 }, (_, n) => `sentence ${n}`)
    expect([noted(...sentences), noted(...sentences)]).toEqual([100, 0])
    expect([noted('one more'), noted('sentence 0', 'one more')]).toEqual([1, 1])
  })
})
