/** `accelerando topics create` and `topics list`. */
import type { Command } from 'commander'
import type { TopicReport } from '../../bus/kafka/topics.ts'
import { silent } from '../../log.ts'
import { type Flags, type Register, configured, out, withPlainErrors, outLines } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { visibleJson } from '../../text.ts'

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

type Given = Flags & { readonly json?: true; readonly apply?: true; readonly dryRun?: true }

const act = (how: (given: Given) => { readonly apply?: boolean; readonly dryRun?: boolean }) =>
  withPlainErrors(async (given: Given) => {
    const config = configured(given)
    if (!config) return
    if (config.kafka === null) throw new Error('kafka.brokers is not set: name them with --kafka')
    const { createTopics } = await import('../../bus/kafka/topics.ts')
    const reports = await createTopics(config.kafka, config.topics, silent, how(given))
    if (given.json) out(visibleJson(reports))
    else outLines(topicLines(reports))
    if (reports.some(({ state }) => state === 'missing' || state === 'differs')) process.exitCode = 1
  })

const common = (command: Command): Command =>
  addFlags(command, PROGRAM_FLAGS.topics).option('--json', 'one JSON value instead of lines')

export const topics: Register = (program) => {
  const family = program.command('topics').description('The topics on the broker.')
  common(
    family
      .command('list')
      .description('Shows the existing topics and how they differ from what is expected (exit code 1 if they differ).'),
  ).action(act(() => ({ dryRun: true })))
  common(family.command('create').description('Creates missing topics and shows the state of each topic.'))
    .option('--apply', 'also change the settings of topics that are there; never the number of partitions')
    .option('--dry-run', 'only show what would be done')
    .action(act(({ apply, dryRun }) => ({ apply: apply === true, dryRun: dryRun === true })))
}
