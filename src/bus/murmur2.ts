/** The partition of a key, as Kafka's default partitioner computes it, so that both adapters choose the same one. */
const MIX = 0x5bd1e995
const SEED = 0x9747b28c

const murmur2 = (data: Buffer): number => {
  const whole = data.length & ~3
  let hash = SEED ^ data.length
  for (let at = 0; at < whole; at += 4) {
    const word = Math.imul(data.readInt32LE(at), MIX)
    hash = Math.imul(hash, MIX) ^ Math.imul(word ^ (word >>> 24), MIX)
  }
  const rest = data.length - whole
  if (rest > 2) hash ^= data[whole + 2]! << 16
  if (rest > 1) hash ^= data[whole + 1]! << 8
  if (rest > 0) hash = Math.imul(hash ^ data[whole]!, MIX)
  hash = Math.imul(hash ^ (hash >>> 13), MIX)
  return hash ^ (hash >>> 15)
}

export const partitionOf = (key: string, partitions: number): number =>
  (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions
