/** What ended long ago leaves the journal by itself: by one process at a time, in portions, again after a failure. */
import { describe, expect, test } from 'vitest'
import { openSystem } from '../../src/cli/programs/system.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { Archived, ArchiveOrder, Store } from '../../src/persistence/store.ts'
import { imagesOf } from '../sim/images.ts'
import { handClock, memoryLog, quiet, until } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const PORTION: Archived = { entities: 1, rows: 10, more: false }
/** Systems over one store and one clock, which passes while they are stopped. */
const opened = async (archiveEndedMs: number | null = 30 * DAY) => {
  const clock = handClock()
  const stores = memoryStores({ exclusive: false, now: clock.now })
  const log = memoryLog()
  const system = async (more: Partial<Store> = {}) => {
    const parts = { images: imagesOf(), nova: null, log, clock, archiveEndedMs, control: { sweepEveryMs: 365 * DAY } }
    return openSystem({ ...parts, store: { ...stores(), ...more } })
  }
  const stop = async (one: { readonly stop: () => Promise<void> }) => {
    let over = false
    void one.stop().finally(() => (over = true))
    for (let n = 0; n < 1000 && !over; n++) await clock.pass(1000)
    expect(over).toBe(true)
  }
  const said = () =>
    log.said.filter(({ message }) => message.includes('archive')).map(({ message, detail }) => [message, detail])
  return { clock, store: stores(), system, stop, said }
}
const noting = (asked: ArchiveOrder[], answer: () => Promise<Archived>) => ({
  archiveEnded: async (order: ArchiveOrder) => (asked.push(order), answer()),
})

describe('archiving by itself', () => {
  test('moves what ended long enough ago and was told, and leaves what lives', async () => {
    const { clock, store, system, stop, said } = await opened(10 * MINUTE)
    const one = await system()
    const { profiles, arqs } = one.plane.control
    value(await profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
    const [[gone], [kept]] = [value(await arqs.create(NOVA, 'f')), value(await arqs.create(NOVA, 'f'))]
    value(await arqs.remove(NOVA, [gone!.uuid]))
    const keys = async () => (await store.journal.feed('', 100)).map(({ key }) => key)
    for (let n = 0; n < 9; n++) await clock.pass(MINUTE)
    expect(await keys()).toContain(`arq/${gone!.uuid}`)
    for (let n = 0; n < 3; n++) await clock.pass(MINUTE)
    await until(() => said().length > 0, 'the archiving')
    expect(await keys()).not.toContain(`arq/${gone!.uuid}`)
    expect(await keys()).toContain(`arq/${kept!.uuid}`)
    await stop(one)
  })
  test('ARCHIVER-1 is the work of one process at a time, and of another one when that has stopped', async () => {
    const { clock, system, stop } = await opened()
    const asked: [ArchiveOrder[], ArchiveOrder[]] = [[], []]
    const one = await system(noting(asked[0], async () => PORTION))
    await clock.pass(1)
    const two = await system(noting(asked[1], async () => PORTION))
    await clock.pass(60_000)
    expect([asked[0].length > 0, asked[1].length]).toEqual([true, 0])
    await stop(one)
    await clock.pass(120_000)
    await quiet()
    expect(asked[1].length).toBeGreaterThan(0)
    await stop(two)
  })
  test('ARCHIVER-2 goes in portions of 1000 rows with pauses, so many in a round', async () => {
    const { clock, system, stop } = await opened()
    const asked: ArchiveOrder[] = []
    const one = await system(noting(asked, async () => ({ ...PORTION, more: true })))
    await clock.pass(1000)
    expect(asked.length).toBeLessThan(6)
    expect(asked[0]).toEqual({ before: clock.now() - 1000 - 30 * DAY, limit: 1000 })
    await clock.pass(50_000)
    expect(asked).toHaveLength(60)
    await stop(one)
  })
  test('ARCHIVER-3 goes on after a round that failed', async () => {
    const { clock, system, stop, said } = await opened()
    let calls = 0
    const one = await system(
      noting([], async () => {
        if (++calls === 1) throw new Error('the database is away')
        return PORTION
      }),
    )
    await clock.pass(60_000)
    await until(() => said().length >= 2, 'the second round')
    expect(said().slice(0, 2)).toEqual([
      ['archive.failed', { error: expect.stringContaining('the database is away') }],
      ['journal.archived', { rows: 10 }],
    ])
    await stop(one)
  })
  test('begins only where it is configured', async () => {
    const { clock, system, stop } = await opened(null)
    const asked: ArchiveOrder[] = []
    const one = await system(noting(asked, async () => PORTION))
    await clock.pass(60_000)
    expect(asked).toEqual([])
    await stop(one)
  })
})
