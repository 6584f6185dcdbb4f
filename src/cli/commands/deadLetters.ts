/** `accelerando dead-letter list` and `dead-letter retry`: shows dead letters on Kafka, and sends them again. */
import type { CommandRow } from '../commandRow.ts'
import { endWith, misused } from '../exits.ts'
import { type OutputFlags, addOutput, columnsOf, present } from '../output.ts'
import type { Letter } from '../../delivery/deadLetters/box.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { silent } from '../../vocabulary/log.ts'
import { deadLetterActs } from './deadLetterActs.ts'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { visibleJson } from '../../vocabulary/text.ts'

const COLUMNS = columnsOf<Letter>(['id', 'time', 'topic', 'key', 'reason', 'retriedAt'])
type List = Flags & OutputFlags & { readonly since?: string; readonly limit: string; readonly topic?: string }
type Retry = Flags & { readonly all?: true; readonly topic?: string }

const LIMIT_MAX = 10_000

/** Null: the problem was printed. */
const kafkaOf = (flags: Flags): KafkaOptions | null => {
  const config = configured(flags)
  if (!config) return null
  if (config.kafka === null) throw misused('kafka.brokers is not set: name them with --kafka')
  return config.kafka
}
const momentOf = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const at = Date.parse(text)
  if (Number.isNaN(at))
    throw misused(`--since: must be a moment in ISO 8601, such as 2026-11-21T12:00:00Z (is ${text})`)
  return at
}
const limitOf = (text: string): number => {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw misused(`--limit: must be a whole number from 1 to ${LIMIT_MAX} (is ${text})`)
}

const list = async ({ since, limit, topic, ...flags }: List) => {
  const listed = { since: momentOf(since), limit: limitOf(limit), topic: topic ?? null }
  const kafka = kafkaOf(flags)
  if (kafka === null) return
  const { letterLines, listLetters } = await import('../operators/deadLetters.ts')
  const letters = await listLetters(kafka, silent, listed)
  if (flags.json) return out(visibleJson(letters))
  const end = letters.length === 0 ? 'there are none' : `${letters.length} shown`
  const text = () => [...letters.flatMap(letterLines), end]
  present(flags, { document: letters, rows: letters, columns: COLUMNS, text })
}

const again = async (ids: readonly string[], { all, topic, ...flags }: Retry) => {
  if (ids.length > 0 === (all === true)) throw misused('name the letters to send again, or all of them with --all')
  const kafka = kafkaOf(flags)
  if (kafka === null) return
  const { retry } = await import('../operators/deadLetters.ts')
  if (!(await retry(kafka, silent, { ids, all: all === true, topic: topic ?? null }, out))) endWith('failed')
}

const common = (command: CommandRow): CommandRow =>
  addFlags(command, PROGRAM_FLAGS.letters).option('--topic <TOPIC>', 'only those that came from this topic')

export const deadLetters: Register = (program) => {
  const family = program
    .command('dead-letter')
    .alias('dead-letters')
    .description('Messages that could not be read or handled.')
  const listing = family
    .command('list')
    .description('Shows them, oldest first, with the reason and the beginning of each.')
    .example('accelerando dead-letter list --kafka kafka-1:9092 --since 2026-11-21T12:00:00Z')
  addOutput(common(listing), COLUMNS, { ownLimit: true })
    .option('--json', 'one JSON value with all fields of each message')
    .option('--since <TIME>', 'only those from then on, ISO 8601')
    .option('--limit <N>', 'only this many of the newest', '100')
    .action(withPlainErrors(list))
  common(
    family
      .command('retry [ID...]')
      .description('Sends them again to their topic, under their key, one at a time, and marks them as retried.')
      .example('accelerando dead-letter retry --kafka kafka-1:9092 --all --topic host.reports.v1'),
  )
    .option('--all', 'all that were not sent again yet and can be sent')
    .action(withPlainErrors(again))
  deadLetterActs(family)
}
