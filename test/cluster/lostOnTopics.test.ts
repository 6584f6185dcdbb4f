/** The database comes back as an older copy after every control has ended: only the topics tell what is gone. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { FeedRow, Journal } from '../../src/actors/runtime/ports.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { openStore } from '../../src/persistence/open.ts'
import { rawTopics } from '../audit/topicsOf.ts'
import { freshPrefix, kafkaServer, makeTopics, rawKafka } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { postgresServer, sqlOnce } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'

const LONG = 120_000
/** The feed ends before the oldest transaction of a server, which this test shares with others. */
const rowsOf = async (journal: Journal, url: string): Promise<readonly FeedRow[]> => {
  const { rows: counted } = await sqlOnce(url, 'select count(*)::int as rows from journal')
  for (;;) {
    const rows = await journal.feed('', 10_000)
    if (rows.length === (counted[0] as { rows: number }).rows) return rows
    await wait(50)
  }
}
const publish = async (kafka: KafkaOptions, rows: readonly FeedRow[]): Promise<void> => {
  const producer = rawKafka(kafka).producer()
  await producer.connect()
  const topicMessages = [...Map.groupBy(rawTopics(rows), ({ topic }) => topic)].map(([topic, own]) => ({
    topic: kafka.prefix + topic,
    messages: own.map(({ key, value: text }) => ({ key, value: text })),
  }))
  await producer.sendBatch({ topicMessages })
  await producer.disconnect()
}

describeWith('postgres', 'rows that no control remembers', (bin) =>
  describeWith('kafka', 'and of which the topics tell', (rig) => {
    test(
      'are found with --from-topics; their handles are given to nobody until an operator releases them',
      async () => {
        const kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
        await makeTopics(kafka)
        const server = await postgresServer(bin)
        const name = `topics_${systemIds.uuid().replaceAll('-', '')}`
        const url = `${server}/${name}`
        const admin = (text: string) => sqlOnce(`${server}/postgres`, text)
        await admin(`create database ${name}`)
        const open = async () => {
          const store = await openStore({ kind: 'postgres', url })
          const { plane, control, shows } = await openPlane({}, store)
          return { store, control, shows, close: async () => (await plane.stop(), store.close()) }
        }
        const first = await open()
        await first.shows('h', { seed: 1, devices: [{ kind: 'fpga', handles: 3, hostWork: false }] })
        value(
          await first.control.profiles.create(NOVA, {
            name: 'f',
            description: null,
            groups: [{ 'resources:FPGA': '1' }],
          }),
        )
        const [deployable] = value(await first.control.deployables.list({}, {})).items
        const boundBy = async ({ control }: typeof first) => {
          const arq = value(await control.arqs.create(NOVA, 'f'))[0]!.uuid
          const instanceUuid = systemIds.uuid()
          value(
            await control.arqs.bind(NOVA, [{ arq, hostname: 'h', deviceRpUuid: deployable!.rp_uuid!, instanceUuid }]),
          )
          return value(await control.arqs.get(NOVA, arq)).handle_uuid!
        }
        const before = await boundBy(first)
        await first.close()
        await admin(`create database ${name}_copy template ${name}`)

        const second = await open()
        const lost = await boundBy(second)
        await publish(kafka, await rowsOf(second.store.journal, url))
        await second.close()
        await admin(`alter database ${name} rename to ${name}_gone`)
        await admin(`alter database ${name}_copy rename to ${name}`)

        const migrate = async (...args: readonly string[]) => {
          const program = runProgram({ args: ['migrate', '--database', url, '--log-level', 'error', ...args] })
          const { code } = await program.exited
          return { code, text: program.stdout() + program.stderr() }
        }
        const topics = ['--from-topics', '--kafka', kafka.brokers.join(','), '--kafka-prefix', kafka.prefix]
        expect(await migrate('--check')).toMatchObject({ code: 0 })
        const checked = await migrate('--check', ...topics)
        expect(checked.code).toBe(7)
        expect(checked.text.match(/^lost .*/gm)!.map((line) => /(\w+)\/\S+ version \d+: .*/.exec(line)![0])).toEqual([
          expect.stringMatching(/^arq\/\S+ version 1: ArqCreated$/),
          expect.stringMatching(/^arq\/\S+ version 2: BindStarted, Bound$/),
          expect.stringMatching(/^deployable\/\S+ version 3: Granted$/),
          expect.stringMatching(/^instance\/\S+ version 1: BindAccepted, BindSettled$/),
        ])
        expect(checked.text).toContain('the topics tell of 4 rows that the database does not hold')
        // looking has stopped nothing
        expect(await migrate('--check')).toMatchObject({ code: 0 })

        const adopted = await migrate('--adopt', ...topics)
        expect(adopted).toMatchObject({ code: 0 })
        expect(adopted.text).toContain(`quarantined handle ${lost} of host h`)
        expect(adopted.text).not.toContain(before)
        expect(await migrate('--adopt', ...topics)).toMatchObject({
          code: 0,
          text: expect.stringContaining('nothing to adopt') as string,
        })
        const third = await open()
        expect([before, lost]).not.toContain(await boundBy(third))
        const [kept] = value(await third.control.handles.list(NOVA, { state: 'quarantined' }, {})).items
        expect(kept!.uuid).toBe(lost)
        await third.close()
      },
      LONG,
    )

    test('--from-topics alone, or without a broker, is refused', async () => {
      for (const [args, sentence] of [
        [['--from-topics'], '--from-topics goes with --check or --adopt'],
        [['--check', '--from-topics'], '--from-topics: kafka.brokers is not set'],
      ] as const) {
        const url = `${await postgresServer(bin)}/postgres`
        const program = runProgram({ args: ['migrate', '--database', url, ...args] })
        expect(await program.exited).toMatchObject({ code: 2 })
        expect(program.stderr()).toContain(sentence)
      }
    })
  }),
)
