/** Turns on a pool of connections. */
import { describe, expect, test } from 'vitest'
import { createTurns } from '../../src/persistence/postgres/turns.ts'

const LONG_MS = 60_000
const held = () => Promise.withResolvers<string>()

describe('turns', () => {
  test('as many run at once as there are connections, the others in the order of asking', async () => {
    const turns = createTurns(2, LONG_MS)
    const works = Array.from({ length: 5 }, held)
    const begun: number[] = []
    const answers = works.map(({ promise }, at) =>
      turns(() => {
        begun.push(at)
        return promise
      }),
    )
    expect(begun).toEqual([0, 1])
    works[1]!.resolve('b')
    expect(await answers[1]).toBe('b')
    await Promise.resolve()
    expect(begun).toEqual([0, 1, 2])
    works[2]!.reject(new Error('failed'))
    await expect(answers[2]).rejects.toThrow('failed')
    works[0]!.resolve('a')
    works[3]!.resolve('d')
    works[4]!.resolve('e')
    expect(await Promise.all([answers[0], answers[3], answers[4]])).toEqual(['a', 'd', 'e'])
    expect(begun).toEqual([0, 1, 2, 3, 4])
  })

  test('who waits too long is told so, is never begun, and does not hold up those behind', async () => {
    const turns = createTurns(1, 20)
    const first = held()
    const running = turns(() => first.promise)
    let begun = false
    const late = turns(async () => {
      begun = true
    })
    await expect(late).rejects.toThrow('no connection to the database was free within 20 ms')
    const next = turns(async () => 'next')
    first.resolve('first')
    expect(await Promise.all([running, next])).toEqual(['first', 'next'])
    expect({ begun, free: await turns(async () => 'free') }).toEqual({ begun: false, free: 'free' })
  })
})
