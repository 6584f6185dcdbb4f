/** Collects facts about the brokers for `accelerando doctor`, which judges them. */
import type { Admin } from 'kafkajs'
import { silent } from '../../vocabulary/log.ts'
import { CATALOGUE, CONTROL_GROUP } from '../../wire/catalogue.ts'
import type { Gone, GroupsFacts } from './groups.ts'
import { deleteGroups, surveyGroups } from './groups.ts'
import { lookup } from './lookup.ts'
import { clusterOf } from './metadata.ts'
import type { KafkaOptions } from './options.ts'
import type { FoundTopic, TopicReport, TopicSettings } from './topics.ts'
import { findTopics, judgeTopics, wantedTopics } from './topics.ts'

export type KafkaFacts = {
  readonly brokers: readonly string[]
  readonly topics: readonly TopicReport[]
  readonly found: readonly FoundTopic[]
  readonly groups: GroupsFacts
  readonly deadLetters: number
}

const messagesOn = async (admin: Admin, topic: string): Promise<number> => {
  const offsets = await admin.fetchTopicOffsets(topic)
  return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
}

const look = async (admin: Admin, prefix: string, topics: TopicSettings): Promise<KafkaFacts> => {
  const { brokers } = await clusterOf(admin)
  const wanted = wantedTopics(prefix, topics)
  const found = await findTopics(
    admin,
    wanted.map(({ topic }) => topic),
  )
  const letters = prefix + CATALOGUE.deadLetters.topic
  return {
    brokers: brokers.map(({ host, port }) => `${host}:${port}`),
    topics: judgeTopics(wanted, found),
    found: [...found.values()],
    groups: await surveyGroups(admin, prefix, { group: CONTROL_GROUP, topic: CATALOGUE.hostReports.topic }),
    deadLetters: found.has(letters) ? await messagesOn(admin, letters) : 0,
  }
}

type Looked = { readonly facts: KafkaFacts; readonly gone: readonly Gone[] }
/**
 * `mend`: unused groups are deleted after the inspection. Rejects with a readable message when no broker can be
 * reached.
 */
export const inspectKafka = (options: KafkaOptions, topics: TopicSettings, mend: boolean): Promise<Looked> =>
  lookup(options, silent).asking(async (admin) => {
    const facts = await look(admin, options.prefix, topics)
    return { facts, gone: mend ? await deleteGroups(admin, facts.groups.leftOver) : [] }
  })
