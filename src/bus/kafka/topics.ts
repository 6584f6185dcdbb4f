/**
 * The topics on the broker: compares the wanted topics with the existing ones, and creates or changes them.
 *
 * TOPIC-1 the number of partitions of an existing topic is never changed here: it decides which partition a host reads,
 *    and cannot be lowered;
 * TOPIC-2 settings of an existing topic change only on request, and foreign settings are sent along, since Kafka
 *    replaces the whole set;
 * TOPIC-3 the broker stores every message uncompressed, regardless of its sender: a reader learns the size of a
 *    compressed message only when it has unpacked it (1 MB becomes 1 GB), and a compression that kafkajs does not know
 *    stops every reader of the partition.
 */
import { pause } from '../../vocabulary/waiting.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import type { Admin, IResourceConfigEntry } from 'kafkajs'
import type { Log } from '../../vocabulary/log.ts'
import { CATALOGUE, KEEP_MS } from '../../wire/catalogue.ts'
import { lookup } from './lookup.ts'
import { clusterOf, topicsOf } from './metadata.ts'
import type { KafkaOptions } from './options.ts'
import { isMissingTopic, isTooFewBrokers, Misconfigured, reasonsOf, Unanswered } from './errors.ts'

export type TopicSettings = {
  readonly partitions: number
  readonly replicas: number
  /** Null: the retention of the catalogue. Compacted topics keep the last message of each key in any case. */
  readonly retentionMs: number | null
}
export type Configs = Readonly<Record<string, string>>
export type WantedTopic = {
  readonly topic: string
  readonly partitions: number
  readonly replicas: number
  readonly configs: Configs
}
export type FoundTopic = {
  readonly topic: string
  readonly partitions: number
  /** Number of replicas of the partition that has the fewest. */
  readonly replicas: number
  /** `leaderless` partitions can be neither written nor read; in those `behind`, some replicas are not in sync. */
  readonly leaderless: number
  readonly behind: number
  /** All settings in effect for the topic, including the broker's defaults. */
  readonly configs: Configs
}
export type Difference = {
  readonly what: string
  readonly wanted: string
  readonly is: string
  /** Whether `--apply` changes this setting. */
  readonly applies: boolean
  readonly advice: string
}
export type TopicReport = {
  readonly topic: string
  /** `missing`: the topic would be created; `changed`: the topic differed, and `--apply` has changed it. */
  readonly state: 'made' | 'there' | 'differs' | 'missing' | 'changed'
  readonly differences: readonly Difference[]
}
export type CreateHow = {
  /** Change the settings of existing topics. */
  readonly apply?: boolean
  readonly dryRun?: boolean
  readonly patience?: Patience
}
/** How long the broker may take until each topic has leaders, and until it reports changed settings. */
export type Patience = { readonly leadersMs: number; readonly shownMs: number }

export const PATIENCE: Patience = { leadersMs: 15_000, shownMs: 5000 }
const LOOK_MS = 100
/** `ConfigResourceTypes.TOPIC` and `ConfigSource.TOPIC_CONFIG` of kafkajs, whose enums are only types here. */
const TOPIC = 2
const SET_ON_TOPIC = 1

export const wantedTopics = (
  prefix: string,
  { partitions, replicas, retentionMs }: TopicSettings,
): readonly WantedTopic[] =>
  Object.values(CATALOGUE).map(({ topic, keep }) => ({
    topic: prefix + topic,
    partitions,
    replicas,
    configs: {
      ...(KEEP_MS[keep] === null
        ? { 'cleanup.policy': 'compact' }
        : { 'cleanup.policy': 'delete', 'retention.ms': String(retentionMs ?? KEEP_MS[keep]) }),
      // one replica may be down, and every acknowledged message is on all other replicas
      'min.insync.replicas': String(Math.max(1, replicas - 1)),
      'compression.type': 'uncompressed',
    },
  }))

const listed = (value: string): string => value.split(',').toSorted().join(',')
const same = (name: string, one: string, other: string): boolean =>
  name === 'cleanup.policy' ? listed(one) === listed(other) : one === other

const COUNT_ADVICE =
  'the count is never changed here: partitions are added with kafka-topics.sh --alter, and running controls and hosts follow within ' +
  '10 s; or set kafka.partitions to what is there'
