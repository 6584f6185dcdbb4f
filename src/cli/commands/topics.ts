/**
 * `accelerando topic create` and `topic list`: creates the topics on Kafka, and compares them with the expected
 * settings.
 */
import type { CommandRow } from '../commandRow.ts'
import { endWith, misused } from '../exits.ts'
import { type Columns, type OutputFlags, addOutput, present } from '../output.ts'
import type { TopicReport } from '../../bus/kafka/topics.ts'
import { silent } from '../../vocabulary/log.ts'
import { type Flags, type Register, configured, withPlainErrors } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'

/** One line for each topic, one line below it for each difference, and the advice once at the end. */
export const topicLines = (reports: readonly TopicReport[]): readonly string[] => {
  const width = Math.max(...reports.map(({ topic }) => topic.length))
  const advice = reports.flatMap(({ differences }) => differences.map((each) => `${each.what}: ${each.advice}`))
  return [
    ...reports.flatMap(({ topic, state, differences }) => [
      `${topic.padEnd(width)}  ${state}`,
      ...differences.map(({ what, is, wanted }) => `  ${what} is ${is}, not ${wanted}`),
    ]),
    ...new Set(advice),
  ]
}

const COLUMNS: Columns<TopicReport> = [
  { name: 'topic', of: ({ topic }) => topic },
  { name: 'state', of: ({ state }) => state },
  {
    name: 'differences',
    of: ({ differences }) =>
      differences.map(({ what, is, wanted }) => `${what} is ${is}, not ${wanted}`).join('; ') || null,
  },
]

type Given = Flags & OutputFlags & { readonly apply?: true; readonly dryRun?: true }

const act = (how: (given: Given) => { readonly apply?: boolean; readonly dryRun?: boolean }) =>
  withPlainErrors(async (given: Given) => {
    const config = configured(given)
    if (!config) return
    if (config.kafka === null) throw misused('kafka.brokers is not set: name them with --kafka')
    const { createTopics } = await import('../../bus/kafka/topics.ts')
    const reports = await createTopics(config.kafka, config.topics, silent, how(given))
    present(given, { document: reports, rows: reports, columns: COLUMNS, text: () => topicLines(reports) })
    if (reports.some(({ state }) => state === 'missing' || state === 'differs')) endWith('findings')
  })

const common = (command: CommandRow): CommandRow =>
  addOutput(addFlags(command, PROGRAM_FLAGS.topics).endsWith('findings'), COLUMNS).option(
    '--json',
    'one JSON value instead of lines',
  )

export const topics: Register = (program) => {
  const family = program.command('topic').alias('topics').description('The topics on the broker.')
  common(
    family
      .command('list')
      .description('Shows the existing topics and how they differ from what is expected (exit code 7 if they differ).')
      .example('accelerando topic list --kafka kafka-1:9092'),
  ).action(act(() => ({ dryRun: true })))
  common(
    family
      .command('create')
      .description('Creates missing topics and shows the state of each topic.')
      .example('accelerando topic create --kafka kafka-1:9092,kafka-2:9092 --replicas 3'),
  )
    .option('--apply', 'also change the settings of topics that are there; never the number of partitions')
    .option('--dry-run', 'only show what would be done')
    .action(act(({ apply, dryRun }) => ({ apply: apply === true, dryRun: dryRun === true })))
}
