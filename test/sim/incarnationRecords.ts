/**
 * What the database itself keeps of lost rows and of a stop, as migration 0003 and `src/persistence/incarnationSql.ts`
 * do it in SQL.
 */
import type { FeedRow, JournalRow } from '../../src/actors/runtime/ports.ts'
import type { NamedRow } from '../../src/services/deployables/adoption.ts'
import type { IncarnationRecords } from '../../src/persistence/incarnation.ts'
import { NotWritable } from '../../src/persistence/notWritable.ts'

export type LostRow = NamedRow & { readonly version: number }
export type SimCustody = {
  /** Of a session with the server of that number. */
  readonly reached: (server: number) => IncarnationRecords
  /** Why the journal cannot be written; null: it can. */
  readonly refusal: () => string | null
  /**
   * Why writing is stopped until somebody adopts, and the lost rows that nobody has adopted; null: it is not stopped.
   */
  readonly stopped: () => { readonly reason: string; readonly lost: readonly LostRow[] } | null
  /** All that were ever found to be lost. */
  readonly found: () => ReadonlySet<string>
  /** Adopts these rows. False: others were found meanwhile, and the stop stays. */
  readonly goOn: (shown: readonly LostRow[]) => boolean
  /** What a standby has of these records now; the returned function puts it in the place of what the server has. */
  readonly standby: () => () => void
}
type Ports = {
  readonly now: () => number
  readonly rows: () => readonly FeedRow[]
  readonly isReadOnly: () => boolean
}

export const rowId = ({ key, version }: Pick<JournalRow, 'key' | 'version'>, command: string): string =>
  `${key} ${version} ${command}`

export const simCustody = ({ now, rows, isReadOnly }: Ports): SimCustody => {
  let lost = new Map<string, LostRow & { readonly adopted: boolean }>()
  let [writableAt, known]: [number, number | null] = [0, null]
  let reason: string | null = null
  const open = () => [...lost.values()].filter(({ adopted }) => !adopted)
  const keepLost = (wanted: readonly JournalRow[]): number => {
    const there = new Set(rows().map((row) => rowId(row, row.commandId)))
    const gone = wanted.filter((row) => !there.has(rowId(row, row.commandId)))
    const told = gone.filter((row) => lost.get(rowId(row, row.commandId))?.adopted !== true)
    for (const { key, version, commandId: command, events } of told)
      lost.set(rowId({ key, version }, command), { key, version, command, events, adopted: false })
    return told.length
  }
  return {
    reached: (server) => ({
      isThere: async () => true,
      cloud: async () => 'this',
      noteServer: async (graceMs) => {
        if (known !== null && known !== server) writableAt = now() + graceMs
        known = server
      },
      keepLost: async (wanted) => keepLost(wanted),
      stop: async (why, counts) => void (reason = reason === null || counts ? why : reason),
      look: async () => {
        if (isReadOnly()) throw new NotWritable('the database server is read-only')
        return { reason, at: 0n }
      },
      wait: async (graceMs) => void (writableAt = now() + graceMs),
    }),
    refusal: () => {
      if (reason !== null) return `writing is stopped: ${reason}`
      return now() < writableAt ? 'the database server has changed' : null
    },
    stopped: () => (reason === null ? null : { reason, lost: open() }),
    found: () => new Set(lost.keys()),
    goOn: (shown) => {
      for (const row of shown) lost.set(rowId(row, row.command), { ...row, adopted: true })
      if (open().length > 0) return false
      reason = null
      return true
    },
    standby: () => {
      const copy = { lost: new Map(lost), writableAt, known, reason }
      return () => void ({ lost, writableAt, known, reason } = copy)
    },
  }
}
