/** Encoding and decoding of values in the Kafka protocol: big-endian numbers, and a length before variable data. */

export type Reader = { readonly buffer: Buffer; at: number }
export type Codec<Value> = {
  read(from: Reader): Value
  write(value: Value): Buffer
}
export type ValueOf<Of> = Of extends Codec<infer Value> ? Value : never

const take = (from: Reader, bytes: number): Buffer => {
  if (from.at + bytes > from.buffer.length) throw new Error(`the request ends ${bytes} bytes too early`)
  from.at += bytes
  return from.buffer.subarray(from.at - bytes, from.at)
}
const fixed = (bytes: number, read: (from: Buffer) => number, put: (to: Buffer, value: number) => void) => ({
  read: (from: Reader) => read(take(from, bytes)),
  write: (value: number) => {
    const to = Buffer.alloc(bytes)
    put(to, value)
    return to
  },
})

export const int8: Codec<number> = fixed(
  1,
  (from) => from.readInt8(),
  (to, value) => to.writeInt8(value),
)
export const int16: Codec<number> = fixed(
  2,
  (from) => from.readInt16BE(),
  (to, value) => to.writeInt16BE(value),
)
export const int32: Codec<number> = fixed(
  4,
  (from) => from.readInt32BE(),
  (to, value) => to.writeInt32BE(value),
)
export const int64: Codec<number> = fixed(
  8,
  (from) => Number(from.readBigInt64BE()),
  (to, value) => to.writeBigInt64BE(BigInt(value)),
)
export const bool: Codec<boolean> = {
  read: (from) => int8.read(from) !== 0,
  write: (value) => int8.write(value ? 1 : 0),
}

/** Of so many bytes as the number before them says; -1 stands for null. */
const measured = (length: Codec<number>): Codec<Buffer | null> => ({
  read: (from) => {
    const bytes = length.read(from)
    return bytes < 0 ? null : take(from, bytes)
  },
  write: (value) => (value === null ? length.write(-1) : Buffer.concat([length.write(value.length), value])),
})
const shortly = measured(int16)
export const maybeText: Codec<string | null> = {
  read: (from) => shortly.read(from)?.toString() ?? null,
  write: (value) => shortly.write(value === null ? null : Buffer.from(value)),
}
export const text: Codec<string> = {
  read: (from) => maybeText.read(from) ?? '',
  write: (value) => maybeText.write(value),
}

const maybeBytes = measured(int32)
export const bytes: Codec<Buffer> = {
  read: (from) => maybeBytes.read(from) ?? Buffer.alloc(0),
  write: (value) => maybeBytes.write(value),
}

export const maybeArray = <Value>(of: Codec<Value>): Codec<readonly Value[] | null> => ({
  read: (from) => {
    const count = int32.read(from)
    return count < 0 ? null : Array.from({ length: count }, () => of.read(from))
  },
  write: (values) =>
    values === null
      ? int32.write(-1)
      : Buffer.concat([int32.write(values.length), ...values.map((value) => of.write(value))]),
})
export const array = <Value>(of: Codec<Value>): Codec<readonly Value[]> => {
  const maybe = maybeArray(of)
  return { read: (from) => maybe.read(from) ?? [], write: (values) => maybe.write(values) }
}

type Fields = Readonly<Record<string, Codec<unknown>>>
type StructOf<Of extends Fields> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> }
/** The fields one after the other, as they are listed. */
export const struct = <Of extends Fields>(fields: Of): Codec<StructOf<Of>> => ({
  read: (from) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.read(from)])) as StructOf<Of>,
  write: (value) => Buffer.concat(Object.entries(fields).map(([name, field]) => field.write(value[name]))),
})
