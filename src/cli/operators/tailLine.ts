/** Formats one message as one line of text. Pure. */
import type { TopicMessage } from '../../audit/evidence.ts'
import { inOneLine } from '../../vocabulary/text.ts'

/** The most informative fields of an event, an order or a report, in the order in which they are shown. */
const SHOWN = [
  'number',
  'slot',
  'instance',
  'arq',
  'arqs',
  'handle',
  'outcome',
  'status',
  'presence',
  'liveness',
  'image',
  'profileName',
  'hostname',
  'host',
  'deployable',
  'reason',
  'failing',
  'by',
]
const TEXT_MAX = 120
/** A message whose time from decision to broker was longer than this is marked as late. */
const LATE_MS = 1000

type Fields = Readonly<Record<string, unknown>>
const plain = (value: unknown): string | null => {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(',')
  const { status, uuid } = (value ?? {}) as Fields
  if (typeof status === 'string') return status
  return typeof uuid === 'string' ? uuid : null
}
const details = (fields: Fields): string =>
  SHOWN.flatMap((name) => {
    const text = plain(fields[name])
    return text === null || text === ''
      ? []
      : `${name}=${text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text}`
  }).join(' ')

/** The fields of an event, those that belong together side by side. */
export const eventDetails = (fields: Fields): string =>
  details({ ...(fields['bond'] as Fields | undefined), ...fields })

/**
 * Writes a value as text. A message may come from anybody who may write to the topic, so its values can have any type.
 */
const word = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
const when = (time: number | null): string =>
  time === null || Number.isNaN(new Date(time).getTime()) ? 'without a time' : new Date(time).toISOString()

/** The subject of a message: entity and event for a fact, the row for a state, the type for an order or a report. */
const content = ({ topic, key, body }: TopicMessage): readonly [string, string] => {
  if (body === null) return [key, 'is gone']
  const { entity, event, state, type, ...rest } = body as Fields
  if (event) {
    const { type: happened, ...fields } = event as Fields
    return [word(entity), `${word(happened)} ${eventDetails(fields)}`]
  }
  if (state)
    return [
      word(entity),
      `is ${word((state as Fields)['state'] ?? (state as Fields)['status'] ?? (state as Fields)['liveness'])}`,
    ]
  if (topic.startsWith('dead-letters')) return [key, `from ${word(rest['topic'])}: ${word(rest['reason'])}`]
  return [key, `${word(type)} ${details(rest)}`]
}
const causeOf = ({ body }: TopicMessage): string => {
  const { by, requestId } = ((body as Fields | null)?.['cause'] ?? {}) as {
    readonly by?: unknown
    readonly requestId?: unknown
  }
  return [by === undefined ? '' : `by ${word(by)}`, requestId === undefined ? '' : word(requestId)]
    .filter(Boolean)
    .join(' ')
}

/** `storedAt`: when the broker stored it. Null: the message comes from the journal itself. */
export const tailLine = (message: TopicMessage, storedAt: number | null): string => {
  const { time, position } = message
  const [who, what] = content(message)
  const lateMs = storedAt === null || time === null ? 0 : storedAt - time
  const parts = [
    when(time),
    who,
    what.trim(),
    causeOf(message),
    position === null ? '' : `@${position}`,
    lateMs >= LATE_MS ? `(${(lateMs / 1000).toFixed(1)} s late)` : '',
  ]
  return parts
    .filter(Boolean)
    .map((part) => inOneLine(part))
    .join('  ')
}
