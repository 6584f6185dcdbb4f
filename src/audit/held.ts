/**
 * A map that keeps only recently used values as objects; all others are compressed, in blocks. This suits an audit: the
 * appends of an entity are near each other in the journal, so that its value is used often for a while, and then
 * seldom.
 *
 * HELD-1 A value must be JSON: a later read may return a copy.
 * HELD-2 When half of a block's values have been taken out, the others are too, so that at most half of the compressed
 *    bytes are waste.
 */
import { compressed, expanded } from './compressed.ts'

export type Held<Value> = {
  readonly get: (key: string) => Value | undefined
  readonly set: (key: string, value: Value) => void
  /** In the order in which the keys were first set. Nothing may be set during the iteration. */
  readonly entries: () => Iterable<readonly [key: string, value: Value]>
}
type Pair<Value> = readonly [key: string, value: Value]
type Block = { readonly bytes: Buffer; left: number }

/** How many values are kept as objects. */
const OBJECTS_MAX = 1_000
/**
 * Limits of a block, which is compressed and read as a whole: its number of values, and a length after which no further
 * value is added.
 */
const BLOCK_VALUES = 16
const BLOCK_CHARS = 16_384
/** How many blocks are kept expanded while all entries are read. */
const OPEN_BLOCKS_MAX = 64
/**
 * The place of a value that is kept as an object. The place of any other value is a number: block times `BLOCK_VALUES`,
 * plus index in the block.
 */
const OBJECT = -1

const blockOf = (place: number): number => Math.floor(place / BLOCK_VALUES)
const openBlocks = <Value>() => {
  const blocks: (Block | undefined)[] = []
  return {
    /** Adds a block; returns the place of its first value. */
    add: (pairs: readonly string[]): number =>
      (blocks.push({ bytes: compressed(`[${pairs.join()}]`), left: pairs.length }) - 1) * BLOCK_VALUES,
    pairsAt: (place: number) => expanded(blocks[blockOf(place)]!.bytes) as readonly Pair<Value>[],
    leftAt: (place: number): number => blocks[blockOf(place)]!.left,
    /** Call this when the value at a place has been taken out or replaced. A block without values is dropped. */
    leave: (place: number): void => {
      if (--blocks[blockOf(place)]!.left === 0) blocks[blockOf(place)] = undefined
    },
  }
}

/** The values of these keys in their order; only a few blocks are expanded at a time. */
function* entriesOf<Value>(
  places: ReadonlyMap<string, number>,
  objects: ReadonlyMap<string, Value>,
  { pairsAt }: ReturnType<typeof openBlocks<Value>>,
): Generator<Pair<Value>> {
  const open = new Map<number, readonly Pair<Value>[]>()
  for (const [key, place] of places) {
    if (place === OBJECT) {
      yield [key, objects.get(key)!]
      continue
    }
    const block = blockOf(place)
    const pairs = open.get(block) ?? pairsAt(place)
    if (!open.has(block) && open.size >= OPEN_BLOCKS_MAX) open.delete(open.keys().next().value!)
    open.set(block, pairs)
    yield pairs[place % BLOCK_VALUES]!
  }
}

/** The least recently used values as text, at most one block of them. */
const oldestOf = <Value>(
  objects: ReadonlyMap<string, Value>,
): readonly { readonly key: string; readonly text: string }[] => {
  const oldest: { readonly key: string; readonly text: string }[] = []
  let chars = 0
  for (const pair of objects) {
    if (oldest.length >= BLOCK_VALUES || chars >= BLOCK_CHARS) break
    const text = JSON.stringify(pair)
    oldest.push({ key: pair[0], text })
    chars += text.length
  }
  return oldest
}

export const openHeld = <Value>(objectsMax = OBJECTS_MAX): Held<Value> => {
  const places = new Map<string, number>()
  /** Ordered by use: the most recently used value is the last. */
  const objects = new Map<string, Value>()
  const blocks = openBlocks<Value>()

  /** Moves the least recently used values into a compressed block. */
  const shrink = (): void => {
    const oldest = oldestOf(objects)
    const first = blocks.add(oldest.map(({ text }) => text))
    for (const [at, { key }] of oldest.entries()) {
      objects.delete(key)
      places.set(key, first + at)
    }
  }
  const use = (key: string, value: Value): void => {
    objects.delete(key)
    objects.set(key, value)
    places.set(key, OBJECT)
  }
  /** Turns one value of a block into an object, and all its remaining values when those are few (HELD-2). */
  const take = (place: number): Value => {
    const pairs = blocks.pairsAt(place)
    const at = place % BLOCK_VALUES
    const few = blocks.leftAt(place) * 2 <= pairs.length
    for (const [other, [key, value]] of pairs.entries()) {
      const own = place - at + other
      if (other === at || !few || places.get(key) !== own) continue
      use(key, value)
      blocks.leave(own)
    }
    const [key, value] = pairs[at]!
    use(key, value)
    blocks.leave(place)
    return value
  }
  const bounded = <Result>(result: Result): Result => {
    while (objects.size > objectsMax) shrink()
    return result
  }
  return {
    get: (key) => {
      const place = places.get(key)
      if (place === undefined) return undefined
      if (place !== OBJECT) return bounded(take(place))
      const value = objects.get(key)!
      use(key, value)
      return value
    },
    set: (key, value) => {
      const place = places.get(key) ?? OBJECT
      use(key, value)
      if (place !== OBJECT) blocks.leave(place)
      bounded(null)
    },
    entries: () => entriesOf(places, objects, blocks),
  }
}
