/**
 * `accelerando migrate`: brings the database to the schema of this release, and accepts the loss of rows with
 * `--adopt`.
 */
import { endWith, misused } from '../exits.ts'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import type { Config } from '../config/config.ts'
import { addFlags } from '../config/flags.ts'
import { openLog } from '../logger.ts'

type Given = Flags & {
  readonly check?: true
  readonly grantTo?: string
  readonly adopt?: true
  readonly fromTopics?: true
}

/** The rows that the topics contain and the database does not; none without `--from-topics`. */
const lostBy = async (url: string, { kafka, log }: Config, { fromTopics }: Given, keep: boolean) => {
  if (!fromTopics) return []
  if (kafka === null) throw misused('--from-topics: kafka.brokers is not set: name the brokers with --kafka')
  const { lostOnTopics } = await import('../store/lostOnTopics.ts')
  return lostOnTopics(url, kafka, { keep, log: await openLog(log) })
}

const check = async (url: string, config: Config, given: Given) => {
  const { schemaOf } = await import('../../persistence/upgradeSchema.ts')
  const { pending, newer } = await schemaOf(url)
  for (const name of pending) out(`pending ${name}`)
  for (const name of newer) out(`newer   ${name}: made by a newer accelerando`)
  if (pending.length === 0) out('the schema is up to date')
  const { showLost, showStopped, stoppedIn } = await import('../store/adopt.ts')
  const stopped = await stoppedIn(url)
  if (stopped) showStopped(stopped, out)
  const lost = await lostBy(url, config, given, false)
  showLost(lost, out)
  if (given.fromTopics) out(`the topics tell of ${lost.length} rows that the database does not hold`)
  if (pending.length > 0 || stopped || lost.length > 0) endWith('findings')
}

const upgradeSchema = async (url: string, config: Config, given: Given) => {
  const { grantTo: role, adopt } = given
  const schema = await import('../../persistence/upgradeSchema.ts')
  const { pending, newer } = await schema.upgradeSchema(url)
  for (const name of pending) out(`made    ${name}`)
  for (const name of newer) out(`newer   ${name}: made by a newer accelerando`)
  if (pending.length === 0) out('the schema was up to date')
  if (role !== undefined) {
    const statements = await schema.grantTo(url, role)
    out(`granted role ${role} what the programs need (${statements.length} statements)`)
  }
  if (!adopt) return
  const { adoptLost, stoppedIn } = await import('../store/adopt.ts')
  const { adoptServer } = await import('../../persistence/serverIdentity.ts')
  const adopted = await adoptServer(url)
  if (adopted) out(`adopted the journal of another server: ${adopted.rows} rows`)
  await lostBy(url, config, given, true)
  const stopped = await stoppedIn(url)
  if (stopped) await adoptLost(url, stopped, out)
  if (!adopted && !stopped) out('nothing to adopt: writing is not stopped, and the journal is of this server')
}

export const migrate: Register = (program) => {
  addFlags(
    program
      .command('migrate')
      .description('Migrates the schema of a PostgreSQL database. Run it as the owner of the tables.')
      .example(
        'accelerando migrate --database postgresql://owner@db/accelerando --grant-to accelerando',
        'accelerando migrate --check --config /etc/accelerando/accelerando.toml',
      )
      .endsWith('findings'),
    ['database', 'kafka.brokers', 'kafka.prefix', 'config', 'log.level'],
  )
    .option('--check', 'change nothing; exit code 7 when a migration is pending or writing is stopped, and why')
    .option('--grant-to <ROLE>', 'grant this role the privileges that the programs need, and no more')
    .option(
      '--adopt',
      'when the database lost rows: show them, quarantine what they name, and write again; after a restore on another server, with all programs stopped: renumber the journal',
    )
    .option(
      '--from-topics',
      'with --check or --adopt: rows that the topics tell of (--kafka) and the database does not hold are lost as well, also when no control knows of them',
    )
    .action(
      withPlainErrors(async (given: Given) => {
        const config = configured(given)
        if (!config) return
        if (config.database === null) throw misused('database is not set: name it with --database')
        if (given.check && (given.grantTo !== undefined || given.adopt))
          throw misused('--check changes nothing: leave out --grant-to and --adopt')
        if (given.fromTopics && !given.check && !given.adopt)
          throw misused('--from-topics goes with --check or --adopt')
        const { url } = config.database
        await (given.check ? check(url, config, given) : upgradeSchema(url, config, given))
      }),
    )
}
