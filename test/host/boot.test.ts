/** BOOT: the number of a start. */
import { expect, test } from 'vitest'
import { memoryDisk } from '../../src/host/disk.ts'
import { type Boot, openHostLab } from '../support/hostLab.ts'

const PATH = '/state/boot.json'
const opened = async () => {
  const lab = await openHostLab()
  /** The number of the next start. */
  const next = async (more: Boot = {}): Promise<number> => {
    const host = await lab.boot(more)
    await lab.kill(host)
    return lab.inventories().at(-1)!.bootNumber!
  }
  return { lab, next }
}

test('BOOT-1 rises with each start, also when the clock was set back', async () => {
  const { lab, next } = await opened()
  const first = await next()
  expect(await next({ clock: { ...lab.clock, now: () => lab.clock.now() - 86_400_000 } })).toBe(first + 1)
  await lab.clock.pass(10_000)
  expect(await next()).toBe(first + 10_000)
})
test('BOOT-2 rises also when the folder is lost', async () => {
  const { lab, next } = await opened()
  const first = await next()
  await lab.clock.pass(1)
  expect(await next({ disk: memoryDisk() })).toBeGreaterThan(first)
})
test.each(['', '{}', '{"boot":0}', '{"boot":"1"}', 'x'])(
  'a file that holds %j is reported and replaced',
  async (text) => {
    const { lab, next } = await opened()
    await lab.disk.replace(PATH, text)
    expect(await next()).toBe(lab.clock.now())
    expect(lab.log.said).toContainEqual(expect.objectContaining({ level: 'warn', message: 'host.bootUnreadable' }))
    expect(await next()).toBe(lab.clock.now() + 1)
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
