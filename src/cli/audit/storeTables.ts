/** The tables of a store that an audit reads, as compressed blocks. */
import { VIEWS, type ViewName } from '../../actors/runtime/views.ts'
import { RELAY } from '../../delivery/relay/options.ts'
import type { SnapshotSource } from '../../persistence/follow.ts'
import { type Snapshot, readSnapshot } from '../../persistence/snapshot.ts'
import { type Block, blocksOf } from './packed.ts'

/** Facts about a store besides its rows. */
export type Marks = {
  /** ms since the epoch, by the clock of the database. */
  readonly now: number
  readonly settledBefore: string
  /** Checkpoints of the relay. */
  readonly publishedTo: string
  readonly unsettled: string
}
export type Table = 'journal' | 'lost' | ViewName
export type Take = (table: Table, block: Block) => Promise<void> | void
/** The messages of the process that reads an embedded database. */
export type Sent =
  | { readonly table: Table; readonly block: Block }
  | { readonly marks: Marks }
  | { readonly failed: string }

/** A snapshot contains the whole state of an entity, so a block has fewer of them. */
export const SNAPSHOTS_BLOCK = 16

async function* tablesOf(snapshot: Snapshot): AsyncGenerator<readonly [Table, Block]> {
  for await (const block of blocksOf(snapshot.journal())) yield ['journal', block]
  for await (const block of blocksOf(snapshot.lost())) yield ['lost', block]
  for (const view of Object.keys(VIEWS) as ViewName[])
    for await (const block of blocksOf(snapshot.view(view), view === 'snapshots' ? SNAPSHOTS_BLOCK : undefined))
      yield [view, block]
}

/** Reads one block at a time; the next one is read when `take` has finished with the last. */
export const readTables = async (snapshot: Snapshot, take: Take): Promise<Marks> => {
  const publishedTo = await snapshot.checkpoint(RELAY)
  const unsettled = await snapshot.checkpoint(`${RELAY}.unsettled`)
  for await (const [table, block] of tablesOf(snapshot)) await take(table, block)
  return { now: snapshot.now, settledBefore: snapshot.settledBefore, publishedTo, unsettled }
}

export const readHere = (source: SnapshotSource, take: Take): Promise<Marks> =>
  readSnapshot(source, (snapshot) => readTables(snapshot, take))
