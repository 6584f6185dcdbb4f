/** How long services wait for something that others change: when they look again, and when they give up. */
import { describe, expect, test } from 'vitest'
import { type Outcome, done } from '../../src/fault.ts'
import { createDrift } from '../../src/services/drift/drift.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { lookUntil } from '../../src/services/kernel/lookUntil.ts'
import type { Placer } from '../../src/services/placement/placer.ts'
import { pause } from '../../src/waiting.ts'
import { REFUSED_AWAY, kernelOf } from '../support/kernelParts.ts'
import { handClock, quiet } from '../support/lab.ts'
import { NOVA } from '../support/plane.ts'
import { settled } from './settled.ts'

describe('an entity is looked at', () => {
  /** `reads`: what the reads find, one after the other; the last one is found again and again. */
  const looking = (withinMs: number, reads: readonly Outcome<number>[]) => {
    const clock = handClock()
    const start = clock.now()
    const [looks, waits]: readonly [number[], number[]] = [[], []]
    let wake = () => {}
    const next = (_key: string, ms: number): Promise<void> => {
      waits.push(ms)
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      clock.after(ms, resolve)
      return promise
    }
    const read = async () => {
      looks.push(clock.now() - start)
      return reads[Math.min(looks.length, reads.length) - 1]!
    }
    const kernel = kernelOf({ clock, changes: { next } })
    const answer = lookUntil(kernel, { key: 'arq/x', withinMs, read, isWanted: (found) => found === 7 })
    return { clock, looks, waits, answer, wake: () => wake() }
  }
  test('once when it is as wanted', async () => {
    const { looks, waits, answer } = looking(5000, [done(7)])
    expect([await answer, looks, waits]).toEqual([done(7), [0], [100]])
  })
  test('later and later, for the last time when the time is over', async () => {
    const { clock, looks, waits, answer } = looking(3000, [done(1)])
    expect(await settled(clock, answer)).toEqual(done(1))
    expect(looks).toEqual([0, 100, 300, 700, 1500, 2500, 3000])
    expect(waits).toEqual([100, 200, 400, 800, 1000, 500, 0])
  })
  test('at once when it has changed', async () => {
    const { clock, looks, answer, wake } = looking(3000, [done(1), done(7)])
    await clock.pass(30)
    wake()
    expect([await answer, looks]).toEqual([done(7), [0, 30]])
  })
  test('no more when it cannot be read', async () => {
    const { clock, looks, answer } = looking(3000, [done(1), REFUSED_AWAY])
    expect([await settled(clock, answer), looks]).toEqual([REFUSED_AWAY, [0, 100]])
  })
})

describe('a repair of hosts', () => {
  /** The first comparison takes `firstMs`. */
  const opened = (count: number, now: Outcome<boolean>, firstMs = 0) => {
    const clock = handClock()
    const start = clock.now()
    const asked: (readonly [string, number])[] = []
    let [open, most] = [0, 0]
    const placer = {
      now: async (host: string) => {
        most = Math.max(most, ++open)
        await (asked.push([host, clock.now() - start]) === 1 ? pause(clock, firstMs) : quiet(1))
        open--
        return now
      },
    } as unknown as Placer
    const items = Array.from({ length: count }, (_, n) => ({ name: `h${n + 1}` }))
    const readers = { list: async () => done({ items, next: NEXT }) }
    const drift = createDrift({ clock, readers, placement: null } as unknown as Kernel, () => placer)
    return { clock, asked, drift, most: () => most }
  }
  const NEXT = { value: 'h', key: 'h' }
  test('waits for another control later and later, and says after twenty seconds that it was not possible', async () => {
    const { clock, asked, drift } = opened(1, done(false), 1000)
    const healed = drift.heal(NOVA, 'h1')
    expect(await settled(clock, healed)).toEqual(done({ items: [{ host: 'h1', ended: false }], next: NEXT }))
    const moments = [0, 1200, 1600, 2400, 4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000, 18_000, 20_000]
    expect(asked).toEqual(moments.map((at) => ['h1', at]))
  })
  test('works on eight hosts at once, and on the others after them', async () => {
    const { clock, asked, drift, most } = opened(9, done(true))
    const items = Array.from({ length: 9 }, (_, n) => ({ host: `h${n + 1}`, ended: true }))
    expect(await settled(clock, drift.heal(NOVA, null))).toEqual(done({ items, next: NEXT }))
    expect([asked.length, most()]).toEqual([9, 8])
  })
  test('ends with the first refusal, and works on no host after it', async () => {
    const { clock, asked, drift } = opened(9, REFUSED_AWAY)
    expect(await settled(clock, drift.heal(NOVA, null))).toEqual(REFUSED_AWAY)
    expect(asked).toHaveLength(8)
  })
})
