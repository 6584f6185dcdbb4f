/** The archive of the store in memory: rows stay where they are, and the feed skips them. */
import { ENDING, leavable } from '../../../src/actors/retention.ts'
import { agedCount } from '../../../src/persistence/aged.ts'
import type { Kept } from './kept.ts'
import type { Archived, ArchiveOrder } from '../../../src/persistence/store.ts'

/** The lowest checkpoint of all readers. */
const publishedUpTo = (checkpoints: Kept['checkpoints']): number =>
  Math.min(...[...checkpoints.values()].flatMap((text) => /\d+$/.exec(text)?.map(Number) ?? []))

export const archiveMemory = async (
  kept: Pick<Kept, 'log' | 'byKey' | 'checkpoints' | 'archived' | 'tables'>,
  { before, limit }: ArchiveOrder,
): Promise<Archived> => {
  const { log, byKey, checkpoints, archived, tables } = kept
  const published = publishedUpTo(checkpoints)
  if (published === Infinity) return { entities: 0, rows: 0, more: false }
  const aged = agedCount(
    log.slice(0, published).map(({ at }) => at),
    before,
  )
  let [entities, rows] = [0, 0]
  for (const [key, own] of byKey) {
    const last = own.at(-1)!
    const ending = ENDING.some((kind) => key.startsWith(`${kind}/`))
    if (!ending || Number(last.position) > aged) continue
    const leaving = own.slice(0, leavable(key, own)).filter(({ position }) => !archived.has(position))
    if (leaving.length === 0) continue
    if (rows >= limit) return { entities, rows, more: true }
    for (const { position } of leaving) archived.add(position)
    if (leaving.at(-1) === last) tables.write([{ view: 'snapshots', key, row: null }])
    entities++
    rows += leaving.length
  }
  return { entities, rows, more: false }
}
