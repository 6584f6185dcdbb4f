/** Rows that are on the topics and not in the database: which are found, and what is recorded of them on demand. */
import { expect, test } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { stoppedIn } from '../../src/cli/store/adopt.ts'
import { lostOnTopics } from '../../src/cli/store/lostOnTopics.ts'
import { systemClock, systemIds } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { REASON } from '../../src/persistence/incarnation.ts'
import { openStore } from '../../src/persistence/open.ts'
import { unit } from '../persistence/samples.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { optionsOf } from '../support/kafkaLab.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'

const TOPIC = 'arq.events.v1'
const AT = '2026-01-02T03:04:05.678Z'
const [LOST, KEPT] = [systemIds.uuid(), systemIds.uuid()]
/** The fact of a row, as a relay publishes it. */
const factOf = (key: string, at: number, command?: string) => ({
  topic: TOPIC,
  key,
  headers: {},
  value: JSON.stringify({
    specversion: '1.0',
    id: `${at}.0`,
    source: '/test',
    type: 'accelerando.arq.Bound',
    time: AT,
    datacontenttype: 'application/json',
    position: `${at}.1`,
    data: { entity: key, version: 1, event: { type: 'Bound' }, ...(command !== undefined && { command }) },
  }),
})
const ROW = { key: 'arq/lost', version: 1, command: LOST, events: [{ type: 'Bound' }], at: Date.parse(AT) }

describeWith('postgres', 'a database that lacks a row that was published', (bin) => {
  test('is stopped with that row on demand, and is not changed by a look', { timeout: 120_000 }, async () => {
    const broker = await scriptedBroker()
    const kafka = optionsOf(broker)
    const { url, drop } = await freshDatabase(bin)
    const bus = kafkaBus({ options: kafka, clock: systemClock, log: silent })
    try {
      broker.topics.make(TOPIC, 1)
      // before the first migration the database says of no row whether it is there
      await bus.publish([factOf('arq/lost', 5, LOST), factOf('arq/kept', 6, KEPT), factOf('arq/older', 7)])
      expect(await lostOnTopics(url, kafka, { keep: true, log: silent })).toEqual([])
      const store = await openStore({ kind: 'postgres', url })
      expect(await store.journal.append(unit([['arq/kept', 1]], [], KEPT))).toBe('appended')
      await store.close()

      expect(await lostOnTopics(url, kafka, { keep: false, log: silent })).toEqual([ROW])
      expect(await stoppedIn(url)).toBeNull()
      expect(await lostOnTopics(url, kafka, { keep: true, log: silent })).toEqual([ROW])
      expect(await stoppedIn(url)).toEqual({ reason: REASON, since: expect.any(Date), lost: [ROW] })
    } finally {
      await bus.stop()
      await broker.stop()
      await drop()
    }
  })
  test('that lacks none is not stopped', { timeout: 120_000 }, async () => {
    const broker = await scriptedBroker()
    const { url, drop } = await freshDatabase(bin)
    try {
      broker.topics.make(TOPIC, 1)
      await (await openStore({ kind: 'postgres', url })).close()
      expect(await lostOnTopics(url, optionsOf(broker), { keep: true, log: silent })).toEqual([])
      expect(await stoppedIn(url)).toBeNull()
    } finally {
      await broker.stop()
      await drop()
    }
  })
})
