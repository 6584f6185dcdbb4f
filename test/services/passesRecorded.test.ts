/** What a pass over a host records while it goes on and when it ends, and how many passes wait for their turn. */
import { describe, expect, test } from 'vitest'
import { ENTITIES } from '../../src/actors/entities.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import type { Journal } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { done } from '../../src/vocabulary/fault.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { newWork } from '../../src/services/kernel/kernel.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { openPlane } from '../support/plane.ts'
import { settled } from './settled.ts'

const DAY = 86_400_000
const KEY = 'placement/h1'
const decider = ENTITIES['placement']!
/** As the port of Placement says: no call takes longer. */
const CALL_MS = 10_000
/** A pass may write so long before it has to record that it goes on; its claim lasts for one call more. */
const PASS_MS = 30_000
const CLAIM_MS = PASS_MS + CALL_MS
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const gpus = (count: number) => ({
  seed: 1,
  devices: Array.from({ length: count }, () => ({ kind: 'gpu' as const, handles: 1 })),
})

/** `slow`: how long writes of traits take, one after the other. */
const opened = async (devices: number, slow: readonly number[] = []) => {
  const [clock, log, cloud] = [handClock(), memoryLog(), placementInMemory()]
  const store = memoryStore({ now: clock.now })
  const left = [...slow]
  const world = { unreadable: false, isWriting: false }
  const recall: Journal['recall'] = async (wishes) => {
    if (world.unreadable && wishes.some(({ key }) => key === 'host/h1')) throw new Unreadable('damaged', {})
    return store.journal.recall(wishes)
  }
  const placement: Placement = {
    ...cloud.placement,
    longestCallMs: CALL_MS,
    setTraits: async (it) => {
      world.isWriting = true
      await new Promise<void>((resolve) => clock.after(left.shift() ?? 0, resolve))
      return cloud.placement.setTraits(it)
    },
  }
  const options = { sweepEveryMs: DAY, placementAuditMs: DAY }
  const { plane, shows } = await openPlane(
    { clock, log, placement, options },
    { ...store, journal: { ...store.journal, recall } },
  )
  cloud.ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
  await shows('h1', gpus(devices))
  const { placer } = plane.sweeper
  const start = clock.now()
  /** The events of each append, and when it was decided. */
  const recorded = async () =>
    (await store.journal.history([KEY], 1000)).map(({ at, events }) => [
      at - start,
      events.map((one) => ('until' in one ? `${one.type} until ${Number(one.until) - start}` : one.type)),
    ])
  const writes = () => cloud.asked.filter((line) => !line.startsWith('GET'))
  const stop = () => settled(clock, plane.stop())
  return { clock, log, plane, placer: placer!, world, recorded, writes, stop }
}
const found = (count: number) => Array.from({ length: count }, () => 'ProviderReconciled')

describe('a pass', () => {
  test('records twenty findings in one append, and the last ones with its end', async () => {
    const { clock, placer, recorded, stop } = await opened(21)
    expect(await settled(clock, placer.now('h1'))).toEqual(done(true))
    const rows = await recorded()
    expect(rows.map(([, events]) => events)).toEqual([
      [`PassBegun until ${CLAIM_MS}`],
      ['RootFound'],
      [...found(20), `PassContinued until ${CLAIM_MS}`],
      [...found(1), `PassContinued until ${CLAIM_MS}`, 'PassEnded'],
    ])
    await stop()
  })
  test('says that it goes on once before a write that may outlast its claim, with what it has found', async () => {
    const { clock, placer, recorded, stop } = await opened(3, [PASS_MS - 1, 1, 5])
    expect(await settled(clock, placer.now('h1'))).toEqual(done(true))
    const rows = await recorded()
    expect(rows.slice(2)).toEqual([
      [PASS_MS, [...found(1), `PassContinued until ${PASS_MS + CLAIM_MS}`]],
      [PASS_MS + 5, [...found(2), `PassContinued until ${PASS_MS + 5 + CLAIM_MS}`, 'PassEnded']],
    ])
    await stop()
  })
  test('writes nothing any more when another control has begun one meanwhile', async () => {
    const { clock, placer, plane, world, recorded, writes, stop } = await opened(1, [CLAIM_MS])
    const passing = placer.now('h1')
    await until(() => world.isWriting)
    await clock.pass(CLAIM_MS - 1)
    const at = clock.now() + 1
    const begin = { type: 'Begin', host: 'h1', at, until: at + 1000, alone: false } as const
    const other = newWork({ ids: systemIds, clock }, { by: 'another control' }, (draft) =>
      draft.decide(decider, KEY, begin),
    )
    expect(await plane.region.tell(KEY, other)).toMatchObject({ ok: true })
    expect(await settled(clock, passing)).toEqual(done(false))
    expect(placer.counts().passes).toMatchObject({ superseded: 1, unreachable: 0, failed: 0 })
    expect((await recorded()).at(-1)![1]).toEqual([`PassBegun until ${CLAIM_MS + 1000}`])
    expect(writes().filter((line) => line.includes('inventories'))).toEqual([])
    await stop()
  })
  test('that cannot read what is recorded of the host says so', async () => {
    const { clock, placer, plane, world, stop } = await opened(1)
    for (const key of plane.region.residents()) plane.region.kill(key)
    world.unreadable = true
    expect(await settled(clock, placer.now('h1'))).toMatchObject({ ok: false })
    const { passes, passMs } = placer.counts()
    expect([passes.failed, passes.superseded, passMs]).toEqual([1, 0, 0])
    const record = await plane.region.readCurrent(decider, KEY)
    const reason = 'what is recorded of the host cannot be read'
    expect(record.ok && record.value.state.trouble).toEqual({ state: 'unreachable', reason, since: clock.now() })
    await stop()
  })
  test('counts the time that it takes', async () => {
    const { clock, placer, stop } = await opened(1, [700])
    expect(await settled(clock, placer.now('h1'))).toEqual(done(true))
    expect(placer.counts()).toMatchObject({ passMs: 700, passes: { changed: 1 }, changes: { created: 1, traits: 1 } })
    await stop()
  })
})
