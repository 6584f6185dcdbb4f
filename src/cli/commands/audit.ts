/**
 * `accelerando audit`: checks every invariant over the journal, the topics, the ledgers of hosts, and the records of
 * clients.
 */
import type { Verdict } from '../audit/text.ts'
import { endWith, misused } from '../exits.ts'
import { type OutputFlags, addOutput, columnsOf, present } from '../output.ts'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { addFlags } from '../config/flags.ts'
import type { Key } from '../config/table.ts'
import { openLog } from '../logger.ts'
import { visibleJson } from '../../vocabulary/text.ts'

const AUDIT_FLAGS: readonly Key[] = [
  'database',
  'data',
  'kafka.brokers',
  'kafka.prefix',
  'config',
  'arq.unbound_ttl',
  'log.level',
]
type Violation = Verdict['violations'][number]
const COLUMNS = columnsOf<Violation>(['invariant', 'meaning', 'found'])

const secondsOf = (name: string, text: string): number => {
  const seconds = Number(text)
  if (text.trim() === '' || !Number.isFinite(seconds) || seconds < 0)
    throw misused(`--${name}: must be a number of seconds, 0 or more, and is ${text}`)
  return seconds * 1000
}
const momentOf = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw misused(`--now: must be a moment such as 2026-01-31T12:00:00Z, and is ${text}`)
  return at
}
const several = (text: string, before: readonly string[]): readonly string[] => [...before, text]

type Given = OutputFlags & {
  readonly data?: string
  readonly file?: string
  readonly topics?: string
  readonly write?: string
  readonly hostData: readonly string[]
  readonly client: readonly string[]
  readonly now?: string
  readonly slack: string
  readonly skew: string
  readonly stopped?: true
  readonly settled?: true
  readonly record: boolean
}

const run = async (flags: Flags, given: Given): Promise<void> => {
  const config = configured(flags)
  if (!config) return
  const options = {
    config,
    folder: given.data !== undefined,
    file: given.file ?? null,
    topicFile: given.topics ?? null,
    hostData: given.hostData,
    clients: given.client,
    now: momentOf(given.now),
    stopped: given.stopped ?? false,
    settled: given.settled ?? false,
    slackMs: secondsOf('slack', given.slack),
    skewMs: secondsOf('skew', given.skew),
    unboundTtlMs: config.control.unboundTtlMs,
  }
  const [{ audit, keepVerdict }, { auditLines }] = await Promise.all([
    import('../audit/audit.ts'),
    import('../audit/text.ts'),
  ])
  const log = await openLog(config.log)
  const verdict = await audit(options, given.write ?? null, log)
  if (given.record) await keepVerdict(options, verdict, log)
  const { violations } = verdict
  if (violations.length > 0) endWith('findings')
  if (given.json) return out(visibleJson(verdict))
  present(given, {
    document: verdict,
    rows: violations,
    columns: COLUMNS,
    text: () => auditLines(verdict),
    report: true,
  })
}

export const audit: Register = (program) => {
  const command = program
    .command('audit')
    .description(
      'Checks every invariant over the journal of a database, a stopped data folder, topics or a file. ' +
        'Exit code 0: clean, 7: violations, 1: could not be read.',
    )
    .example(
      'accelerando audit --config /etc/accelerando/accelerando.toml',
      'accelerando audit --data ./data --stopped -f jsonl',
    )
    .endsWith('findings')
  addOutput(addFlags(command, AUDIT_FLAGS), COLUMNS)
    .option('--file <FILE>', 'read a journal written by --write instead of a store')
    .option('--topics <FILE>', 'read messages of topics from a file, one per line, instead of Kafka')
    .option('--write <FILE>', 'write the journal that was read to a file, one row per line')
    .option(
      '--host-data <DIR>',
      'data folder of a host, compared with the journal; may be given several times',
      several,
      [],
    )
    .option('--client <FILE>', 'requests recorded by a client, one per line; may be given several times', several, [])
    .option('--now <MOMENT>', "judge deadlines as of this moment instead of the database's clock")
    .option('--stopped', 'the system is not running: judge deadlines as of the last entry')
    .option('--settled', 'all faults are over: no operation may still wait for a host')
    .option('--slack <SECONDS>', 'how late the reaction to a deadline may be', '30')
    .option('--skew <SECONDS>', 'how far the clocks of clients and service may differ', '1')
    .option('--no-record', 'do not keep the result in the store, from where `accelerando system` shows it')
    .option('--json', 'one JSON object instead of lines')
    .action(withPlainErrors(async (flags: Flags) => run(flags, flags as unknown as Given)))
}
