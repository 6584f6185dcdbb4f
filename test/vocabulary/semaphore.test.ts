/** A semaphore: how many pieces of work run at once, and how long the others wait. */
import { describe, expect, test } from 'vitest'
import { createSemaphore } from '../../src/vocabulary/semaphore.ts'
import { handClock } from '../support/lab.ts'

const held = () => Promise.withResolvers<string>()

describe('a semaphore', () => {
  test('as many run at once as it admits, the others in the order of asking', async () => {
    const inTurn = createSemaphore(2)
    const works = Array.from({ length: 5 }, held)
    const begun: number[] = []
    const answers = works.map(({ promise }, at) =>
      inTurn(() => {
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
    const clock = handClock()
    const inTurn = createSemaphore(1, { ms: 20, error: () => new Error('no turn within 20 ms'), clock })
    const first = held()
    const running = inTurn(() => first.promise)
    let begun = false
    const late = inTurn(async () => {
      begun = true
    })
    void clock.pass(20)
    await expect(late).rejects.toThrow('no turn within 20 ms')
    const next = inTurn(async () => 'next')
    first.resolve('first')
    expect(await Promise.all([running, next])).toEqual(['first', 'next'])
    expect({ begun, free: await inTurn(async () => 'free') }).toEqual({ begun: false, free: 'free' })
  })

  test('who waits behind one that waited too long keeps its place', async () => {
    const clock = handClock()
    const inTurn = createSemaphore(1, { ms: 20, error: () => new Error('no turn within 20 ms'), clock })
    const first = held()
    const running = inTurn(() => first.promise)
    const late = expect(inTurn(async () => 'late')).rejects.toThrow('no turn within 20 ms')
    await clock.pass(10)
    const behind = inTurn(async () => 'behind')
    await clock.pass(10)
    await late
    first.resolve('first')
    expect(await Promise.all([running, behind])).toEqual(['first', 'behind'])
  })

  test('the limit of the wait ends with the turn: nobody else loses a place by it', async () => {
    const clock = handClock()
    const inTurn = createSemaphore(1, { ms: 20, error: () => new Error('no turn within 20 ms'), clock })
    const [first, second] = [held(), held()]
    const [one, two] = [inTurn(() => first.promise), inTurn(() => second.promise)]
    await clock.pass(10)
    first.resolve('one')
    await one
    const three = inTurn(async () => 'three')
    await clock.pass(15)
    second.resolve('two')
    expect(await Promise.all([two, three])).toEqual(['two', 'three'])
  })
})
