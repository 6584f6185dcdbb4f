/**
 * 300 clients follow the events of a cluster while a control is killed and another is restarted: what each is told is
 * the journal.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reactions } from '../../src/actors/reactions.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { readTopics } from '../../src/bus/kafka/read.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { followJournal } from '../../src/persistence/follow.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { type ControlMember, controlMember } from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { streamClient } from './streamClient.ts'

const LONG = 240_000
const CLIENTS = 300
/** Of these, so many stop reading for a while. */
const STOPPING = 30
const EVENTS = 600
const MANY = { ACCELERANDO_EVENTS_STREAMS_PER_CALLER: '1000', ACCELERANDO_EVENTS_RING_BYTES: '1048576' }
const folder = tempFolder('events')
let server: OwnServer
let database: { readonly url: string }
let kafka: KafkaOptions
let broker: Broker
let controls: readonly ControlMember[]

const written = async (): Promise<readonly string[]> => {
  const journal = await followJournal({ kind: 'postgres', url: database.url })
  const texts: string[] = []
  for (let at = ''; ;) {
    const rows = await journal.feed(at, 500)
    const records = rows.flatMap(reactions).filter(({ topic }) => topic.endsWith('.events.v1'))
    texts.push(...records.map(({ value }) => value))
    if (rows.length === 0) break
    at = rows.at(-1)!.position
  }
  await journal.close()
  return texts
}
/** The values of the messages on the topics of facts, each once. */
const onKafka = async (): Promise<ReadonlySet<string>> => {
  const values = new Set<string>()
  const topics = Object.values(CATALOGUE).flatMap(({ topic }) => (topic.endsWith('.events.v1') ? [topic] : []))
  const signal = new AbortController().signal
  await readTopics({
    kafka,
    log: silent,
    topics,
    from: 'earliest',
    follow: false,
    signal,
    take: ({ value }) => void values.add(value ?? ''),
  })
  return values
}
/** By whichever control answers; a creation whose answer is lost may be there all the same. */
const create = async (count: number): Promise<void> => {
  for (let made = 0, turn = 0; made < count; turn++) {
    const { client } = controls[turn % controls.length]!
    const answer = await client
      .call('POST', '/accelerator_requests', { device_profile_name: 'wide' })
      .catch(() => ({ status: 0 }))
    if (answer.status === 201) made += 5
    else await sleep(50)
  }
}

describeWith('kafka', 'events of a cluster', (kafkaHome) => {
  describeWith('postgres', 'over PostgreSQL', (bin) => {
    beforeAll(async () => {
      ;[server, broker] = await Promise.all([ownServer(bin), ownBroker(kafkaHome)])
      database = await server.freshDatabase()
      const prefix = freshPrefix()
      kafka = { ...broker.options, prefix }
      const testCluster = { database: database.url, brokers: broker.options.brokers, prefix, folder: folder.path }
      controls = await Promise.all(['a', 'b', 'c'].map((name) => controlMember(testCluster, name, MANY)))
      for (const control of controls) await control.start()
      const groups = Array.from({ length: 5 }, () => ({ 'resources:FPGA': '1' }))
      await controls[0]!.client.wanted(201, 'POST', '/device_profiles', [{ name: 'wide', groups }])
    }, LONG)
    afterAll(async () => {
      const alive = controls.filter((control) => control.running() !== null)
      await Promise.all(alive.map((control) => control.end('SIGKILL')))
      await Promise.all([server.end(), broker.kill()])
      folder.remove()
    }, LONG)

    test(
      'each client is told the journal: no gap, no repeat, in one order',
      async () => {
        const origins = controls.map(({ origin }) => origin)
        const clients = Array.from({ length: CLIENTS }, (_, n) => streamClient(origins, n))
        await expect.poll(() => clients.every(({ isOpen }) => isOpen()), { timeout: 30_000 }).toBe(true)
        const writing = create(EVENTS)
        for (const client of clients.slice(0, STOPPING)) client.stopReading()
        await sleep(500)
        await controls[0]!.end('SIGKILL')
        await sleep(1000)
        await controls[0]!.start()
        await controls[1]!.end('SIGTERM')
        await controls[1]!.start()
        await writing
        await create(EVENTS / 4)
        for (const client of clients.slice(0, STOPPING)) client.goOn()
        const all = await written()
        expect(all.length).toBeGreaterThanOrEqual(EVENTS * 1.25)
        const complete = () => clients.filter(({ told }) => told.length >= all.length).length
        await expect.poll(complete, { timeout: 60_000, interval: 200 }).toBe(CLIENTS)
        await expect.poll(async () => (await onKafka()).size, { timeout: 30_000 }).toBe(all.length)
        expect(await onKafka()).toEqual(new Set(all))
        await Promise.all(clients.map(({ end }) => end()))
        for (const { told, counts } of clients) {
          expect(counts).toMatchObject({ repeats: 0, resets: 0 })
          expect(told).toEqual(all)
        }
        const sum = (name: keyof (typeof clients)[number]['counts']) =>
          clients.reduce((total, { counts }) => total + counts[name], 0)
        // those of the control that was restarted were sent away with a word, and all who lost theirs came back
        expect(sum('byes')).toBeGreaterThan(CLIENTS / 10)
        expect(sum('connections')).toBeGreaterThan(CLIENTS * 1.4)
        await expect
          .poll(async () => (await fetch(`${controls[2]!.admin}/metrics`)).text())
          .toMatch(/accelerando_event_streams_open 0\n/)
      },
      LONG,
    )
  })
})
