/** What operators read of the topics of a real broker: `tail` and `audit`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import type { Evidence } from '../../src/audit/evidence.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { Verdict } from '../../src/cli/audit/text.ts'
import type { Raw } from '../../src/bus/kafka/read.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { soundEvidence } from '../audit/soundEvidence.ts'
import { rawTopics } from '../audit/topicsOf.ts'
import { runAudit } from '../audit/written.ts'
import { freshPrefix, kafkaServer, makeTopics, rawKafka } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { runProgram } from '../support/program.ts'

let evidence: Evidence
let kafka: KafkaOptions
const onKafka = () => ['--kafka', kafka.brokers.join(','), '--kafka-prefix', kafka.prefix, '--log-level', 'error']
const put = async (raws: readonly Raw[]): Promise<void> => {
  const producer = rawKafka(kafka).producer()
  await producer.connect()
  const topicMessages = [...Map.groupBy(raws, ({ topic }) => topic)].map(([topic, own]) => ({
    topic: kafka.prefix + topic,
    messages: own.map(({ key, value }) => ({ key, value })),
  }))
  await producer.sendBatch({ topicMessages })
  await producer.disconnect()
}
const tail = async (...args: readonly string[]) => {
  const program = runProgram({ args: ['tail', ...args, ...onKafka()] })
  const { code } = await program.exited
  const lines = program.stdout().split('\n').slice(0, -1)
  return { code, lines, complained: program.stderr() }
}

describeWith('kafka', 'topics of a real broker', (rig) => {
  let raws: readonly Raw[]
  beforeAll(async () => {
    kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(kafka)
    evidence = await soundEvidence()
    raws = rawTopics(evidence.journal as readonly FeedRow[])
    await put(raws)
  })

  test('are tailed once, repeats left out, and resumed behind a position', async () => {
    const facts = raws.filter(({ topic }) => topic.endsWith('.events.v1'))
    await put(facts.slice(0, 20))
    const all = await tail('--once', '-f', 'table')
    expect(all).toMatchObject({ code: 0, complained: '' })
    expect(all.lines).toHaveLength(facts.length)
    const shown = all.lines.map((line) => Number(/@(\d+)/.exec(line)![1]))
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
    const middle = evidence.journal[Math.floor(evidence.journal.length / 2)]!.position!
    const rest = await tail('--once', '--since', middle, '--json')
    const positions = rest.lines.map((line) => Number((JSON.parse(line) as { position: string }).position))
    expect(Math.min(...positions)).toBeGreaterThan(Number(middle))
    expect(rest.lines.length).toBeLessThan(all.lines.length)
  })
  test('are tailed for one ARQ, and one topic at a time', async () => {
    const uuid = evidence.journal.find(({ key }) => key.startsWith('arq/'))!.key.slice('arq/'.length)
    const { lines } = await tail('arq.events', '--once', '--arq', uuid, '-f', 'table')
    expect(lines[0]).toMatch(new RegExp(`^\\d{4}-.*Z {2}arq/${uuid} {2}ArqCreated .*@\\d+`))
    expect(lines.every((line) => line.includes('arq/') || line.includes('instance/'))).toBe(true)
    const unknown = await tail('nonsense', '--once')
    expect(unknown.code).toBe(2)
    expect(unknown.complained).toMatch(/topic: must be one of host\.reports\.v1, .*arq\.state\.v1.*, and is nonsense/)
  })
  test('are followed until Ctrl-C, and no group is left behind', async () => {
    const program = runProgram({ args: ['tail', 'device.events', '-f', 'table', ...onKafka()] })
    const fact = raws.find(({ topic }) => topic === 'device.events.v1')!
    const fresh = { ...fact, value: fact.value!.replaceAll(/"position":"\d+"/g, '"position":"999999"') }
    for (let tries = 0; tries < 60 && program.stdout() === ''; tries++) {
      await put([fresh])
      await sleep(500)
    }
    expect(program.stdout()).toContain('@999999')
    expect(await program.end('SIGINT')).toMatchObject({ code: 0 })
    const { groups } = await lookup(kafka, silent).asking((admin) => admin.listGroups())
    expect(groups.filter(({ groupId }) => groupId.startsWith(`${kafka.prefix}reader-`))).toEqual([])
  })
})

describeWith('kafka', 'topics of a real broker are audited', (rig) => {
  beforeAll(async () => {
    kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(kafka)
    evidence = await soundEvidence()
    await put(rawTopics(evidence.journal as readonly FeedRow[]))
  })

  test('the journal is made anew from the facts, and holds; a planted order and fact are named', async () => {
    const clean = await runAudit(...onKafka(), '--slack', '1000000000')
    expect(clean).toMatchObject({ code: 0, names: [] })
    const { figures } = JSON.parse(clean.said) as Verdict
    const told = evidence.journal.filter(({ key }) => !/^(numbers|profile-name)\//.test(key))
    expect(figures.rows).toBe(told.length)
    const raws = rawTopics(evidence.journal as readonly FeedRow[])
    const order = raws.find(({ topic }) => topic === 'host.orders.v1')!
    const fact = raws.find(({ topic, value }) => topic === 'arq.events.v1' && value!.includes('BindStarted'))!
    const forged = ({ value, ...rest }: Raw): Raw => ({ ...rest, value: value!.replace(/"id":"/, '"id":"0') })
    await put([
      forged(order),
      { ...fact, value: fact.value!.replace('"BindStarted"', '"Bound"').replace(/"version":\d+/, '"version":99') },
    ])
    const { code, names } = await runAudit(...onKafka(), '--slack', '1000000000')
    expect(code).toBe(7)
    expect(names).toEqual(expect.arrayContaining(['PUBLISHED-5', 'S4']))
  })
})
