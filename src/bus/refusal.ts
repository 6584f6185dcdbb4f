/** Records and options that every adapter refuses, and the reasons. */
import { CATALOGUE } from '../wire/catalogue.ts'
import type { BusRecord } from '../wire/envelope.ts'
import { MESSAGE_MAX_BYTES } from '../wire/message.ts'
import type { ConsumeOptions } from './port.ts'

const TOPICS: ReadonlySet<string> = new Set(Object.values(CATALOGUE).map(({ topic }) => topic))

export const topicRefusal = (topic: string): string | null => (TOPICS.has(topic) ? null : `there is no topic ${topic}`)

export const recordRefusal = ({ topic, value, tombstone }: BusRecord): string | null => {
  if (!TOPICS.has(topic)) return `there is no topic ${topic}`
  if (typeof value !== 'string') return `${topic}: only text crosses the bus`
  if (tombstone === true && value !== '') return `${topic}: the value of a tombstone is empty`
  const bytes = Buffer.byteLength(value)
  return bytes > MESSAGE_MAX_BYTES ? `${topic}: a message of ${bytes} bytes, more than ${MESSAGE_MAX_BYTES}` : null
}

export const offsetStoreRefusal = ({ topic, offsetStore, onlyKey }: ConsumeOptions): string | null =>
  offsetStore !== undefined && onlyKey === undefined
    ? `${topic}: an offset store needs onlyKey: its offset belongs to one partition`
    : null
