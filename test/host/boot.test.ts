/** BOOT: the number of a start. */
import { expect, test } from 'vitest'
import { memoryDisk } from '../../src/host/disk.ts'
import { nextBoot } from '../../src/host/boot.ts'
import { openHostLab } from '../support/hostLab.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const PATH = '/state/boot.json'
const lab = () => ({ disk: memoryDisk(), path: PATH, clock: handClock(), log: memoryLog() })

test('BOOT-1 rises with each start, also when the clock was set back', async () => {
  const one = lab()
  const first = await nextBoot(one)
  const clock = { ...one.clock, now: () => one.clock.now() - 86_400_000 }
  expect(await nextBoot({ ...one, clock })).toBe(first + 1)
  await one.clock.pass(10_000)
  expect(await nextBoot(one)).toBe(first + 10_000)
})
test('BOOT-2 rises also when the folder is lost', async () => {
  const one = lab()
  const first = await nextBoot(one)
  await one.clock.pass(1)
  expect(await nextBoot({ ...one, disk: memoryDisk() })).toBeGreaterThan(first)
})
test.each(['', '{}', '{"boot":0}', '{"boot":"1"}', 'x'])(
  'a file that holds %j is reported and replaced',
  async (text) => {
    const one = lab()
    await one.disk.replace(PATH, text)
    expect(await nextBoot(one)).toBe(one.clock.now())
    expect(one.log.said).toMatchObject([{ level: 'warn', message: 'host.bootUnreadable' }])
    expect(await nextBoot(one)).toBe(one.clock.now() + 1)
  },
)
test('is in every report of the start, and on disk before the first of them', async () => {
  const host = await openHostLab()
  await host.boot()
  await host.send(host.order('PrepareSlot', 1))
  await host.clock.pass(6000)
  const { boot } = JSON.parse((await host.disk.read(PATH))!)
  expect(new Set(host.heard.map(({ report }) => report.type))).toEqual(
    new Set(['Inventory', 'OrderResult', 'Heartbeat']),
  )
  expect(new Set(host.heard.map(({ report }) => report.bootNumber))).toEqual(new Set([boot]))
})
