/** A control and a host program together: the ledger of the host does not say what the journal holds. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { check } from '../../src/audit/check.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { type Host, startHost } from '../../src/host/host.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { memoryLog, until } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'
import { noCatalogue } from '../support/images.ts'

const LEDGER = '/state/ledger.jsonl'
const STRANGER = 'b0a79999-0000-4000-8000-00000000000b'
const WORD = { by: 'op', reason: 'nobody uses it' }
type Line = Record<string, unknown>

const open = async () => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock })
  const images = noCatalogue()
  const store = memoryStore()
  const system = await openSystem({ store, images, nova: null, log, bus })
  const { control } = system.plane
  const io = recordedHostIo({}, 'h1')
  const driver = simulatedDriver({ seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })
  const disk = memoryDisk()
  let host: Host | null = null
  const boot = async () => {
    host = await startHost({
      ...{ name: 'h1', stateDir: '/state', bus, drivers: [driver], io, disk },
      ...{ clock: systemClock, ids: systemIds, log, options: { heartbeatEveryMs: 50, reportEveryMs: 50 } },
    })
    await seen(async () => value(await control.hosts.list({})).items[0]?.boot_id === host!.bootId, 'the host')
  }
  const seen = async (holds: () => Promise<boolean>, what: string) => {
    let held = false
    const look = async () => void (held = await holds())
    const end = performance.now() + 8000
    while (!held) {
      if (performance.now() > end) throw new Error(`${what} did not happen`)
      await look()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  /**
   * The host stops; its ledger is another one when it starts again. The numbers in it are such that no order that comes
   * again heals it.
   */
  const restartedWith = async (change: (lines: readonly Line[]) => readonly Line[]) => {
    await host!.idle()
    await host!.stop()
    const [head, ...lines] = ((await disk.read(LEDGER)) ?? '').split('\n').filter(Boolean)
    const last = new Map(lines.map((text) => JSON.parse(text) as Line).map((line) => [line['slot'], line]))
    await disk.replace(
      LEDGER,
      `${[head, ...change([...last.values()]).map((line) => JSON.stringify(line))].join('\n')}\n`,
    )
    await boot()
  }
  const prepared = () => Object.keys(readEffects(io.kept()[effectsPath(io.stateDir, driver.name)] ?? null).prepared)
  const bind = async () => {
    const place = value(await control.deployables.list({}, {})).items[0]!
    const [made] = value(await control.arqs.create(NOVA, 'f'))
    const target = { arq: made!.uuid, hostname: 'h1', deviceRpUuid: place.rp_uuid!, instanceUuid: systemIds.uuid() }
    value(await control.arqs.bind(NOVA, [target]))
    const state = async () => value(await control.arqs.get(NOVA, made!.uuid)).state
    await seen(async () => (await state()) !== 'BindStarted', 'the end of the bind')
    return made!.uuid
  }
  const handles = async () => value(await control.handles.list(NOVA, {}, {})).items
  const stop = async () => {
    await host?.stop()
    await system.stop()
    expect(check({ journal: await store.journal.feed('', 10_000), now: Date.now() })).toEqual([])
  }
  await boot()
  value(await control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  return { control, log, bind, handles, prepared, restartedWith, seen, stop, plane: system.plane }
}
let w: Awaited<ReturnType<typeof open>>
beforeEach(async () => {
  w = await open()
})
afterEach(() => w.stop())
const said = (message: string) => w.log.said.filter((line) => line.message === message).map(({ detail }) => detail)
const stateOf = async (uuid: string) => (await w.handles()).find((one) => one.uuid === uuid)!.state

test('COMPARE-2 a slot that the host has lost is prepared again for the request that holds it', async () => {
  const arq = await w.bind()
  await w.restartedWith((lines) => lines.map((line) => ({ ...line, prepared: false })))
  await until(() => said('slot.preparedAgain').length === 1, 'the difference')
  const { arq_uuid: holder, uuid } = (await w.handles()).find(({ state }) => state === 'held')!
  expect(holder).toBe(arq)
  await w.seen(async () => value(await w.control.handles.get(NOVA, uuid)).order === null, 'the answer')
  expect(value(await w.control.arqs.get(NOVA, arq)).state).toBe('Bound')
  expect(w.plane.counts().slotDifferences).toEqual({ unexplained: 0, lost: 1, in_use: 0 })
  value(await w.control.arqs.unbind(NOVA, [arq]))
  await until(() => w.prepared().length === 0, 'the release')
  expect(said('slot.preparedAgain')).toHaveLength(1)
})

test('COMPARE-2 SLOT-3 what the ledger has prepared and the journal holds free is withheld; when an operator releases it, the host undoes it first', async () => {
  const arq = await w.bind()
  const [slot] = w.prepared()
  value(await w.control.arqs.unbind(NOVA, [arq]))
  await w.seen(async () => (await stateOf(slot!)) === 'free', 'the release')
  await w.restartedWith((lines) => lines.map((line) => ({ ...line, type: 'PrepareSlot', prepared: true, number: 70 })))
  await w.seen(async () => (await stateOf(slot!)) === 'quarantined', 'the quarantine')
  const { quarantine } = value(await w.control.handles.get(NOVA, slot!))
  expect(quarantine?.reason).toContain('the journal holds it free')
  // only the other handle is left
  expect((await w.bind()) !== '' && (await w.handles()).map(({ state }) => state).toSorted()).toEqual([
    'held',
    'quarantined',
  ])
  value(await w.control.handles.release(NOVA, slot!, WORD))
  await w.seen(async () => (await stateOf(slot!)) === 'free', 'the undoing')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await stateOf(slot!)).toBe('free')
  expect(w.plane.counts().slotDifferences).toEqual({ unexplained: 1, lost: 0, in_use: 0 })
})

test('COMPARE-2 FENCE-4 a slot that nobody knows keeps its hardware from everybody until an operator releases it', async () => {
  const arq = await w.bind()
  const [slot] = w.prepared()
  value(await w.control.arqs.unbind(NOVA, [arq]))
  await w.seen(async () => (await stateOf(slot!)) === 'free', 'the release')
  await w.restartedWith((lines) =>
    lines.map((line) => ({ ...line, type: 'PrepareSlot', slot: STRANGER, prepared: true, number: 77 })),
  )
  await w.seen(async () => (await stateOf(slot!)) === 'quarantined', 'the quarantine')
  value(await w.control.handles.release(NOVA, slot!, WORD))
  await w.seen(async () => (await stateOf(slot!)) === 'free', 'the undoing')
  const others = [await w.bind(), await w.bind()]
  for (const one of others) expect(value(await w.control.arqs.get(NOVA, one)).state).toBe('Bound')
  expect(w.prepared()).toHaveLength(2)
})

test('COMPARE-1 binds and unbinds beside fast reports differ from nothing', async () => {
  for (let round = 0; round < 20; round++) {
    const arqs = await Promise.all([w.bind(), w.bind()])
    value(await w.control.arqs.unbind(NOVA, arqs))
    await until(() => w.prepared().length === 0, 'the release')
    await w.seen(async () => (await w.handles()).every(({ state }) => state === 'free'), 'free handles')
  }
  expect(w.plane.counts().slotDifferences).toEqual({ unexplained: 0, lost: 0, in_use: 0 })
})
