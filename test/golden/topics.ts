/**
 * What a release says on its topics: facts and orders of a journal, the states it ends in, and a host that does one of
 * everything.
 */
import { viewRowsOf } from '../../src/actors/entities.ts'
import { createLatest } from '../../src/actors/latest.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { reactions } from '../../src/actors/reactions.ts'
import { VERSION } from '../../src/cli/version.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { deadLetterRecord, ledgerAnswerRecord, readDeadLetter, readOrder } from '../../src/wire/message.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { HOST, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const stateRecords = async (rows: readonly FeedRow[]): Promise<readonly BusRecord[]> => {
  const store = memoryStore()
  await store.bulkLoad(rows.map((row) => ({ rows: [row], changes: [] })))
  await store.rebuildViews(viewRowsOf)
  const latest = createLatest(store.reads)
  const marks = new Map(rows.filter(({ key }) => latest.tells(key)).map((row) => [row.key, row]))
  const states = await latest.read([...marks.keys()])
  return [...marks.values()].map((row) => latest.record(row, states.get(row.key) ?? null, `${row.key}/state`))
}

/** Orders of each kind, done and failed, and what the host says of them and of itself. */
const hostRecords = async (): Promise<readonly BusRecord[]> => {
  const lab = await openHostLab()
  const records: BusRecord[] = []
  for (const channel of ['hostOrders', 'hostReports', 'deadLetters'] as const)
    await lab.bus.consume({
      topic: CATALOGUE[channel].topic,
      group: 'recorder',
      from: 'earliest',
      take: async ({ topic, key, value, headers }) => {
        const record = { topic, key, value, headers }
        // the one that is malformed on purpose is there for its dead letter
        if (channel !== 'hostOrders' || readOrder(record).ok) records.push(record)
      },
    })
  const host = await lab.boot({ options: { version: VERSION, reportEveryMs: 2000 } })
  // a host without ledger says in each report that it asks for it, until it has an answer
  const ledger = { type: 'LedgerAnswer', host: HOST, bootId: host.bootId, slots: [], last: true } as const
  await lab.bus.publish([ledgerAnswerRecord(ledger, 'answer/1', lab.clock.now())])
  await lab.send(
    lab.order('PrepareSlot', 1, { trace: TRACE }),
    lab.order('ReleaseSlot', 2),
    lab.order('Program', 1),
    lab.order('Probe', 2),
    lab.order('Program', 1, { device: 1, image: 'of nobody' }),
  )
  const undated = { ...lab.order('Probe', 3), deadline: 'some day' } as never
  await lab.send(undated)
  await lab.clock.pass(6000)
  await quiet(40)
  await host.stop('orderly')
  await quiet(40)
  return records
}

const letters = (of: BusRecord): readonly BusRecord[] => {
  const meta = { id: 'letter', time: 0 }
  const letter = deadLetterRecord({ ...of, value: '{' }, 'message: must be JSON', meta)
  const read = readDeadLetter(letter)
  return read.ok ? [letter, handledRecord(read.value.body, { ...meta, time: 1000 })] : [letter]
}

export const playTopics = async (rows: readonly FeedRow[]): Promise<readonly BusRecord[]> => {
  const ofHost = await hostRecords()
  return [...rows.flatMap(reactions), ...(await stateRecords(rows)), ...ofHost, ...letters(ofHost[0]!)]
}

export const topicsText = (records: readonly BusRecord[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
export const topicsIn = (text: string): readonly BusRecord[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as BusRecord)

/** Kinds of message, a line each: the topic, and what is told on it. */
const kindOf = ({ topic, value, tombstone }: BusRecord): string => {
  if (tombstone) return `${topic} tombstone`
  const { type, data } = JSON.parse(value) as { type: string; data: Record<string, unknown> }
  if (topic.includes('.events.')) return `${topic} fact`
  const { status } = (data['result'] ?? {}) as { status?: string }
  return [topic, type.replace('accelerando.', ''), status, data['retriedAt'] && 'retried'].filter(Boolean).join(' ')
}
const KINDS = [
  ...['PrepareSlot', 'ReleaseSlot', 'Program', 'Probe'].map((order) => `host.orders.v1 order.${order}`),
  ...['Inventory', 'Heartbeat', 'OrderResult done', 'OrderResult failed'].map(
    (kind) => `host.reports.v1 report.${kind}`,
  ),
  ...['arq', 'device', 'deployable', 'profile', 'host'].map((entity) => `${entity}.events.v1 fact`),
  ...['arq', 'device', 'host'].map((entity) => `${entity}.state.v1 state.${entity}`),
  'arq.state.v1 tombstone',
  'dead-letters.v1 deadletter',
  'dead-letters.v1 deadletter retried',
]
/** Kinds of message that these do not hold. */
export const missingKinds = (records: readonly BusRecord[]): readonly string[] => {
  const held = new Set(records.map(kindOf))
  return KINDS.filter((kind) => !held.has(kind))
}
