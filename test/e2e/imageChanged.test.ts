/** A control and a host program together: what a card holds changes without them (W21, S14). */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { check } from '../../src/audit/check.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { intelFpgaDriver } from '../../src/drivers/fpga/intelFpga.ts'
import { lookupIn } from '../../src/drivers/cards/knownCards.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { type Host, startHost } from '../../src/host/host.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { type Programs, type RecordedHost, type Tree, recordedHostIo } from '../drivers/recordedHostIo.ts'
import { INTEL, dflTree, gbs } from '../drivers/trees.ts'
import { catalogueOf, filesOf } from '../support/images.ts'
import { memoryLog } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const id = (end: string): string => `4a3bd0ae-0000-4000-8000-00000000${end}`
const [IMAGE, OTHER, DIVIDING] = [id('0001'), id('0002'), id('0003')]
const functions = [1, 2].map((n) => ({ name: `vf${n}`, pci_offset: String(n) }))
const topology = JSON.stringify({ pf_num: 1, vf_num: 2, pf: [{ name: 'pf', pci_offset: '0', vf: functions }] })
const says = (image: string): Readonly<Record<string, string>> => (image === DIVIDING ? { topology } : {})
const never = new AbortController().signal
const [SOON_MS, LATER_MS] = [50, 3_600_000]

type Machine = { readonly io: RecordedHost; readonly make: () => Driver }
const simulated = (): Machine => {
  const images = Object.fromEntries([IMAGE, OTHER, DIVIDING].map((image) => [image, 'bits']))
  const make = () => simulatedDriver({ seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })
  return { io: recordedHostIo({ images }, 'h1'), make }
}

let end: () => Promise<void> = async () => {}
afterEach(() => end())

