/** Rows held compressed: a journal is read more than once, and held as objects it would need many times the memory. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Rows } from '../../audit/evidence.ts'

/** Rows of one block are compressed and read together. */
const BLOCK = 500
/** The fastest; the rows of a journal are alike, and become a tenth of their size. */
const LEVEL = 1

export type Packing<Row> = {
  readonly add: (row: Row) => void
  /** No row can be added any more. */
  readonly done: () => Rows<Row>
}

/** For rows that JSON can hold. */
export const openPacking = <Row>(): Packing<Row> => {
  const blocks: Buffer[] = []
  let open: Row[] = []
  let length = 0
  const close = () => {
    if (open.length > 0) blocks.push(deflateRawSync(JSON.stringify(open), { level: LEVEL }))
    open = []
  }
  const unpacked = (block: Buffer) => JSON.parse(inflateRawSync(block).toString()) as readonly Row[]
  let last: { readonly block: Buffer; readonly rows: readonly Row[] } | null = null
  const rowAt = (index: number): Row | undefined => {
    const block = blocks[Math.floor(index / BLOCK)]
    if (!block) return undefined
    if (last?.block !== block) last = { block, rows: unpacked(block) }
    return last.rows[index % BLOCK]
  }
  return {
    add: (row) => {
      length++
      if (open.push(row) >= BLOCK) close()
    },
    done: () => {
      close()
      return {
        length,
        at: (index) => rowAt(index < 0 ? length + index : index),
        *[Symbol.iterator]() {
          for (const block of blocks) yield* unpacked(block)
        },
      }
    },
  }
}

export const packed = async <Row>(rows: AsyncIterable<Row>): Promise<Rows<Row>> => {
  const packing = openPacking<Row>()
  for await (const row of rows) packing.add(row)
  return packing.done()
}
