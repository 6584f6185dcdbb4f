/** Collects the evidence of an audit from a store, topics and files. */
import { join } from 'node:path'
import type { ClientRequest, HostTrace, Records, Rows, Topics } from '../../audit/evidence.ts'
import { type Declared, lossesOf } from '../../audit/loss.ts'
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { ViewName } from '../../actors/runtime/views.ts'
import { VIEWS } from '../../actors/runtime/views.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { SnapshotSource } from '../../persistence/follow.ts'
import type { DeclaredRow } from '../../persistence/stopped.ts'
import { readClients, readHost, readJournal, readTopicFile } from './files.ts'
import { type Block, rowsIn } from './packed.ts'
import { readStore } from './storeReader.ts'
import { SNAPSHOTS_BLOCK, type Table } from './storeTables.ts'
import { gatherTopics, journalOf, wholeEntities } from './topics.ts'
import type { Config } from '../config/config.ts'
import { withProgress } from '../progress.ts'

export type AuditOptions = {
  readonly config: Pick<Config, 'database' | 'data' | 'kafka'>
  /** True: the data folder was given explicitly, so it is not merely the default. */
  readonly folder: boolean
  readonly file: string | null
  readonly topicFile: string | null
  readonly hostData: readonly string[]
  readonly clients: readonly string[]
  /**
   * The moment at which deadlines are judged, in ms since the epoch. Null: the clock of the database or, for a system
   * that is not running, the time of the last entry.
   */
  readonly now: number | null
  /** Whether the system is not running: deadlines after the last entry are then not checked. */
  readonly stopped: boolean
  /** Whether all faults are over and the system had time to recover. */
  readonly settled: boolean
  readonly slackMs: number
  readonly skewMs: number
  /** The age from which on the controls delete unbound requests; 0: never. Absent: unknown. */
  readonly unboundTtlMs?: number
}
export type Gathered = {
  readonly evidence: Records
  /** Descriptions of the sources that were read. */
  readonly sources: readonly string[]
}

type Read = Pick<Records, 'journal' | 'views'> & {
  readonly lost: readonly DeclaredRow[]
  readonly now: number | null
  readonly source: string
  readonly marks: Pick<Topics, 'publishedTo' | 'open' | 'settled'>
}
const UNKNOWN = { publishedTo: null, open: null, settled: false }

export const sourceOf = ({ config, folder }: Pick<AuditOptions, 'config' | 'folder'>): SnapshotSource | null => {
  const { database, kafka, data } = config
  if (database) return { kind: 'postgres', url: database.url }
  return kafka && !folder ? null : { kind: 'pglite', dir: join(data, 'store') }
}

const fromStore = async (source: SnapshotSource): Promise<Read> => {
  const blocks = new Map<Table, Block[]>()
  const { publishedTo, unsettled, now, settledBefore } = await withProgress(
    { what: 'rows read', total: null },
    ({ add }) =>
      readStore(source, (table, block) => {
        add(block.rows)
        const known = blocks.get(table)
        if (known) known.push(block)
        else blocks.set(table, [block])
      }),
  )
  const rows = <Row>(table: Table): Rows<Row> =>
    rowsIn(blocks.get(table) ?? [], table === 'snapshots' ? SNAPSHOTS_BLOCK : undefined)
  const views = Object.fromEntries((Object.keys(VIEWS) as ViewName[]).map((name) => [name, rows(name)]))
  const alone = source.kind === 'pglite'
  return {
    journal: rows<FeedRow>('journal'),
    lost: [...rows<DeclaredRow>('lost')],
    views,
    now: alone ? null : now,
    source: alone ? `the store in ${source.dir}` : 'the database',
    marks: { publishedTo, open: alone ? null : settledBefore, settled: !unsettled.startsWith('from') },
  }
}

const fromFile = async (path: string): Promise<Read> => {
  const journal = await readJournal(path)
  const last = journal.at(-1)?.position ?? null
  return { journal, lost: [], now: null, source: path, marks: { publishedTo: last, open: null, settled: true } }
}

type Lying = Awaited<ReturnType<typeof gatherTopics>> & { readonly source: string }
const topicsOf = async ({ config, topicFile }: AuditOptions, log: Log): Promise<Lying | null> => {
  if (topicFile !== null) return { ...(await readTopicFile(topicFile)), source: topicFile }
  if (config.kafka === null) return null
  return { ...(await gatherTopics(config.kafka, log)), source: `the topics on ${config.kafka.brokers.join(', ')}` }
}

/**
 * The journal is read before the topics, so that every row that the journal marks as published must be on the topics.
 */
const read = async (
  options: AuditOptions,
  log: Log,
): Promise<{ readonly main: Read; readonly topics: Lying | null }> => {
  const source = options.file === null ? sourceOf(options) : null
  const stored = options.file === null ? source && (await fromStore(source)) : await fromFile(options.file)
  const topics = options.file === null || options.topicFile !== null ? await topicsOf(options, log) : null
  if (stored) return { main: stored, topics }
  if (!topics) throw new Error('nothing to read: name --database, --data, --kafka or --file')
  if (topics.cut.size > 0)
    throw new Error(
      `${[...topics.cut].join(', ')}: the oldest messages are gone, so the topics alone do not tell the whole journal; name --database too`,
    )
  const messages = wholeEntities(topics.messages)
  const journal = journalOf(messages)
  const main = { journal, lost: [], now: Date.now(), source: 'facts on the topics', marks: UNKNOWN }
  return { main, topics: { ...topics, messages } }
}

const declared = ({ command: commandId, ...row }: DeclaredRow): Declared => ({ ...row, commandId, cause: {} })

export const gatherEvidence = async (options: AuditOptions, log: Log): Promise<Gathered> => {
  const { main, topics } = await read(options, log)
  const hosts: readonly HostTrace[] = await Promise.all(options.hostData.map(readHost))
  const clients: readonly ClientRequest[] = await readClients(options.clients, main.journal, options.skewMs)
  let last = 0
  for (const { at } of main.journal) last = Math.max(last, at)
  const evidence: Records = {
    journal: main.journal,
    now: options.now ?? (options.stopped ? last : (main.now ?? last)),
    quiet: options.settled,
    slackMs: options.slackMs,
    unboundTtlMs: options.unboundTtlMs ?? 0,
    ...(main.views ? { views: main.views } : {}),
    ...(main.lost.length > 0 ? { lost: lossesOf(main.lost.map(declared), options.skewMs) } : {}),
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(clients.length > 0 ? { clients } : {}),
    ...(topics ? { topics: { messages: topics.messages, cut: topics.cut, ...main.marks } } : {}),
  }
  const sources = [main.source, topics?.source, ...options.hostData, ...options.clients].filter(
    (one) => one !== undefined,
  )
  return { evidence, sources }
}
