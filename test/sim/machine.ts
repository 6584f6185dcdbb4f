/** A compute node. The host program is started and killed; its hardware and its disk survive that. */
import type { HostTrace } from '../../src/audit/evidence.ts'
import type { Ids } from '../../src/vocabulary/clock.ts'
import { type Effects, effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import { type SimulatedPlan, simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { noFaults, type InjectedFaults, injectedFaultsPath } from '../../src/drivers/simulated/injectedFaults.ts'
import { type Host, startHost } from '../../src/host/host.ts'
import { type Entry, handleKey, lastHandleOf } from '../../src/host/entry.ts'
import type { Log } from '../../src/vocabulary/log.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { type Fate, slowDisk } from './disk.ts'
import { GPU_DEVICES, gpuTree, openGpu } from './gpu.ts'
import { alteredLedger, deployablesIn } from './alteredLedger.ts'
import { type Inside, type Step, openTrace, slotsWatched, watched } from './trace.ts'
import { type MovingCards, movingCards } from '../support/movingCards.ts'
import { type Blindness, openCards } from './cards.ts'
import { SILICON, shuffled, silicon, whole } from './moving.ts'
import { type Wall, openWall } from './clocks.ts'
import { simCleaner } from './cleaner.ts'
import { IMAGES, imageFilesOf } from './images.ts'
import { hostKeyOf, verifierOf } from './forger.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import { type Bite, needsRestarts } from './lies.ts'
import type { Tap } from './tap.ts'

export type Machine = {
  readonly name: string
  /** How many it shows while no fault hides one. */
  readonly devices: () => number
  readonly up: () => boolean
  readonly start: () => void
  readonly crash: (fate: Fate) => void
  /** The next start reads its orders from the earliest that is kept. */
  readonly losePlace: () => void
  /** Changes what goes wrong with its hardware, now and after the next start. */
  readonly hurt: (change: (faults: InjectedFaults) => void) => void
  readonly refuseWrites: (count: number) => void
  /** Its cards, which may change their places; null: it was never started. */
  readonly moving: () => MovingCards | null
  readonly effects: () => Effects
  /** All its cards are plugged in and answer. */
  readonly mend: () => void
  /** How the discovery of its driver goes from now on. */
  readonly blind: (how: Blindness) => void
  readonly report: () => void
  readonly wall: Wall
  /**
   * While it is down: its ledger no longer has a slot that is prepared (`lost`), or has one that no control knows, with
   * the hardware of another one (`stranger`).
   */
  readonly alter: (how: Alteration) => void
  /** Something else uses a deployable that had an order, until `free` is called. */
  readonly occupy: () => { readonly free: () => void } | null
  /** The slots whose hardware that was, and the names of deployables that were occupied. */
  readonly altered: ReadonlySet<string>
  readonly trace: () => Promise<HostTrace>
  /**
   * After the simulation: nact keeps the actors of a host program, and all that they know, until the program is
   * stopped.
   */
  readonly close: () => void
}
type Ports = {
  readonly name: string
  readonly plan: SimulatedPlan
  /** Whether it has GPUs too, one of them divided into mediated devices. */
  readonly hasGpus: boolean
  readonly schedule: Schedule
  readonly random: Random
  readonly ids: Ids
  readonly skewMs: number
  readonly tap: Tap
  readonly network: () => Network
  readonly bite: Bite | null
  readonly log: Log
  readonly say: (line: string) => void
  readonly complain: (line: string, rule: string) => void
}

export type Alteration = 'lost' | 'stranger'
const DRIVER = 'simulated_driver'
const AGAIN_MS = 1000
const STATE_DIR = '/state'

const withoutSlot = (text: string | null, slot: string): string => {
  const { prepared, loaded } = readEffects(text)
  const { [slot]: _gone, ...others } = prepared
  return JSON.stringify({ prepared: others, loaded })
}

export const openMachine = (ports: Ports): Machine => {
  const { name, plan, schedule, ids, log, say, bite } = ports
  const trace = openTrace()
  const faults = noFaults()
  const images = Object.fromEntries(IMAGES.map((image) => [image, 'bits']))
  const tree = recordedHostIo({ images, ...(ports.hasGpus ? { sys: gpuTree() } : {}) }, name, STATE_DIR)
  const gpu = ports.hasGpus ? openGpu(tree, bite !== 'vGPUs not made again') : null
  const ledger = `${STATE_DIR}/ledger.jsonl`
  const effects = effectsPath(STATE_DIR, DRIVER)
  const altered = new Set<string>()
  const cards = openCards({
    read: () => tree.kept()[effects] ?? null,
    write: (text) => void tree.write(effects, text),
    random: ports.random.fork('cards'),
    bite,
    say: (line) => say(`${name}: ${line}`),
  })
  // there from the start: each miss would cost an error with its trace
  for (const path of [injectedFaultsPath(tree), effects]) void tree.write(path, '{}')
  const { cleaned, cleanerOf } = simCleaner({
    ...{ name, bite, driver: DRIVER, random: ports.random.fork('cleaning') },
    say: (line) => say(`${name}: ${line}`),
  })
  let life = schedule.life(name)
  const wall = openWall(ports.skewMs)
  let running: Host | null = null
  const begunHosts: Host[] = []
  life.alive = false
  const disk = slowDisk({
    schedule,
    tap: ports.tap,
    random: ports.random,
    written: (path, text, whole) => (path === ledger ? trace.written(text, whole) : undefined),
  })
  /** The file in which the driver keeps the state of the hardware. */
  const board = slowDisk({
    schedule,
    tap: ports.tap,
    random: ports.random,
    written: (path, text) => void tree.write(path, text),
  })
  const made = (mine: Life): SimulatedDriver => simulatedDriver({ ...plan, faults, clock: schedule.clockOf(mine) })
  let driver = made(life)
  let starts = 0
  let moving: MovingCards | null = null
  const [places, complain] = [
    ports.random.fork('places'),
    (line: string) => ports.complain(`${name}: ${line}`, SILICON),
  ]
  const inside: Inside = (entry) => {
    const handle = lastHandleOf(entry as Entry)
    if (moving === null) return entry
    if (handle === null) return { ...entry, deployable: moving.inside(entry.deployable) }
    const at = moving.slotInside({ deployable: entry.deployable, info: handle.info })
    return { deployable: at.deployable, handle: handleKey({ ...handle, info: at.info }) }
  }

  const begin = async (mine: Life): Promise<void> => {
    const bus = ports.network().seenBy(mine)
    const writing = board.usedBy(mine)
    const io = gpu?.ioOf(mine, writing) ?? { ...tree, write: writing.replace, keep: writing.replace }
    const step: Step = (work) => ports.tap.pass(mine, 'driver', work)
    moving ??= movingCards(await simulatedDriver(plan).discover(tree), bite === 'cards by address')
    const around = silicon(cards.around(driver), cards.effects, complain)
    const isUnverified = bite === 'programming unverified'
    const host = await startHost({
      name,
      stateDir: STATE_DIR,
      bus: {
        ...bus,
        publish: (batch) => {
          trace.sent(batch)
          return bus.publish(batch)
        },
      },
      drivers: [
        moving.around(watched(around, { trace, effects: cards.effects, step, inside, isUnverified })),
        ...(gpu ? [slotsWatched(gpu.driver(), { trace, step })] : []),
      ],
      io,
      disk: disk.usedBy(mine),
      clock: schedule.clockOf(mine, wall.wrongMs),
      ids,
      log,
      ...cleanerOf(schedule.clockOf(mine)),
      newKey: () => hostKeyOf(name),
      verify: verifierOf(bite, hostKeyOf(name)),
      options: {
        heartbeatEveryMs: 10_000,
        measureEveryMs: 10_000,
        aliases: [`${name}.example.org`],
        images: imageFilesOf(),
      },
    })
    begunHosts.push(host)
    if (mine.alive) running = host
  }
  /** As whatever supervises the program does: it is started again until it runs. */
  const begun = (mine: Life): Promise<void> =>
    begin(mine).catch((error: unknown) => {
      say(`${name}: does not start: ${String(error)}`)
      schedule.clockOf(mine).after(AGAIN_MS, () => void begun(mine))
    })
  return {
    name,
    devices: () => (moving?.places.filter((place) => place !== null) ?? plan.devices).length + (gpu ? GPU_DEVICES : 0),
    moving: () => moving,
    effects: cards.effects,
    mend: () => {
      cards.blind(null)
      moving?.plug(whole(moving.places))
    },
    up: () => life.alive,
    hurt: (change) => [faults, driver.control.faults].forEach(change),
    start: () => {
      if (life.alive) return
      life = schedule.life(name)
      driver = made(life)
      if (bite === 'numbers forgotten') {
        disk.files.delete(ledger)
        trace.forget()
      }
      const mine = life
      const hasRestarted = ports.random.chance(needsRestarts(bite) ? 0.8 : 0.3)
      cards.started(hasRestarted)
      if (hasRestarted) {
        gpu?.restart()
        if (moving && places.chance(0.7)) moving.plug(shuffled(moving.places, places))
        say(`${name}: the machine has restarted, its cards are at ${moving?.places.join(' ') ?? 'their places'}`)
      }
      say(`${name}: starts`)
      trace.steps.push({ did: 'started', boot: `${name}/${++starts}` })
      schedule.soon(mine, () => void begun(mine))
    },
    crash: (fate) => {
      if (!life.alive) return
      say(`${name}: dies, its last write is ${fate}`)
      disk.crash(fate)
      board.crash(fate)
      cards.died()
      running = null
      schedule.end(life)
    },
    altered,
    blind: cards.blind,
    occupy: () => {
      const names = deployablesIn(disk.files.get(ledger) ?? '')
      if (names.length === 0) return null
      const one = ports.random.pick(names)
      altered.add(one)
      say(`${name}: something else uses ${one}`)
      if (gpu?.isOf(one)) return gpu.occupy(ids.uuid())
      const set = (inUse: readonly string[]): void =>
        [faults, driver.control.faults].forEach((each) => void (each.inUse = inUse))
      set([moving?.inside(one) ?? one])
      return { free: () => set([]) }
    },
    alter: (how) => {
      const text = disk.files.get(ledger)
      const changed = life.alive || !text ? null : alteredLedger(text, how, ports.random, ids.uuid())
      if (!changed) return
      disk.files.set(ledger, changed.text)
      altered.add(changed.of)
      if (how === 'stranger') trace.strangers.add(changed.slot)
      // what the ledger does not say is not prepared either
      if (how === 'lost') {
        void tree.write(effects, withoutSlot(tree.kept()[effects] ?? null, changed.slot))
        gpu?.forget(changed.slot)
      }
      say(`${name}: its ledger is altered: ${how} ${changed.slot}, the hardware of ${changed.of}`)
    },
    losePlace: () => void disk.files.delete(`${STATE_DIR}/place.json`),
    refuseWrites: (count) => void (disk.refusals = count),
    report: () => void (running && life.alive && schedule.soon(life, () => void running?.reportNow())),
    wall,
    trace: async () => {
      const { prepared, loaded } = cards.effects()
      const outside = Object.entries(loaded).flatMap(([card, image]) => {
        const at = moving === null ? card : moving.outside(card)
        return at === null ? [] : [[at, image] as const]
      })
      const holds = [...Object.keys(prepared), ...(gpu?.held() ?? [])]
      return {
        name,
        steps: [...trace.steps],
        prepared: holds,
        loaded: Object.fromEntries(outside),
        cleaned: [...cleaned],
      }
    },
    close: () => begunHosts.forEach((host) => void host.stop('at once')),
  }
}
