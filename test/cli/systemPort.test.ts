/** What a program tells of its bus and its last audit: the order, the limits, and what is kept for a while. */
import { expect, test } from 'vitest'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import type { Bus, KnowsLags } from '../../src/bus/port.ts'
import { NOTHING_IN_FORCE, hidingAlso } from '../../src/cli/config/inForce.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { noBundles, systemPortOf } from '../../src/cli/programs/systemPort.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { handClock } from '../support/lab.ts'

type Lag = Awaited<ReturnType<KnowsLags['lagsByPartition']>>[number]
const lag = (messages: number, topic = 't', group = 'g', partition = 0): Lag => ({ topic, group, partition, messages })
type Given = {
  readonly bus?: Partial<Bus & KnowsLags> & object
  readonly store?: object
  readonly self?: null
  readonly more?: object
}
const opened = ({ bus = {}, store = {}, ...more }: Given = {}) => {
  const clock = handClock()
  const port = systemPortOf({
    program: 'control',
    ...(more.self === null ? {} : { self: { machine: 'm', pid: 1, accelerando: '1', node: '24' } }),
    config: {} as never,
    meter: openMeter(),
    store: { ...memoryStore(), ...store },
    system: { bus: { ...inProcessBus({ clock }), ...bus }, writes: () => null },
    neighbours: () => ({}),
    bundles: noBundles,
    clock,
    api: () => null,
    ...more.more,
  })
  const facts = async () => {
    const answered = await port.facts()
    return answered.ok ? answered.value : expect.fail(JSON.stringify(answered.fault))
  }
  return { clock, port, facts }
}

test('the largest lag comes first, then by topic, group and partition', async () => {
  const inOrder = [
    lag(9, 'b', 'b', 9),
    lag(5, 'a', 'b', 9),
    lag(5, 'b', 'a', 9),
    lag(5, 'b', 'b', 2),
    lag(5, 'b', 'b', 10),
  ]
  for (const given of [inOrder, inOrder.toReversed()]) {
    const { facts } = opened({ bus: { lagsByPartition: async () => given } })
    expect((await facts()).consumers).toEqual({ bus: 'in_process', lags: inOrder, leftOut: 0, problem: null })
  }
})
test('at most 500 lags are told, with the number of the others', async () => {
  const lags = (count: number) => Array.from({ length: count }, (_, at) => lag(count - at))
  const told = async (count: number) =>
    (await opened({ bus: { lagsByPartition: async () => lags(count) } }).facts()).consumers
  expect(await told(500)).toMatchObject({ lags: lags(500), leftOut: 0 })
  expect(await told(502)).toMatchObject({ lags: lags(502).slice(0, 500), leftOut: 2 })
})
test('a bus outside the process is Kafka, and one that cannot tell its lags says so', async () => {
  const kafka = { state: () => ({ connected: true }), lagsByPartition: async () => [] }
  expect((await opened({ bus: kafka }).facts()).consumers).toEqual({
    bus: 'kafka',
    lags: [],
    leftOut: 0,
    problem: null,
  })
  expect((await opened({ bus: { lagsByPartition: undefined } as never }).facts()).consumers).toEqual({
    bus: 'in_process',
    lags: null,
    leftOut: 0,
    problem: 'the bus does not tell',
  })
})
test('lags are asked for once in ten seconds, by whoever asks', async () => {
  let asked = 0
  const { clock, facts } = opened({ bus: { lagsByPartition: async () => [lag(++asked)] } })
  const told = async () => (await facts()).consumers.lags![0]!.messages
  expect(await Promise.all([told(), told()])).toEqual([1, 1])
  await clock.pass(9999)
  expect(await told()).toBe(1)
  await clock.pass(1)
  expect(await told()).toBe(2)
})
test('a bus and a store that do not answer are waited for four seconds', async () => {
  const never = new Promise<never>(() => {})
  const journal = { ...memoryStore().journal, checkpoint: () => never, recall: () => never, feed: () => never }
  const { clock, facts } = opened({ bus: { lagsByPartition: () => never }, store: { journal } })
  let told: Awaited<ReturnType<typeof facts>> | undefined
  void facts().then((value) => (told = value))
  await clock.pass(3999)
  expect(told).toBeUndefined()
  await clock.pass(1)
  expect(told).toMatchObject({
    consumers: { lags: null, problem: 'no answer within 4000 ms' },
    audit: null,
    auditProblem: 'the store does not answer within 4000 ms',
  })
})
test('a store that cannot be read is told, and another error is an error', async () => {
  const failing = (problem: Error) => {
    const fails = () => Promise.reject(problem)
    const { journal } = memoryStore()
    return opened({ store: { journal: { ...journal, checkpoint: fails, recall: fails, feed: fails } } }).facts()
  }
  expect(await failing(new Unreadable('it is away'))).toMatchObject({ audit: null, auditProblem: 'it is away' })
  await expect(failing(new Error('a mistake'))).rejects.toThrow('a mistake')
})
test('neighbours are in use, absent or failing, and what is said of them hides what is secret', async () => {
  const neighbours = () => ({
    keystone: 'in use',
    placement: 'absent',
    nova: 'it answers 401 to planted',
    images: 'the image service',
  })
  const failing = () => Promise.reject(new Unreadable('no planted'))
  const { journal } = memoryStore()
  const { facts } = opened({
    more: { neighbours, config: { inForce: hidingAlso(NOTHING_IN_FORCE, ['planted']) } },
    bus: { lagsByPartition: () => Promise.reject(new Error('planted is refused')) },
    store: {
      journal: { ...journal, checkpoint: failing, recall: failing, feed: failing },
      schema: 's7',
      newer: ['s8'],
    },
  })
  expect(await facts()).toMatchObject({
    versions: { accelerando: '1', node: '24', schema: 's7', newer: ['s8'] },
    store: { kind: 'memory', powerLoss: 'everything' },
    neighbours: [
      { name: 'keystone', state: 'in_use', detail: null },
      { name: 'placement', state: 'absent', detail: null },
      { name: 'nova', state: 'failing', detail: 'it answers 401 to (hidden)' },
      { name: 'images', state: 'in_use', detail: 'the image service' },
    ],
    consumers: { bus: 'in_process', lags: null, leftOut: 0, problem: '(hidden) is refused' },
    writes: null,
    audit: null,
    auditProblem: 'no (hidden)',
  })
})
test('it tells when it was started and of which program, by itself', async () => {
  const { clock, facts } = opened({ self: null })
  const startedAt = clock.now()
  await clock.pass(5000)
  const told = await facts()
  expect(told.toldAt).toBe(startedAt + 5000)
  expect(told.process).toEqual({ program: 'control', machine: expect.any(String), pid: process.pid, startedAt })
  expect(told.versions).toMatchObject({ node: process.versions.node, newer: [] })
  expect(told.configuration).toEqual([])
})
test('a program that was not started by its command makes no support bundles', async () => {
  expect(await opened().port.supportBundle({})).toEqual({
    ok: false,
    fault: { kind: 'unavailable', reason: 'this process makes no support bundles', retryAfterSeconds: 60 },
  })
})
