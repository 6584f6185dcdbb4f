/** A host's place in its orders, on its own disk. */
import { describe, expect, test } from 'vitest'
import type { StoredOffset } from '../../src/bus/port.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { openOffsetStore } from '../../src/host/offsetStore.ts'
import { openHostLab } from '../support/hostLab.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const PATH = '/state/place.json'
const at = (offset: number): StoredOffset => ({ bus: 'b', partition: 3, offset })

const open = async (text: string | null = null) => {
  const disk = memoryDisk()
  if (text !== null) await disk.replace(PATH, text)
  let writes = 0
  const counting = { ...disk, replace: (path: string, to: string) => (writes++, disk.replace(path, to)) }
  const [clock, log] = [handClock(), memoryLog()]
  const place = await openOffsetStore({ disk: counting, path: PATH, clock, log })
  const kept = async (): Promise<unknown> => JSON.parse((await disk.read(PATH)) ?? 'null')
  return { disk, clock, log, place, kept, writes: () => writes }
}

describe('a place on disk', () => {
  test('is written once a second at most, and at the end', async () => {
    const { clock, place, kept, writes } = await open()
    for (const offset of [1, 2, 3]) place.moved(at(offset))
    await clock.pass(999)
    expect(await kept()).toBeNull()
    await clock.pass(1)
    expect([await kept(), writes()]).toEqual([at(3), 1])
    await clock.pass(5000)
    place.moved(at(4))
    await place.close('orderly')
    expect([await kept(), writes()]).toEqual([at(4), 2])
    place.moved(at(5))
    await clock.pass(5000)
    expect(await kept()).toEqual(at(4))
  })
  test('is written once for each second in which it moved, and not again at the end', async () => {
    const { clock, place, kept, writes } = await open()
    for (const offset of [1, 2]) {
      place.moved(at(offset))
      await clock.pass(1000)
      expect([await kept(), writes()]).toEqual([at(offset), offset])
    }
    await place.close('orderly')
    expect(writes()).toBe(2)
  })
  test('is found by the next start', async () => {
    const { place } = await open(JSON.stringify(at(7)))
    expect(place.from).toEqual(at(7))
  })
  test('is not written when the process is gone at once', async () => {
    const { clock, place, kept } = await open()
    place.moved(at(1))
    await place.close('at once')
    await clock.pass(5000)
    expect(await kept()).toBeNull()
  })
  test.each(['', '{', '{}', '{"bus":"b","partition":-1,"offset":0}', '[1]'])('%j counts as none', async (text) => {
    const { place, log } = await open(text)
    expect(place.from).toBeNull()
    expect(log.said.map(({ message }) => message)).toEqual(['host.placeUnreadable'])
  })
  test('a disk that refuses is no reason to stop', async () => {
    const { disk, clock, log } = await open()
    const refusing = { ...disk, replace: () => Promise.reject(new Error('full')) }
    const place = await openOffsetStore({ disk: refusing, path: PATH, clock, log })
    place.moved(at(1))
    await clock.pass(1000)
    expect(log.said.map(({ message }) => message)).toEqual(['host.placeNotKept'])
  })
})

describe('a host', () => {
  test('started again reads on from its place, and from the beginning when the file is gone', async () => {
    const lab = await openHostLab()
    const first = await lab.boot()
    await lab.send(lab.order('PrepareSlot', 1))
    await lab.clock.pass(1000)
    await first.stop()
    await lab.send(lab.order('PrepareSlot', 1, { device: 1 }))
    const results = () => lab.results().map(({ slot }) => slot)
    const [one, other] = [lab.order('PrepareSlot', 1).slot, lab.order('PrepareSlot', 1, { device: 1 }).slot]
    const second = await lab.boot()
    await quiet(40)
    expect(results()).toEqual([one, other])
    await second.stop()
    await lab.disk.replace('/state/place.json', '')
    await lab.boot()
    await quiet(40)
    // the ledger answers what comes once more
    expect(results()).toEqual([one, other, one, other])
  })
})
