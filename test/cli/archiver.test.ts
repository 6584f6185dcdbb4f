/**
 * What ended long ago leaves the journal by itself: by one process at a time, in bounded portions, and again after a
 * failure.
 */
import { describe, expect, it } from 'vitest'
import { createArchiver, startArchiver } from '../../src/cli/programs/archiver.ts'
import { systemIds } from '../../src/clock.ts'
import { memoryStores } from '../../src/persistence/memory/memory.ts'
import type { Archived, ArchiveOrder } from '../../src/persistence/store.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

const opened = async () => {
  const clock = handClock()
  const stores = memoryStores({ exclusive: false, now: clock.now })
  const store = stores()
  const log = memoryLog()
  const archiver = (archiveEnded = store.archiveEnded) =>
    createArchiver({ store: { sharing: store.sharing, archiveEnded }, endedMs: 30 * DAY, clock, ids: systemIds, log })
  return { clock, store, log, archiver }
}
const MOVED: Archived = { entities: 1, rows: 10, more: true }

describe('archiving by itself', () => {
  it('moves what ended long enough ago, and leaves what lives', async () => {
    const { clock, store, archiver } = await opened()
    const world = await openPlane({ clock, options: { sweepEveryMs: 365 * DAY } }, store, 'when told')
    value(
      await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [[gone], [kept]] = [
      value(await world.control.arqs.create(NOVA, 'f')),
      value(await world.control.arqs.create(NOVA, 'f')),
    ]
    value(await world.control.arqs.remove(NOVA, [gone!.uuid]))
    await store.journal.saveCheckpoint('relay', await store.journalEnd())
    const one = archiver()
    await clock.pass(29 * DAY)
    expect(await one.round()).toBe(0)
    await clock.pass(2 * DAY)
    expect(await one.round()).toBe(2)
    const left = (await store.journal.feed('', 100)).map(({ key }) => key)
    expect(left).toContain(`arq/${kept!.uuid}`)
    expect(left).not.toContain(`arq/${gone!.uuid}`)
    await Promise.all([world.plane.stop(), clock.pass(HOUR)])
  })
  it('is the work of one process at a time, and of another one when that has stopped', async () => {
    const { clock, archiver } = await opened()
    const [one, two] = [archiver(), archiver()]
    expect(await one.round()).toBe(0)
    expect(await two.round()).toBe(null)
    await one.stop()
    await clock.pass(1)
    expect(await two.round()).toBe(0)
  })
  it('goes in portions with pauses, so many in a round, and ends with the portion under way', async () => {
    const { clock, archiver } = await opened()
    const asked: ArchiveOrder[] = []
    const one = archiver(async (order) => {
      asked.push(order)
      return MOVED
    })
    one.start()
    await clock.pass(1000)
    expect(asked).toHaveLength(5)
    expect(asked[0]!.before).toBe(clock.now() - 1000 - 30 * DAY)
    await clock.pass(50_000)
    expect(asked).toHaveLength(60)
    await clock.pass(60_000)
    expect(asked.length).toBeGreaterThan(60)
    await one.stop()
    const { length } = asked
    await clock.pass(HOUR)
    expect(asked).toHaveLength(length)
  })
  it('goes on after a round that failed', async () => {
    const { clock, log, archiver } = await opened()
    let calls = 0
    const one = archiver(async () => {
      if (++calls === 1) throw new Error('the database is away')
      return { ...MOVED, more: false }
    })
    one.start()
    await clock.pass(60_000)
    expect(log.said).toEqual([
      { level: 'warn', detail: { error: expect.stringContaining('the database is away') }, message: 'archive.failed' },
      { level: 'info', detail: { rows: 10 }, message: 'journal.archived' },
    ])
    await one.stop()
  })
  it('tells how many rows a round has moved, and nothing of one that moved none', async () => {
    const { log, archiver } = await opened()
    const answers = [
      { ...MOVED, more: false },
      { ...MOVED, rows: 0, more: false },
    ]
    const one = archiver(async () => answers.shift()!)
    expect([await one.round(), await one.round()]).toEqual([10, 0])
    expect(log.said).toEqual([{ level: 'info', detail: { rows: 10 }, message: 'journal.archived' }])
  })
  it('takes its lease for two minutes, and gives back the same', async () => {
    const { clock, log, store } = await opened()
    const asked: unknown[][] = []
    const sharing = {
      ...store.sharing,
      acquire: async (...given: readonly unknown[]) => (asked.push(['acquire', ...given]), { epoch: 1 }),
      release: async (...given: readonly unknown[]) => void asked.push(['release', ...given]),
    }
    const parts = { store: { sharing, archiveEnded: async () => ({ ...MOVED, more: false }) }, clock, log }
    const one = createArchiver({ ...parts, ids: { uuid: () => 'holder-1' }, endedMs: DAY })
    await one.round()
    await one.stop()
    expect(asked).toEqual([
      ['acquire', 'archive', 'holder-1', 120_000],
      ['release', 'archive', 'holder-1'],
    ])
  })
  it('moves at most 1000 rows in a portion', async () => {
    const { clock, archiver } = await opened()
    const asked: ArchiveOrder[] = []
    await archiver(async (order) => (asked.push(order), { ...MOVED, more: false })).round()
    expect(asked).toEqual([{ before: clock.now() - 30 * DAY, limit: 1000 }])
  })
  it('ends although its lease cannot be given back', async () => {
    const { clock, log, store } = await opened()
    const sharing = { ...store.sharing, release: () => Promise.reject(new Error('away')) }
    const parts = { store: { sharing, archiveEnded: async () => MOVED }, clock, ids: systemIds, log }
    await createArchiver({ ...parts, endedMs: DAY }).stop()
    expect(log.said).toEqual([
      { level: 'warn', detail: { error: expect.stringContaining('away') }, message: 'archive.release' },
    ])
  })
  it('begins only where it is configured', async () => {
    const { clock, log, store } = await opened()
    const asked: ArchiveOrder[] = []
    const archiveEnded = async (order: ArchiveOrder) => (asked.push(order), { ...MOVED, more: false })
    const parts = { store: { sharing: store.sharing, archiveEnded }, clock, ids: systemIds, log }
    await startArchiver({ ...parts, endedMs: null }).stop()
    expect(asked).toEqual([])
    const one = startArchiver({ ...parts, endedMs: 5 })
    await clock.pass(1)
    await one.stop()
    expect(asked).toEqual([{ before: clock.now() - 1 - 5, limit: 1000 }])
  })
  it('a stop waits for the portion under way, and keeps its lease until then', async () => {
    const { clock, log, store } = await opened()
    const { promise, resolve } = Promise.withResolvers<Archived>()
    const ended: string[] = []
    const sharing = { ...store.sharing, release: async () => void ended.push('released') }
    const parts = { store: { sharing, archiveEnded: () => promise }, clock, ids: systemIds, log }
    const one = createArchiver({ ...parts, endedMs: DAY })
    one.start()
    await clock.pass(1)
    const stopped = one.stop().then(() => ended.push('stopped'))
    await clock.pass(HOUR)
    expect(ended).toEqual([])
    resolve(MOVED)
    await stopped
    expect(ended).toEqual(['released', 'stopped'])
  })
})
