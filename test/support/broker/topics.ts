/** Topics of the single-node broker: partitions, produce and fetch, and settings. */
import { PartitionLog } from './log.ts'
import type { RequestOf, ResponseOf } from './protocol.ts'
import { ERRORS } from './protocol.ts'

export type Topic = { readonly logs: readonly PartitionLog[]; readonly configs: Map<string, string> }
type Place = { readonly node: number; readonly host: string; readonly port: number }

const LATEST = -1
/** Sources of a setting in `DescribeConfigs`: set on the topic, or the default. */
const SOURCE = { topic: 1, default: 5 }
const DEFAULTS: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'retention.ms': '604800000',
  'min.insync.replicas': '1',
  'compression.type': 'producer',
  'segment.bytes': '1073741824',
}

export class Topics {
  readonly #topics = new Map<string, Topic>()
  readonly #waiting = new Set<() => void>()

  get names(): readonly string[] {
    return [...this.#topics.keys()]
  }
  make(name: string, partitions: number, configs: Readonly<Record<string, string>> = {}): Topic {
    const logs = Array.from({ length: partitions }, () => new PartitionLog())
    const made = { logs, configs: new Map(Object.entries(configs)) }
    this.#topics.set(name, made)
    return made
  }
  /** Adds partitions at the end, up to `count` of them. */
  grow(name: string, count: number): void {
    const topic = this.#topics.get(name)!
    const more = Array.from({ length: count - topic.logs.length }, () => new PartitionLog())
    this.#topics.set(name, { ...topic, logs: [...topic.logs, ...more] })
  }
  remove(name: string): void {
    this.#topics.delete(name)
  }
  log(topic: string, partition: number): PartitionLog | undefined {
    return this.#topics.get(topic)?.logs[partition]
  }

  /** What was set on the topic; a change holds. */
  configs(topic: string): Map<string, string> {
    return this.#topics.get(topic)!.configs
  }

  metadata({ topics }: RequestOf<'Metadata'>, place: Place): ResponseOf<'Metadata'> {
    const { node } = place
    const rows = (topics ?? this.names).map((topic) => {
      const logs = this.#topics.get(topic)?.logs
      const errorCode = logs === undefined ? ERRORS.UNKNOWN_TOPIC_OR_PARTITION : ERRORS.NONE
      const partitions = (logs ?? []).map((_, partition) => ({
        errorCode: 0,
        partition,
        leader: node,
        replicas: [node],
        inSync: [node],
      }))
      return { errorCode, topic, internal: false, partitions }
    })
    return { throttleMs: 0, brokers: [{ ...place, rack: null }], cluster: 'scripted', controller: node, topics: rows }
  }

  produce({ topics }: RequestOf<'Produce'>): ResponseOf<'Produce'> {
    const rows = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, records }) => {
        const log = this.log(topic, partition)
        const errorCode = log === undefined ? ERRORS.UNKNOWN_TOPIC_OR_PARTITION : ERRORS.NONE
        return { partition, errorCode, baseOffset: log?.append(records) ?? -1, appendedAt: -1 }
      }),
    }))
    for (const wake of this.#waiting) wake()
    return { topics: rows, throttleMs: 0 }
  }

  /** Waits until there is something to tell, but not longer than `maxWaitMs`. */
  async fetch(request: RequestOf<'Fetch'>, maxWaitMs: number): Promise<ResponseOf<'Fetch'>> {
    const found = this.#look(request)
    if (found.topics.some(({ partitions }) => partitions.some((each) => each.records.length + each.errorCode > 0)))
      return found
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    const timer = setTimeout(resolve, Math.min(maxWaitMs, request.maxWaitMs))
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
    return this.#look(request)
  }
  #look({ topics }: RequestOf<'Fetch'>): ResponseOf<'Fetch'> {
    const look = (topic: string, partition: number, offset: number, maxBytes: number) => {
      const log = this.log(topic, partition)
      const records = log?.read(offset, maxBytes) ?? Buffer.alloc(0)
      const { low, end } = log ?? { low: 0, end: 0 }
      const inRange = offset >= low && offset <= end
      if (log === undefined) return { errorCode: ERRORS.UNKNOWN_TOPIC_OR_PARTITION, high: -1, stable: -1, records }
      return { errorCode: inRange ? ERRORS.NONE : ERRORS.OFFSET_OUT_OF_RANGE, high: end, stable: end, records }
    }
    const rows = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, offset, maxBytes }) => ({
        partition,
        aborted: [],
        ...look(topic, partition, offset, maxBytes),
      })),
    }))
    return { throttleMs: 0, topics: rows }
  }
  offsets({ topics }: RequestOf<'ListOffsets'>): ResponseOf<'ListOffsets'> {
    const rows = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, timestamp }) => {
        const log = this.log(topic, partition)
        if (log === undefined)
          return { partition, errorCode: ERRORS.UNKNOWN_TOPIC_OR_PARTITION, timestamp: -1, offset: -1 }
        return { partition, errorCode: 0, timestamp: -1, offset: timestamp === LATEST ? log.end : log.low }
      }),
    }))
    return { topics: rows }
  }

  create({ topics, validateOnly }: RequestOf<'CreateTopics'>): ResponseOf<'CreateTopics'> {
    const rows = topics.map(({ topic, partitions, replicas, configs }) => {
      if (this.#topics.has(topic))
        return { topic, errorCode: ERRORS.TOPIC_ALREADY_EXISTS, reason: `Topic '${topic}' already exists.` }
      if (replicas > 1)
        return { topic, errorCode: ERRORS.INVALID_REPLICATION_FACTOR, reason: 'Only 1 broker is registered.' }
      if (!validateOnly)
        this.make(topic, partitions, Object.fromEntries(configs.map(({ name, value }) => [name, value ?? ''])))
      return { topic, errorCode: 0, reason: null }
    })
    return { throttleMs: 0, topics: rows }
  }
  describe({ resources }: RequestOf<'DescribeConfigs'>): ResponseOf<'DescribeConfigs'> {
    const rows = resources.map(({ kind, name }) => {
      const own = this.#topics.get(name)?.configs ?? new Map<string, string>()
      const configs = Object.entries({ ...DEFAULTS, ...Object.fromEntries(own) }).map(([key, value]) => ({
        name: key,
        value,
        readOnly: false,
        source: own.has(key) ? SOURCE.topic : SOURCE.default,
        sensitive: false,
        synonyms: [],
      }))
      return { errorCode: 0, reason: null, kind, name, configs }
    })
    return { throttleMs: 0, resources: rows }
  }
  /** Replaces all that was set on a topic, as Kafka does. */
  alter({ resources, validateOnly }: RequestOf<'AlterConfigs'>): ResponseOf<'AlterConfigs'> {
    const rows = resources.map(({ kind, name, configs }) => {
      const own = this.#topics.get(name)?.configs
      if (!validateOnly) own?.clear()
      if (!validateOnly) for (const each of configs) own?.set(each.name, each.value ?? '')
      return { errorCode: 0, reason: null, kind, name }
    })
    return { throttleMs: 0, resources: rows }
  }
}