const COPIES_ADVICE = 'copy the partitions with kafka-reassign-partitions.sh, or set kafka.replicas to what is there'

/** Pure: the differences between a wanted and an existing topic. */
export const differencesOf = (wanted: WantedTopic, found: FoundTopic): readonly Difference[] => {
  const counts = [
    { what: 'partitions', wanted: wanted.partitions, is: found.partitions, advice: COUNT_ADVICE },
    { what: 'replicas', wanted: wanted.replicas, is: found.replicas, advice: COPIES_ADVICE },
  ]
  const configs = Object.entries(wanted.configs).map(([what, value]) => ({
    what,
    value,
    is: found.configs[what] ?? '',
  }))
  return [
    ...counts
      .filter((each) => each.wanted !== each.is)
      .map((each) => ({ ...each, wanted: String(each.wanted), is: String(each.is), applies: false })),
    ...configs
      .filter(({ what, value, is }) => !same(what, value, is))
      .map(({ what, value, is }) => ({
        what,
        wanted: value,
        is,
        applies: true,
        advice: 'topics create --apply sets it',
      })),
  ]
}

export const judgeTopics = (
  wanted: readonly WantedTopic[],
  found: ReadonlyMap<string, FoundTopic>,
): readonly TopicReport[] =>
  wanted.map((each) => {
    const there = found.get(each.topic)
    if (there === undefined) return { topic: each.topic, state: 'missing', differences: [] }
    const differences = differencesOf(each, there)
    return { topic: each.topic, state: differences.length > 0 ? 'differs' : 'there', differences }
  })

type Described = Awaited<ReturnType<Admin['describeConfigs']>>['resources'][number]
const configsOf = ({ configEntries }: Described): Configs =>
  Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue]))

const describeTopics = async (admin: Admin, topics: readonly string[]): Promise<readonly Described[]> => {
  if (topics.length === 0) return []
  const resources = topics.map((name) => ({ type: TOPIC, name }))
  return (await admin.describeConfigs({ resources, includeSynonyms: false })).resources
}

const lookFor = async (admin: Admin, names: readonly string[]): Promise<ReadonlyMap<string, FoundTopic>> => {
  const known = new Set(await admin.listTopics())
  const there = names.filter((name) => known.has(name))
  if (there.length === 0) return new Map()
  const [{ topics }, described] = await Promise.all([topicsOf(admin, there), describeTopics(admin, there)])
  const configs = new Map(described.map((each) => [each.resourceName, configsOf(each)]))
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        topic: name,
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        leaderless: partitions.filter(({ leader }) => leader < 0).length,
        behind: partitions.filter(({ replicas, isr }) => isr.length < replicas.length).length,
        configs: configs.get(name) ?? {},
      },
    ]),
  )
}

/** Those of the named topics that exist. Retries: a topic that is being deleted is listed for a while. */
export const findTopics = async (
  admin: Admin,
  names: readonly string[],
  { shownMs }: Patience = PATIENCE,
): Promise<ReadonlyMap<string, FoundTopic>> => {
  for (let tries = shownMs / LOOK_MS; ; tries--) {
    try {
      return await lookFor(admin, names)
    } catch (error) {
      const passing = isMissingTopic(error) || error instanceof Unanswered
      if (!passing || tries <= 0) throw error
      await pause(systemClock, LOOK_MS)
    }
  }
}

const surveyTopics = async (
  admin: Admin,
  wanted: readonly WantedTopic[],
  patience: Patience,
): Promise<readonly TopicReport[]> => judgeTopics(wanted, await findTopics(admin, namesOf(wanted), patience))

const entriesOf = (configs: Configs): IResourceConfigEntry[] =>
  Object.entries(configs).map(([name, value]) => ({ name, value }))

const haveLeaders = async (admin: Admin, topics: readonly string[]): Promise<boolean> => {
  const found = await topicsOf(admin, topics).catch(() => null)
  return found?.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0)) ?? false
}
/** Also waits for topics that another process creates at the same time, which kafkajs does not do. */
const untilLed = async (admin: Admin, topics: readonly string[], { leadersMs }: Patience): Promise<void> => {
  const tries = leadersMs / LOOK_MS
  for (let tried = 0; tried < tries; tried++) {
    if (await haveLeaders(admin, topics)) return
    await pause(systemClock, LOOK_MS)
  }
  throw new Error(`topics have no leader after ${leadersMs / 1000} s: ${topics.join(', ')}`)
}

