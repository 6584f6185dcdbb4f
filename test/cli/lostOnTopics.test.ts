/** `migrate --from-topics`: rows on the topics that are not in the database stop its writing when adopted. */
import { expect, test } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openStore } from '../../src/persistence/open.ts'
import { unit } from '../persistence/samples.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { commandHere } from '../support/commandHere.ts'
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
    ...{ specversion: '1.0', id: `${at}.0`, source: '/test', type: 'accelerando.arq.Bound', time: AT },
    ...{ datacontenttype: 'application/json', position: `${at}.1` },
    data: { entity: key, version: 1, event: { type: 'Bound' }, ...(command !== undefined && { command }) },
  }),
})

describeWith('postgres', 'a database that lacks a row that was published', (bin) => {
  test(
    'is shown with that row, is not changed by a look, and lacks nothing any more when it was adopted',
    { timeout: 120_000 },
    async () => {
      const broker = await scriptedBroker()
      const { url, drop } = await freshDatabase(bin)
      const bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
      const env = { ACCELERANDO_DATABASE: url, ACCELERANDO_KAFKA_BROKERS: broker.address }
      const migrate = async (...args: readonly string[]) => {
        const { code, out } = await commandHere(['migrate', ...args], { ...env, ACCELERANDO_LOG_LEVEL: 'silent' })
        return { code, lost: out.split('\n').filter((line) => line.startsWith('lost ')) }
      }
      try {
        broker.topics.make(TOPIC, 1)
        await bus.publish([factOf('arq/lost', 5, LOST), factOf('arq/kept', 6, KEPT), factOf('arq/older', 7)])
        const store = await openStore({ kind: 'postgres', url })
        expect(await store.journal.append(unit([['arq/kept', 1]], [], KEPT))).toBe('appended')
        await store.close()
        const ROW = `lost    ${AT} arq/lost version 1: Bound`
        expect(await migrate('--check', '--from-topics')).toEqual({ code: 7, lost: [ROW] })
        expect(await migrate('--check')).toEqual({ code: 0, lost: [] })
        expect(await migrate('--adopt', '--from-topics')).toEqual({ code: 0, lost: [ROW] })
        expect(await migrate('--check')).toEqual({ code: 0, lost: [] })
      } finally {
        await bus.stop()
        await broker.stop()
        await drop()
      }
    },
  )
})
