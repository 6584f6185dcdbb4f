/**
 * Times and limits that hold where nobody sets them: the documents for operators name them, and other releases in the
 * same cloud rely on some.
 */
import { expect, test } from 'vitest'
import { CONTROL_DEFAULTS, PACES, RELEASE_FOR_MS } from '../src/services/kernel/kernel.ts'
import { BACKOFF } from '../src/services/nova/notifier.ts'
import { DEFAULTS as KAFKA } from '../src/bus/kafka/bus.ts'
import { TIMES } from '../src/bus/kafka/member.ts'
import { PATIENCE } from '../src/bus/kafka/topics.ts'
import { DEFAULTS as EVENTS } from '../src/delivery/events/options.ts'
import { DEFAULTS as RELAY } from '../src/delivery/relay/options.ts'
import { DEFAULTS as HOST } from '../src/host/defaults.ts'
import { STREAM_LIMITS } from '../src/http/streams.ts'

const plain = (value: object): unknown => JSON.parse(JSON.stringify(value))

test('of a control: what is due, and how processes divide it', () => {
  expect(PACES).toEqual({ claimMs: 8000, headStartMs: 3000, noteSeenEveryMs: 2000, checkEveryMs: 60_000 })
  expect(RELEASE_FOR_MS).toBe(600_000)
  expect(BACKOFF).toEqual({ firstMs: 1000, maxMs: 30_000 })
})
test('of a control: what an operator may set', () => {
  expect(CONTROL_DEFAULTS).toEqual({
    bindDeadlineMs: 120_000,
    tellForMs: 300_000,
    resendMs: 10_000,
    sweepEveryMs: 250,
    programWaitMs: 20_000,
    programDeadlineMs: 600_000,
    staleAfterMs: 15_000,
    downAfterMs: 1_800_000,
    missingRounds: 2,
    timelineKeptMs: 604_800_000,
    unboundTtlMs: 0,
    collectOrphansMs: 0,
    arqsPerProject: 0,
    enrollment: 'first-use',
    placementAuditMs: 600_000,
    reserveSilent: 'down',
  })
})
test('of the relay: the lease is trusted for 3.5 of its 5 seconds', () => {
  expect(plain(RELAY)).toEqual({
    reader: 'relay',
    pollMs: 500,
    poll: { busyMs: 20, hintedMs: 60, idleMs: 150, busyForMs: 2000 },
    hints: {},
    gatherMs: 25,
    rowsMax: 500,
    saveEveryMs: 100,
    retry: { firstMs: 20, maxMs: 5000 },
    lease: { leaseMs: 5000, trustMs: 3500, renewMs: 1000 },
    asideAfterMs: 6000,
    asideForMs: 2500,
    stuckAfterMs: 600_000,
    graceMs: 60_000,
  })
})
test('of streams of events and of long answers', () => {
  expect(plain(EVENTS)).toEqual({
    streamsMax: 1000,
    streamsPerCaller: 50,
    ringBytes: 16_777_216,
    lifeMs: 3_600_000,
    hints: {},
    hint: 'relay',
    poll: { busyMs: 20, idleMs: 150, busyForMs: 2000, aloneMs: 500, leastMs: 20 },
    rowsMax: 500,
    beatMs: 10_000,
    stallMs: 30_000,
    identifiedForMs: 1000,
    retryMs: 2000,
    lingerMs: 30_000,
    retry: { firstMs: 100, maxMs: 5000 },
  })
  expect(STREAM_LIMITS).toEqual({ stallMs: 30_000, wholeMs: 600_000 })
})
test('of a member of a group on Kafka', () => {
  expect(TIMES).toEqual({ sessionTimeout: 6000, rebalanceTimeout: 9000, heartbeatInterval: 1000, maxWaitTimeInMs: 500 })
})
test('of the bus on Kafka: a publish may take half a minute, a consumer is replaced after twelve silent seconds', () => {
  expect(KAFKA).toEqual({
    publishTimeoutMs: 30_000,
    joinWaitMs: 10_000,
    stopTimeoutMs: 10_000,
    silenceMs: 12_000,
    retry: { firstMs: 20, maxMs: 2000 },
    full: { count: 4096, bytes: 4_194_304 },
  })
  expect(PATIENCE).toEqual({ leadersMs: 15_000, shownMs: 5000 })
})
test('of a host program', () => {
  expect(HOST).toEqual({
    version: 'unknown',
    reportEveryMs: 60_000,
    heartbeatEveryMs: 5000,
    discoverMs: 30_000,
    measureEveryMs: 30_000,
    measureMs: 10_000,
    ledgerKeepMs: 604_800_000,
    stopWaitMs: 5000,
    limits: {
      PrepareSlotMs: 60_000,
      ReleaseSlotMs: 60_000,
      ProgramMs: 540_000,
      ProbeMs: 60_000,
      graceMs: 5000,
      inHandMax: 1024,
    },
  })
})