const open = async ({ io, make }: Machine, reportEveryMs: number) => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock })
  const store = memoryStore()
  const system = await openSystem({ store, images: catalogueOf(() => true, says), nova: null, log, bus })
  const { control } = system.plane
  const disk = memoryDisk()
  const images = filesOf(() => true, says)
  let [driver, host] = [make(), null as Host | null]
  const seen = async (holds: () => Promise<boolean>, what: string) => {
    const until = performance.now() + 8000
    while (!(await holds())) {
      if (performance.now() > until) throw new Error(`${what} did not happen`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const boot = async () => {
    driver = make()
    host = await startHost({
      ...{ name: 'h1', stateDir: '/state', bus, drivers: [driver], io, disk, clock: systemClock, ids: systemIds, log },
      options: { heartbeatEveryMs: 50, reportEveryMs, images },
    })
    await seen(async () => value(await control.hosts.list({})).items[0]?.boot_id === host!.bootId, 'the host')
  }
  const root = async () =>
    value(await control.deployables.list({}, {})).items.find(({ parent_uuid: up }) => up === null)!
  const image = async () => (await root()).bitstream_id
  const profile = async (name: string, group: object) =>
    value(
      await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:FPGA': '1', ...group }] }),
    )
  /** The bind is accepted, and ends. */
  const bind = async (name: string) => {
    const [made] = value(await control.arqs.create(NOVA, name))
    const { rp_uuid: deviceRpUuid } = await root()
    const target = { arq: made!.uuid, hostname: 'h1', deviceRpUuid: deviceRpUuid!, instanceUuid: randomUUID() }
    const accepted = await control.arqs.bind(NOVA, [target])
    const row = async () => value(await control.arqs.get(NOVA, made!.uuid))
    if (accepted.ok) await seen(async () => (await row()).state !== 'BindStarted', 'the end of the bind')
    return { accepted, ...(await row()) }
  }
  const leave = async (uuid: string) => {
    value(await control.arqs.remove(NOVA, [uuid]))
    const none = async () =>
      value(await control.handles.list(NOVA, {}, {})).items.every(
        ({ state }) => state === 'free' || state === 'missing',
      )
    await seen(none, 'the release')
  }
  /** The machine has restarted with this in its cards. */
  const restart = async (change: () => void) => {
    await host!.idle()
    await host!.stop()
    change()
    await boot()
  }
  end = async () => {
    await host?.stop()
    await system.stop()
    expect(check({ journal: await store.journal.feed('', 10_000), now: Date.now() })).toEqual([])
  }
  await boot()
  await profile('plain', {})
  await profile('image', { 'accel:bitstream_id': IMAGE })
  await profile('part', { 'accel:bitstream_id': DIVIDING })
  const nameOf = async () => (await root()).name
  /** Somebody loads it without this program. */
  const loadedByOthers = async (other: string) => driver.program!(io, await nameOf(), `/images/${other}`, never)
  return {
    control,
    log,
    io,
    image,
    bind,
    leave,
    restart,
    seen,
    root,
    nameOf,
    loadedByOthers,
    report: () => host!.reportNow(),
  }
}
const loadedIn = (io: RecordedHost) => readEffects(io.kept()[effectsPath('/state', 'simulated_driver')] ?? null).loaded
/** Each card has the image of its flash memory, and what was loaded into it is gone. */
const asFromFlash = (io: RecordedHost) => (): void => {
  const path = effectsPath('/state', 'simulated_driver')
  void io.write(path, JSON.stringify({ prepared: readEffects(io.kept()[path] ?? null).prepared, loaded: {} }))
}

test('a request gets its image although the card has lost it since, before any report says so', async () => {
  const w = await open(simulated(), LATER_MS)
  await w.leave((await w.bind('image')).uuid)
  await w.loadedByOthers(OTHER)
  expect(await w.image()).toBe(IMAGE)
  expect(await w.bind('image')).toMatchObject({ state: 'Bound' })
  expect(loadedIn(w.io)).toEqual({ [await w.nameOf()]: IMAGE })
})

test('while another request uses the card, the bind fails and says why; what the card holds is recorded then', async () => {
  const w = await open(simulated(), LATER_MS)
  const first = await w.bind('image')
  await w.loadedByOthers(OTHER)
  const second = await w.bind('image')
  const reason = `image_changed: ${await w.nameOf()} holds ${OTHER}, not image ${IMAGE}`
  expect([second.state, second.reason]).toEqual(['BindFailed', reason])
  await w.seen(async () => (await w.image()) === OTHER, 'the correction')
  expect((await w.bind('image')).accepted).toMatchObject({ fault: { kind: 'conflict' } })
  await w.leave(first.uuid)
  expect(await w.bind('image')).toMatchObject({ state: 'Bound' })
  expect(loadedIn(w.io)).toEqual({ [await w.nameOf()]: IMAGE })
})

test('W21 after a restart of the machine nothing is recorded of what was loaded, and a request has it loaded again', async () => {
  const w = await open(simulated(), SOON_MS)
  await w.leave((await w.bind('image')).uuid)
  await w.restart(asFromFlash(w.io))
  await w.seen(async () => (await w.image()) === null, 'the correction')
  expect(await w.bind('image')).toMatchObject({ state: 'Bound' })
  expect(loadedIn(w.io)).toEqual({ [await w.nameOf()]: IMAGE })
})

test('a card that is not divided any more after a restart gives no parts', async () => {
  const w = await open(simulated(), SOON_MS)
  value(await w.control.deployables.program(NOVA, (await w.root()).uuid, DIVIDING))
  const parts = async () =>
    value(await w.control.deployables.list({}, {})).items.filter(({ parent_uuid: up }) => up !== null)
  await w.seen(async () => (await parts()).filter(({ presence }) => presence === 'present').length === 3, 'the parts')
  const part = await w.bind('part')
  expect(part.state).toBe('Bound')
  await w.leave(part.uuid)
  await w.restart(asFromFlash(w.io))
  await w.seen(async () => (await w.image()) === null && (await parts()).length === 0, 'the correction')
  const refused = await w.bind('part')
  expect(refused.accepted.ok && refused.state).not.toBe('Bound')
  expect(loadedIn(w.io)).toEqual({})
  expect(await w.bind('plain')).toMatchObject({ state: 'Bound' })
})

test('a part that is given before any report says that its card is not divided any more is not prepared', async () => {
  const w = await open(simulated(), LATER_MS)
  value(await w.control.deployables.program(NOVA, (await w.root()).uuid, DIVIDING))
  await w.report()
  await w.seen(async () => value(await w.control.deployables.list({}, {})).items.length === 4, 'the parts')
  await w.loadedByOthers(OTHER)
  const part = await w.bind('part')
  expect([part.state, part.reason]).toEqual(['BindFailed', expect.stringContaining('image_changed')])
})

test('a card of Intel whose function was replaced by hand gets its image back; after a restart it is not said to hold what nobody has seen', async () => {
  const [wanted, byHand] = ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100']
  const port = (root: Tree) =>
    ['sys', 'devices', 'pci0000:b1', '0000:b1:00.0', 'fpga_region', 'region0', 'dfl-port.0'].reduce(
      (folder, name) => folder[name] as Tree,
      root,
    )
  const fpgaconf: Programs[string] = (args, root) => {
    const image = String(args.at(-1))
    port(root)['afu_id'] = `${image.endsWith(IMAGE) ? wanted : byHand}\n`
    return ''
  }
  const io = recordedHostIo(
    {
      sys: dflTree(),
      images: { [IMAGE]: gbs(INTEL.region, [wanted]), [OTHER]: gbs(INTEL.region, [byHand]) },
      proc: { sys: { kernel: { random: { boot_id: 'first\n' } } } },
    },
    'h1',
    '/state',
    { '/usr/bin/fpgaconf': fpgaconf },
  )
  const card = (): Tree => io.tree('/sys/bus/pci/devices/0000:b1:00.0')
  const region = () => (card()['fpga_region'] as Tree)['region0'] as Tree
  const w = await open({ io, make: () => intelFpgaDriver({ sysfsRoot: '/sys', known: lookupIn() }) }, LATER_MS)
  const first = await w.bind('image')
  expect([first.state, await w.image()]).toEqual(['Bound', IMAGE])
  await w.leave(first.uuid)
  // as `fpgaconf` does it when an operator calls it
  const function_ = region()['dfl-port.0'] as Tree
  function_['afu_id'] = `${byHand}\n`
  expect(await w.bind('image')).toMatchObject({ state: 'Bound' })
  expect(function_['afu_id']).toBe(`${wanted}\n`)
  await w.restart(() => {
    io.tree('/proc/sys/kernel/random')['boot_id'] = 'second\n'
    function_['afu_id'] = `${INTEL.function}\n`
  })
  await w.seen(async () => (await w.image()) === null, 'the correction')
})
