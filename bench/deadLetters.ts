/**
 * Counts dead letters by the topic on which the message was sent and the reason, without what differs from one letter
 * to the next.
 */
import { readDeadLetter } from '../src/wire/message.ts'
import type { BusRecord } from '../src/wire/envelope.ts'

const SHOWN = 20
const alike = (reason: string): string =>
  reason
    .replaceAll(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi, 'UUID')
    .replaceAll(/\d+/g, 'N')
    .slice(0, 300)

export const deadLetterCounts = () => {
  const counts = new Map<string, number>()
  let all = 0
  return {
    take: (record: BusRecord): void => {
      const letter = readDeadLetter(record)
      const what = letter.ok ? `${letter.value.body.topic}: ${alike(letter.value.body.reason)}` : 'it cannot be read'
      counts.set(what, (counts.get(what) ?? 0) + 1)
      all++
    },
    all: () => all,
    /** The most frequent ones first. */
    lines: (): readonly string[] =>
      [...counts]
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, SHOWN)
        .map(([what, count]) => `  ${count} x ${what}`),
  }
}
