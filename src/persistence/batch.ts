/** Selects which of the waiting appends go into the next statement. Pure. */
import type { Append } from '../actors/runtime/ports.ts'

const MAX_APPENDS = 512
/** Limits the rows of one statement, so that a few very large appends do not exceed the statement timeout. */
const MAX_ROWS = 4_000

export type Waiting = { readonly append: Append }
export type Picked<W> = { readonly batch: readonly W[]; readonly left: readonly W[] }

const sizeOf = ({ append }: Waiting): number => append.rows.length + append.changes.length

/**
 * Keeps the order: an append waits for the next statement if it shares a key with any earlier append, picked or
 * waiting.
 */
export const pickBatch = <W extends Waiting>(waiting: readonly W[]): Picked<W> => {
  const held = new Set<string>()
  const batch: W[] = []
  const left: W[] = []
  let rows = 0
  for (const each of waiting) {
    const keys = each.append.rows.map(({ key }) => key)
    const full = batch.length >= MAX_APPENDS || (batch.length > 0 && rows + sizeOf(each) > MAX_ROWS)
    const fits = !full && !keys.some((key) => held.has(key))
    for (const key of keys) held.add(key)
    if (fits) batch.push(each)
    else left.push(each)
    if (fits) rows += sizeOf(each)
  }
  return { batch, left }
}
