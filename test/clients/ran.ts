/** What a script says that it ran of a client, and what the client offers by its own account. */
import { expect } from 'vitest'

const listed = (printed: string, word: string): readonly string[] => {
  const lines = printed.split('\n').filter((line) => line.startsWith(`${word} `))
  return [...new Set(lines.map((line) => line.slice(word.length + 1)))].toSorted()
}
export const expectWell = (printed: string): void => {
  expect(listed(printed, 'failed')).toEqual([])
  expect(printed).toMatch(/exit 0$/)
}
/** Whatever the client has was run, so that nothing of it is forgotten. `least`: so much of it there is at least. */
export const expectAllRun = (printed: string, least: number): void => {
  expectWell(printed)
  const offered = listed(printed, 'offered')
  expect(offered.length).toBeGreaterThanOrEqual(least)
  expect(listed(printed, 'ran')).toEqual(offered)
}
