/**
 * A control and a host program together: the host loses its folder while a guest uses a device; and a second machine
 * gets the same name.
 */
import { beforeEach, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { type MemoryDisk, memoryDisk } from '../../src/host/disk.ts'
import { startHost } from '../../src/host/host.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { memoryLog, until } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'
import { noCatalogue } from '../support/images.ts'

const open = async () => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock })
  const images = noCatalogue()
  const system = await openSystem({ store: memoryStore(), images, nova: null, log, bus })
  const { control } = system.plane
  const machine = () => {
    const io = recordedHostIo({}, 'h1')
    const driver = simulatedDriver({ seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })
    const boot = (disk: MemoryDisk) =>
      startHost({
        ...{ name: 'h1', stateDir: '/state', bus, drivers: [driver], io, disk },
        ...{ clock: systemClock, ids: systemIds, log, options: { heartbeatEveryMs: 50 } },
      })
    const prepared = () => Object.keys(readEffects(io.kept()[effectsPath(io.stateDir, driver.name)] ?? null).prepared)
    return { boot, prepared }
  }
  const recorded = async (bootId: string) => {
    let boot: string | null = null
    const look = async () => {
      const listed = await control.hosts.list({})
      boot = listed.ok ? (listed.value.items[0]?.boot_id ?? null) : null
    }
    while (boot !== bootId) await look().then(() => new Promise((resolve) => setTimeout(resolve, 5)))
  }
  const bind = async () => {
    const place = value(await control.deployables.list({}, {})).items[0]!
    const [made] = value(await control.arqs.create(NOVA, 'f'))
    const target = { arq: made!.uuid, hostname: 'h1', deviceRpUuid: place.rp_uuid!, instanceUuid: systemIds.uuid() }
    value(await control.arqs.bind(NOVA, [target]))
    return made!.uuid
  }
  const profile = async () =>
    value(await control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  return { system, control, log, machine, recorded, bind, profile }
}
let w: Awaited<ReturnType<typeof open>>
beforeEach(async () => {
  w = await open()
})
const ledgerOf = async (disk: MemoryDisk) => (await disk.read('/state/ledger.jsonl')) ?? ''

test('MEMORY-1 MEMORY-2 a host that lost its folder is believed again by the word of an operator; it leaves the guest alone, is told what is prepared, and works on', async () => {
  const { boot, prepared } = w.machine()
  const first = await boot(memoryDisk())
  await w.recorded(first.bootId)
  await w.profile()
  const arq = await w.bind()
  await until(() => prepared().length === 1, 'the preparation')
  const [slot] = prepared()
  await first.idle()
  await first.stop('at once')

  const disk = memoryDisk()
  const second = await boot(disk)
  await until(() => w.system.plane.counts().refusedReports.foreign_key > 0, 'the refusal of the new key')
  value(await w.control.hosts.rekey(NOVA, 'h1', { by: 'ops', reason: 'folder lost' }, second.publicKey))
  await second.reportNow()
  await w.recorded(second.bootId)
  for (let n = 0; n < 200 && !(await ledgerOf(disk)).includes('"recalled":true'); n++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  expect(await ledgerOf(disk)).toContain(`"slot":"${slot}"`)
  expect(prepared()).toEqual([slot])
  value(await w.control.arqs.unbind(NOVA, [arq]))
  await until(() => prepared().length === 0, 'the release')
  await second.stop()
  await w.system.stop()
})

/** The folder of a machine that was cloned when it was new. */
const copyOf = async (disk: MemoryDisk): Promise<MemoryDisk> => {
  const copy = memoryDisk()
  for (const file of ['key.pem', 'boot.json'])
    await copy.replace(`/state/${file}`, (await disk.read(`/state/${file}`)) ?? '')
  return copy
}

test('MEMORY-3 PROVENANCE-4 of two machines with one name and a copied folder only the later one carries out orders, and the older one says why it stopped', async () => {
  const [older, later] = [w.machine(), w.machine()]
  const disk = memoryDisk()
  const one = await older.boot(disk)
  await w.recorded(one.bootId)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const two = await later.boot(await copyOf(disk))
  await w.recorded(two.bootId)
  await w.profile()
  await w.bind()
  await until(() => later.prepared().length === 1, 'the preparation')
  await until(() => one.notReady() !== null, 'the stop of the older one', 10_000)
  expect(older.prepared()).toEqual([])
  expect(two.notReady()).toBe(null)
  expect(w.log.said).toContainEqual(expect.objectContaining({ level: 'error', message: 'host.doubled' }))
  await Promise.all([one.stop(), two.stop()])
  await w.system.stop()
})

test('ENROLLMENT-1 a second machine with the name of a host and a key of its own changes nothing: the first one works on', async () => {
  const [first, second] = [w.machine(), w.machine()]
  const one = await first.boot(memoryDisk())
  await w.recorded(one.bootId)
  const two = await second.boot(memoryDisk())
  await until(() => w.system.plane.counts().refusedReports.foreign_key > 0, 'the refusal of the second machine')
  await w.profile()
  await w.bind()
  await until(() => first.prepared().length === 1, 'the preparation')
  await one.idle()
  expect([second.prepared(), one.notReady()]).toEqual([[], null])
  const listed = value(await w.control.hosts.list({}))
  expect(listed.items).toMatchObject([{ boot_id: one.bootId, public_key: one.publicKey }])
  await Promise.all([one.stop(), two.stop()])
  await w.system.stop()
})
