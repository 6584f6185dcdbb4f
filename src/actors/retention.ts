/** Decides which journal rows of an ended entity may be archived. Pure. */
import type { EntityKey } from '../vocabulary/identifiers.ts'
import { arq } from './arq/decider.ts'
import { remember } from './entities.ts'
import type { Instance } from './instance/decider.ts'
import { instance } from './instance/decider.ts'
import { memoryOf } from './runtime/memory.ts'
import type { JournalRow } from './runtime/ports.ts'

/** The kinds of entity that can end. */
export const ENDING: readonly string[] = [arq.kind, instance.kind]

const isOver = ({ arqs, open, telling }: Instance): boolean =>
  Object.keys(arqs).length === 0 && open === null && telling === null

/**
 * How many of the rows, oldest first, may move from the journal to the archive. For a deleted ARQ all of them, as its
 * UUID never comes again. An instance may be bound again: its last row stays, so that the next row follows it and
 * fences processes that remember the instance.
 */
export const leavable = (key: EntityKey, rows: readonly JournalRow[]): number => {
  const memory = remember(key, rows)
  if (memoryOf(arq, memory)?.state.status === 'Gone') return rows.length
  const bound = memoryOf(instance, memory)
  return bound && isOver(bound.state) ? rows.length - 1 : 0
}