const namesOf = (topics: readonly { readonly topic: string }[]): readonly string[] => topics.map(({ topic }) => topic)

const make = async (admin: Admin, wanted: readonly WantedTopic[], patience: Patience): Promise<void> => {
  if (wanted.length === 0) return
  const topics = wanted.map(({ topic, partitions, replicas, configs }) => ({
    topic,
    numPartitions: partitions,
    replicationFactor: replicas,
    configEntries: entriesOf(configs),
  }))
  await admin.createTopics({ topics, waitForLeaders: false }).catch(async (cause: unknown) => {
    const [{ brokers }, { replicas }] = [await clusterOf(admin), wanted[0]!]
    const asked = `${replicas} replicas asked for, brokers: ${brokers.length}`
    const text = `topics could not be made: ${reasonsOf(cause)} (${asked}): ${namesOf(wanted).join(', ')}`
    throw isTooFewBrokers(cause) && replicas <= brokers.length
      ? new Error(text, { cause })
      : new Misconfigured(text, { cause })
  })
  await untilLed(admin, namesOf(wanted), patience)
}

const mended = ({ differences }: TopicReport): boolean => !differences.some(({ applies }) => applies)

/** A broker reports changed settings a short time after the controller has accepted them. */
const untilShown = async (admin: Admin, wanted: readonly WantedTopic[], patience: Patience): Promise<void> => {
  for (let tried = 0; tried < patience.shownMs / LOOK_MS; tried++) {
    if ((await surveyTopics(admin, wanted, patience)).every(mended)) return
    await pause(systemClock, LOOK_MS)
  }
}

const change = async (admin: Admin, wanted: readonly WantedTopic[], patience: Patience): Promise<void> => {
  if (wanted.length === 0) return
  const described = new Map((await describeTopics(admin, namesOf(wanted))).map((each) => [each.resourceName, each]))
  const resources = wanted.map(({ topic, configs }) => {
    const own = described
      .get(topic)!
      .configEntries.filter(({ configSource }) => (configSource as number) === SET_ON_TOPIC)
    const kept = Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]))
    return { type: TOPIC, name: topic, configEntries: entriesOf({ ...kept, ...configs }) }
  })
  await admin.alterConfigs({ validateOnly: false, resources })
  await untilShown(admin, wanted, patience)
}

const carryOut = async (
  admin: Admin,
  wanted: readonly WantedTopic[],
  { apply, dryRun, patience = PATIENCE }: CreateHow,
) => {
  const before = await surveyTopics(admin, wanted, patience)
  if (dryRun === true) return before
  const which = (holds: (report: TopicReport) => boolean): readonly WantedTopic[] =>
    wanted.filter((_, index) => holds(before[index]!))
  const missing = which(({ state }) => state === 'missing')
  const wrong = which((report) => apply === true && !mended(report))
  await make(admin, missing, patience)
  await change(admin, wrong, patience)
  const [made, changed] = [new Set(namesOf(missing)), new Set(namesOf(wrong))]
  return (await surveyTopics(admin, wanted, patience)).map((report): TopicReport => {
    if (report.state !== 'there') return report
    if (made.has(report.topic)) return { ...report, state: 'made' }
    return changed.has(report.topic) ? { ...report, state: 'changed' } : report
  })
}

/** Creates the missing topics and reports the state of each one. Safe to be called by several processes at once. */
export const createTopics = (
  options: KafkaOptions,
  settings: TopicSettings,
  log: Log,
  how: CreateHow = {},
): Promise<readonly TopicReport[]> =>
  lookup(options, log).asking(async (admin) => {
    const reports = await carryOut(admin, wantedTopics(options.prefix, settings), how)
    for (const { topic, state, differences } of reports)
      if (state === 'made' || state === 'changed') log.info({ topic }, `topic.${state}`)
      else if (state === 'differs') log.warn({ topic, differences }, 'topic.differs')
    return reports
  })
