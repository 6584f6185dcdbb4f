/** The place in the orders up to which a host has read: on its disk, for its next start. */
import { expect, test } from 'vitest'
import { openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const PATH = '/state/place.json'
test.each(['', '{', '{"bus":"b","partition":-1,"offset":0}', '[1]'])(
  'a host started again reads on from its place, and from the beginning when the file holds %j',
  async (text) => {
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
    await lab.disk.replace(PATH, text)
    await lab.boot()
    await quiet(40)
    // the ledger answers what comes once more
    expect(results()).toEqual([one, other, one, other])
    expect(lab.log.said.map(({ message }) => message)).toContain('host.placeUnreadable')
  },
)
test('a place is written once a second at most, and a disk that refuses it is no reason to stop', async () => {
  const lab = await openHostLab()
  let writes = 0
  const replace: typeof lab.disk.replace = async (path, text) => {
    if (path === PATH && ++writes > 1) throw new Error('full')
    return lab.disk.replace(path, text)
  }
  await lab.boot({ disk: { ...lab.disk, replace } })
  for (let number = 1; number <= 3; number++) await lab.send(lab.order('PrepareSlot', number))
  await lab.clock.pass(1000)
  expect(writes).toBe(1)
  await lab.send(lab.order('PrepareSlot', 4))
  await lab.clock.pass(1000)
  expect(lab.log.said.map(({ message }) => message)).toContain('host.placeNotKept')
  expect(lab.results()).toHaveLength(4)
})
