import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

const load = (flags: Record<string, unknown>, env: Record<string, string> = {}, files: Record<string, string> = {}) =>
  loadConfig({
    flags,
    env,
    readFile: (path) => {
      if (files[path] === undefined) throw new Error('ENOENT: not there')
      return files[path]
    },
    osHostname: 'here',
  })
const config = (...given: Parameters<typeof load>) => {
  const loaded = load(...given)
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
const problems = (...given: Parameters<typeof load>): readonly string[] => {
  const loaded = load(...given)
  return loaded.ok ? [] : loaded.problems
}

describe('Kafka', () => {
  test('is not there unless somebody names a broker', () => {
    expect(config({})).toMatchObject({ kafka: null, auth: null, clockOffsetMs: 0 })
  })
  test('is found by --kafka, in clear and without a login', () => {
    expect(config({ kafka: 'a:1, [::1]:2' }).kafka).toEqual({
      brokers: ['a:1', '[::1]:2'],
      prefix: '',
      clientId: 'accelerando',
      tls: null,
      sasl: null,
    })
  })
  test('topics are made as they are told', () => {
    expect(config({}).topics).toEqual({ partitions: 12, replicas: 1, retentionMs: null, create: true })
    const file = '[kafka]\npartitions = 3\nreplicas = 2\nretention_days = 1\ncreate_topics = false\n'
    expect(config({ config: 'c' }, {}, { c: file }).topics).toEqual({
      partitions: 3,
      replicas: 2,
      retentionMs: 86_400_000,
      create: false,
    })
  })
})

describe('TLS', () => {
  const ca = { ACCELERANDO_KAFKA_CA_FILE: 'ca.pem' }
  const pem = '-----BEGIN CERTIFICATE-----\nMII\n'
  test('by a word, or by certificates of its own', () => {
    expect(config({ kafka: 'a:1' }, { ACCELERANDO_KAFKA_TLS: 'true' }).kafka?.tls).toEqual({ ca: null })
    expect(config({ kafka: 'a:1' }, ca, { 'ca.pem': pem }).kafka?.tls).toEqual({ ca: pem })
  })
  test('a file of certificates that is none is told', () => {
    const from = 'from ACCELERANDO_KAFKA_CA_FILE'
    expect(problems({}, ca)).toEqual([`kafka.ca_file: ca.pem: cannot be read: ENOENT: not there (${from})`])
    expect(problems({}, ca, { 'ca.pem': 'x' })).toEqual([
      `kafka.ca_file: ca.pem: must hold certificates in PEM (${from})`,
    ])
  })
})

describe('a login', () => {
  const whole = {
    ACCELERANDO_KAFKA_SASL_MECHANISM: 'scram-sha-512',
    ACCELERANDO_KAFKA_SASL_USERNAME: 'me',
    ACCELERANDO_KAFKA_SASL_PASSWORD: 'p4ss',
  }
  test('has all of its parts', () => {
    expect(config({ kafka: 'a:1' }, whole).kafka?.sasl).toEqual({
      mechanism: 'scram-sha-512',
      username: 'me',
      password: 'p4ss',
    })
  })
  test('where the option that is missing stands nowhere, the first one that was set says where to look', () => {
    const { ACCELERANDO_KAFKA_SASL_MECHANISM: _, ...rest } = whole
    expect(problems({ kafka: 'a:1' }, rest).join()).toMatch(
      /\(from default; kafka\.sasl_username is from ACCELERANDO_KAFKA_SASL_USERNAME\)$/,
    )
  })
})

describe('a wrong clock', () => {
  test('is for tests only', () => {
    expect(problems({ clockOffsetMs: '-5000' })).toEqual([
      expect.stringMatching(/^clock_offset_ms: needs test_doors.*from --clock-offset-ms\)$/),
    ])
    expect(config({ clockOffsetMs: '-5000' }, { ACCELERANDO_TEST_DOORS: '1' }).clockOffsetMs).toBe(-5000)
    expect(problems({ config: 'c' }, {}, { c: 'clock_offset_ms = 1' })).toEqual([
      'clock_offset_ms: may be set by environment and flag only (from c)',
    ])
  })
})
