/** `accelerando tail`: shows messages as they come, one line each. */
import { misused } from '../exits.ts'
import { isUuid } from '../../vocabulary/uuid.ts'
import { join } from 'node:path'
import type { TopicMessage } from '../../audit/evidence.ts'
import { type Flags, type Register, configured, withPlainErrors } from '../command.ts'
import type { Config } from '../config/config.ts'
import { addFlags } from '../config/flags.ts'
import type { Key } from '../config/table.ts'
import { openLog } from '../logger.ts'
import type { TailSource } from '../operators/tail.ts'
import { eventDetails, tailLine } from '../operators/tailLine.ts'
import {
  type Cell,
  type Columns,
  type OutputFlags,
  addOutput,
  limitOf,
  onTerminal,
  outLine,
  present,
  rowLines,
} from '../output.ts'
import { untilAsked } from '../untilAsked.ts'

const TAIL_FLAGS: readonly Key[] = ['kafka.brokers', 'kafka.prefix', 'database', 'data', 'config', 'log.level']
const POSITION = /^\d+(\.\d+)?$/

type Given = OutputFlags & {
  readonly arq?: string
  readonly since?: string
  readonly once?: true
}
const sourceOf = ({ kafka, database, data }: Config): TailSource => {
  if (kafka) return { kind: 'kafka', kafka }
  const store = database
    ? ({ kind: 'postgres', url: database.url } as const)
    : ({ kind: 'pglite', dir: join(data, 'store') } as const)
  return { kind: 'journal', store }
}
const checked = ({ arq, since }: Given): void => {
  if (arq !== undefined && !isUuid(arq)) throw misused(`--arq: must be a UUID, and is ${arq}`)
  if (since !== undefined && !POSITION.test(since))
    throw misused(`--since: must be a position as tail shows it behind @, and is ${since}`)
}
type Fields = Readonly<Record<string, unknown>>
const bodyOf = ({ body }: TopicMessage): Fields => (body ?? {}) as Fields
const eventOf = (message: TopicMessage): Fields => (bodyOf(message)['event'] ?? {}) as Fields
const textOf = (value: unknown): Cell => (typeof value === 'string' || typeof value === 'number' ? value : null)
/** A message may come from anybody who may write to the topic, so its time can be any number. */
const momentOf = (time: number | null): Cell => {
  const at = new Date(time ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}
const COLUMNS: Columns<TopicMessage> = [
  { name: 'time', of: ({ time }) => momentOf(time) },
  { name: 'topic', of: ({ topic }) => topic },
  { name: 'key', of: ({ key }) => key },
  { name: 'entity', of: (message) => textOf(bodyOf(message)['entity']) },
  { name: 'type', of: (message) => textOf(eventOf(message)['type'] ?? bodyOf(message)['type']) ?? message.type },
  { name: 'detail', of: (message) => eventDetails({ ...bodyOf(message), ...eventOf(message) }) || null },
  { name: 'position', of: ({ position }) => position },
]
const ENDLESS = 'without --once it goes on, so it has no order, and its format is table, jsonl, csv or value'

const run = async (topic: string | undefined, flags: Flags): Promise<void> => {
  const given = flags as Given
  checked(given)
  const { limit, once = false } = given
  const max = limit === undefined ? Number.POSITIVE_INFINITY : limitOf(limit)
  const lines = rowLines(COLUMNS, tailLine, given, onTerminal())
  if (lines === null && !once) throw misused(ENDLESS)
  const config = configured(flags)
  if (!config) return
  const options = { topic: topic ?? null, arq: given.arq ?? null, since: given.since ?? null, once }
  const work = await import('../operators/tail.ts')
  const [rows, enough]: [TopicMessage[], AbortController] = [[], new AbortController()]
  let shown = 0
  const take = (message: TopicMessage, storedAt: number | null): void => {
    if (lines === null) return void rows.push(message)
    if (shown++ < max) lines.of(message, storedAt).forEach(outLine)
    if (shown >= max) enough.abort()
  }
  const ended = AbortSignal.any([untilAsked(), enough.signal])
  await work.tail(sourceOf(config), options, take, ended, await openLog(config.log))
  if (lines === null) return present(given, { document: rows, rows, columns: COLUMNS })
  lines.end().forEach(outLine)
}

export const tail: Register = (program) => {
  const command = program
    .command('tail')
    .description(
      'Shows what happens, one line per message: from the topics, or from the journal when no Kafka is given.',
    )
    .example('accelerando tail --kafka kafka-1:9092', 'accelerando tail arq.events --once --json')
    .argument('[topic]', 'one topic, such as arq.events; without it all on which facts are told')
  addOutput(addFlags(command, TAIL_FLAGS), COLUMNS)
    .option('--arq <UUID>', 'only messages that name this accelerator request')
    .option('--since <POSITION>', 'only messages after this position, as shown behind @')
    .option('--json', 'one JSON object per line')
    .option('--once', 'end when all existing messages were shown')
    .action(withPlainErrors(run))
}
