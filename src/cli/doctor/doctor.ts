/**
 * Checks everything that a service of several processes depends on, and reports what is wrong and what to do about it.
 */
import type { Gone } from '../../bus/kafka/groups.ts'
import { inspectKafka } from '../../bus/kafka/inspect.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { RELAY } from '../../delivery/relay/options.ts'
import { Misaddressed } from '../../vocabulary/postgresUrl.ts'
import { inspectDatabase } from '../../persistence/inspect.ts'
import type { Finding } from './check.ts'
import { counted, judgeAll } from './check.ts'
import { examineCloud, examineNova } from './cloud.ts'
import { DATABASE_CHECKS } from './database.ts'
import { KAFKA_CHECKS } from './kafka.ts'
import { pciHere } from '../hardware/pciHere.ts'
import { programAt } from '../programs/programAt.ts'
import { examineHardware } from './hardware.ts'
import { examineOverlap } from './novaConf.ts'
import { API_CHECKS, askFor } from './neighbours.ts'
import type { DoctorOptions } from './options.ts'
import { trustedBy } from '../config/trusted.ts'
import { CONTROL_DEFAULTS } from '../../services/kernel/kernel.ts'
import { TENANT_CHECKS } from './tenants.ts'
import { WORK_CHECKS } from './work.ts'

/** Turns the failure to reach a system into a finding. */
const orUnreachable = async (
  check: string,
  advice: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return await look()
  } catch (error) {
    const { says, advice: known = advice } =
      error instanceof Misaddressed ? error : { says: messageOf(error) || String(error) }
    return [{ check, verdict: 'problem', says, advice: known }]
  }
}

const ofDatabase = (url: string, { clock, control }: DoctorOptions) =>
  orUnreachable(
    'database',
    'check that PostgreSQL is running there, and that user, password and database name are correct',
    async () => {
      const questions = { relay: RELAY, bindDeadlineMs: control.bindDeadlineMs ?? 0 }
      const facts = await inspectDatabase(url, clock, questions)
      return [...judgeAll(DATABASE_CHECKS, facts), ...(facts.work === null ? [] : judgeAll(WORK_CHECKS, facts.work))]
    },
  )

const ofMending = (gone: readonly Gone[]): readonly Finding[] => {
  if (gone.length === 0) return []
  const kept = gone.filter(({ reason }) => reason !== null)
  const says = `${counted(gone.length - kept.length, 'left-over group')} deleted`
  const [first] = kept
  if (first === undefined) return [{ check: 'mended', verdict: 'ok', says }]
  const why = `${says}, ${kept.length} not: ${first.group}: ${first.reason}`
  return [
    {
      check: 'mended',
      verdict: 'warning',
      says: why,
      advice: 'a group that is in use again is not deleted: run the command again',
    },
  ]
}

const ofKafka = (kafka: KafkaOptions, { topics, mend }: DoctorOptions) =>
  orUnreachable(
    'kafka',
    'check that a broker is running there, and that the TLS and login settings are correct',
    async () => {
      const { facts, gone } = await inspectKafka(kafka, topics, mend)
      return [...judgeAll(KAFKA_CHECKS, facts), ...ofMending(gone)]
    },
  )

const ofApi = async (api: string, { clock, keystone }: DoctorOptions): Promise<readonly Finding[]> =>
  judgeAll(API_CHECKS, await askFor(`${api.replace(/\/+$/, '')}/readyz`, clock, keystone?.ca ?? trustedBy(process.env)))

const ofTenants = async (_: unknown, { control }: DoctorOptions): Promise<readonly Finding[]> =>
  judgeAll(TENANT_CHECKS, { ...CONTROL_DEFAULTS, ...control })

const ofOverlap = (options: DoctorOptions) =>
  orUnreachable('overlap with nova', 'run this on the host, as a user who may read its PCI bus (pci.sysfs_root)', () =>
    examineOverlap(pciHere(options), options.novaConf),
  )

const ofHardware = (options: DoctorOptions) =>
  orUnreachable('hardware', 'run this on the host, as a user who may read its PCI bus (pci.sysfs_root)', () =>
    examineHardware(pciHere(options), (program) => programAt(program, process.env['PATH'] ?? '')),
  )

/** Runs the checks of a system, or none if the system is not configured. */
const orNothing = async <Configured>(
  configured: Configured | null,
  options: DoctorOptions,
  look: (configured: Configured, options: DoctorOptions) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => (configured === null ? [] : look(configured, options))

export const examine = async (options: DoctorOptions): Promise<readonly Finding[]> => {
  const { database, kafka, api, nova, keystone } = options
  const parts = await Promise.all([
    orNothing(database?.url ?? null, options, ofDatabase),
    orNothing(kafka, options, ofKafka),
    orNothing(api, options, ofApi),
    orNothing(nova?.url ?? null, options, examineNova),
    orNothing(keystone, options, examineCloud),
    orNothing(keystone, options, ofTenants),
    options.novaConf.length === 0 ? [] : ofOverlap(options),
    options.hardware ? ofHardware(options) : [],
  ])
  return parts.flat()
}

const of = (findings: readonly Finding[], verdict: Finding['verdict']): number =>
  findings.filter((finding) => finding.verdict === verdict).length

export const hasProblems = (findings: readonly Finding[]): boolean => of(findings, 'problem') > 0

/** One line for each finding with the advice below it, and a summary as the last line. */
export const reportLines = (findings: readonly Finding[]): readonly string[] => {
  const width = Math.max(0, ...findings.map(({ check }) => check.length))
  const sum = [
    counted(of(findings, 'problem'), 'problem'),
    counted(of(findings, 'warning'), 'warning'),
    `${of(findings, 'ok')} ok`,
  ]
  return [
    ...findings.flatMap(({ check, verdict, says, advice }) => [
      `${verdict.padEnd(8)} ${check.padEnd(width)}  ${says}`,
      ...(advice === undefined ? [] : [`${' '.repeat(width + 11)}-> ${advice}`]),
    ]),
    sum.join(', '),
  ]
}
