/** `accelerando topics create` and `topics list`. */
import type { Command } from 'commander'
import type { TopicReport } from '../../bus/kafka/topics.ts'
import { silent } from '../../log.ts'
import { type Flags, type Register, configured, out, told } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'

/** One line a topic, one below for each thing that differs, and what to do at the end, once. */
const lines = (reports: readonly TopicReport[]): readonly string[] => {
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
  told(async (given: Given) => {
    const config = configured(given)
    if (!config) return
    if (config.kafka === null) throw new Error('kafka.brokers is not set: name them with --kafka')
    const { createTopics } = await import('../../bus/kafka/topics.ts')
    const reports = await createTopics(config.kafka, config.topics, silent, how(given))
    if (given.json) out(JSON.stringify(reports))
    else for (const line of lines(reports)) out(line)
    if (reports.some(({ state }) => state === 'missing' || state === 'differs')) process.exitCode = 1
  })

const common = (command: Command): Command =>
  addFlags(command, PROGRAM_FLAGS.topics).option('--json', 'one JSON value instead of lines')

export const topics: Register = (program) => {
  const family = program.command('topics').description('The topics on the broker.')
  common(
    family.command('list').description('What is there, and what is not as it should be (then the exit code is 1).'),
  ).action(act(() => ({ dryRun: true })))
  common(family.command('create').description('Makes the topics that are missing, and tells of each how it is.'))
    .option('--apply', 'also change the settings of topics that are there; never the number of partitions')
    .option('--dry-run', 'only tell')
    .action(act(({ apply, dryRun }) => ({ apply: apply === true, dryRun: dryRun === true })))
}
