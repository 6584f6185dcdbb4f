/** Compressed rows: a journal is read more than once, and as objects it would need many times the memory. */
import { compressed, expanded } from '../../audit/compressed.ts'
import type { Rows } from '../../audit/evidence.ts'

/** Number of rows that are compressed and read together, as one block; only the last block may have fewer. */
const BLOCK = 500
export type Block = { readonly rows: number; readonly bytes: Uint8Array }

/** The rows in these blocks, which have `size` rows each except the last one. They can be read any number of times. */
export const rowsIn = <Row>(blocks: readonly Block[], size = BLOCK): Rows<Row> => {
  const length = blocks.reduce((sum, { rows }) => sum + rows, 0)
  const unpacked = ({ bytes }: Block) => expanded(bytes) as readonly Row[]
  let last: { readonly block: Block; readonly rows: readonly Row[] } | null = null
  const rowAt = (index: number): Row | undefined => {
    const block = blocks[Math.floor(index / size)]
    if (!block) return undefined
    if (last?.block !== block) last = { block, rows: unpacked(block) }
    return last.rows[index % size]
  }
  return {
    length,
    at: (index) => rowAt(index < 0 ? length + index : index),
    *[Symbol.iterator]() {
      for (const block of blocks) yield* unpacked(block)
    },
  }
}

/** Compresses rows, which must be JSON, into blocks. */
export async function* blocksOf<Row>(rows: AsyncIterable<Row>, size = BLOCK): AsyncGenerator<Block> {
  let open: Row[] = []
  const close = (): Block => {
    const block = { rows: open.length, bytes: compressed(JSON.stringify(open)) }
    open = []
    return block
  }
  for await (const row of rows) if (open.push(row) >= size) yield close()
  if (open.length > 0) yield close()
}

export const packed = async <Row>(rows: AsyncIterable<Row>): Promise<Rows<Row>> => {
  const blocks: Block[] = []
  for await (const block of blocksOf(rows)) blocks.push(block)
  return rowsIn<Row>(blocks)
}
