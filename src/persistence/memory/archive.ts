/** The archive of the store in memory: rows stay where they are, and the feed skips them. */
import { ENDING, leavable } from '../../actors/retention.ts'
import type { Kept } from './kept.ts'
import type { Archived, ArchiveOrder } from '../store.ts'

/** The lowest checkpoint of all readers. */
const publishedUpTo = (checkpoints: Kept['checkpoints']): number =>
  Math.min(...[...checkpoints.values()].flatMap((text) => /\d+$/.exec(text)?.map(Number) ?? []))

export const archiveMemory = async (
  kept: Pick<Kept, 'byKey' | 'checkpoints' | 'archived' | 'tables'>,
  { before, limit }: ArchiveOrder,
): Promise<Archived> => {
  const { byKey, checkpoints, archived, tables } = kept
  const published = publishedUpTo(checkpoints)
  let [entities, rows] = [0, 0]
  for (const [key, own] of byKey) {
    const last = own.at(-1)!
    const ending = ENDING.some((kind) => key.startsWith(`${kind}/`))
    if (!ending || last.at >= before || !(Number(last.position) <= published) || published === Infinity) continue
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
