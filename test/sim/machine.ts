/** A compute node. The host program is started and killed; its hardware and its disk survive that. */
import type { HostStep, HostTrace } from '../../src/audit/evidence.ts'
import type { Ids } from '../../src/clock.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { type Effects, effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import { type SimulatedPlan, simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { noFaults, type InjectedFaults, injectedFaultsPath } from '../../src/drivers/simulated/injectedFaults.ts'
import { type Host, startHost } from '../../src/host/host.ts'
import { type Entry, handleKey } from '../../src/host/entry.ts'
import type { Log } from '../../src/log.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readReport } from '../../src/wire/message.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { type Fate, slowDisk } from './disk.ts'
import { GPU_DEVICES, gpuTree, openGpu } from './gpu.ts'
import { alteredLedger, deployablesIn } from './alteredLedger.ts'
import { type Blindness, openCards } from './cards.ts'
import { simCleaner } from './cleaner.ts'
import { IMAGES, imageFilesOf } from './images.ts'
import { hostKeyOf, verifierOf } from './forger.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Bite } from './lies.ts'
import type { Tap } from './tap.ts'

export type Machine = {
  readonly name: string
  /** How many it shows while none is unplugged. */
  readonly devices: number
  readonly up: () => boolean
  readonly start: () => void
  readonly crash: (fate: Fate) => void
  /** The next start reads its orders from the earliest that is kept. */
  readonly losePlace: () => void
  /** Changes what goes wrong with its hardware, now and after the next start. */
  readonly hurt: (change: (faults: InjectedFaults) => void) => void
  readonly refuseWrites: (count: number) => void
  /** How the discovery of its driver goes from now on. */
  readonly blind: (how: Blindness) => void
  readonly report: () => void
  readonly jump: (ms: number) => void
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
}

export type Alteration = 'lost' | 'stranger'
const DRIVER = 'simulated_driver'
const AGAIN_MS = 1000
const STATE_DIR = '/state'

type Attribution = {
  /** Whether the order is for another slot and covers this one too. */
  readonly covers?: (entry: Entry) => boolean
  /** The other slots of the deployable that the hardware holds prepared. */
  readonly besides?: (slot: string) => readonly string[]
  /** The image that the card holds; null: none. */
  readonly holds?: string | null
}

/** Records what the ledger on disk says about each slot, and what was done on the hardware. */
const openTrace = () => {
  /** Of these no order was ever given. */
  const strangers = new Set<string>()
  const steps: HostStep[] = []
  const noted = new Map<string, Entry>()
  const told = new Set<string>()
  const written = (text: string, whole: boolean): void => {
    if (whole) noted.clear()
    // the header of a new file is not an entry, and an incomplete line is ignored
    const lines = text.split('\n').slice(whole ? 1 : 0, -1)
    for (const entry of lines.map((line) => JSON.parse(line) as Entry)) {
      const key = `${entry.slot} ${entry.number} ${entry.state}`
      if (!told.has(key) && !strangers.has(entry.slot))
        steps.push({ did: 'noted', slot: entry.slot, number: entry.number, done: entry.state === 'done' })
      told.add(key)
      noted.set(entry.slot, entry)
    }
  }
  const sent = (batch: readonly BusRecord[]): void => {
    for (const record of batch) {
      const message = readReport(record)
      if (!message.ok || message.value.body.type !== 'OrderResult') continue
      steps.push({ did: 'reported', slot: message.value.body.slot, number: message.value.body.number })
    }
  }
  /** In this start. */
  const wasDone = (step: string, { slot, number }: Entry): boolean =>
    steps
      .slice(steps.findLastIndex(({ did }) => did === 'started'))
      .some((one) => one.did === step && 'slot' in one && one.slot === slot && one.number === number)
  /**
   * By which order: 0 when the ledger on disk knows of none that asks for it. A release also covers other slots of the
   * same hardware, whose orders have numbers of their own.
   */
  const did = (
    step: 'prepare' | 'release' | 'program',
    of: string,
    fits: (entry: Entry) => boolean,
    { covers = () => false, besides = () => [], holds }: Attribution = {},
  ): void => {
    const inHand = [...noted.values()].filter(({ state }) => state === 'in-hand')
    // of two that fit, the one for which it was not done yet
    const own = inHand.find((entry) => fits(entry) && !wasDone(step, entry)) ?? inHand.find(fits)
    const covering = own ?? inHand.find(covers)
    const slot = own?.slot ?? (covering ? `${of} with ${covering.slot}` : of)
    // a slot that is being prepared with the same image belongs to the same bind, and no guest has it yet (FENCE-5)
    const isMate = (one: Entry | undefined) =>
      covering?.image !== undefined &&
      one?.state === 'in-hand' &&
      one.type === 'PrepareSlot' &&
      one.image === covering.image
    const others = besides(slot).filter((other) => !isMate(noted.get(other)))
    const seen = holds === undefined ? {} : { holds }
    steps.push({
      did: step,
      slot,
      number: covering?.number ?? 0,
      ...(others.length > 0 && { beside: others }),
      ...seen,
    })
  }
  return { steps, strangers, written, sent, did, forget: () => noted.clear() }
}

const withoutSlot = (text: string | null, slot: string): string => {
  const { prepared, loaded } = readEffects(text)
  const { [slot]: _gone, ...others } = prepared
  return JSON.stringify({ prepared: others, loaded })
}

type Step = <Value>(work: () => Promise<Value>) => Promise<Value>
type Watch = {
  readonly trace: ReturnType<typeof openTrace>
  /** What the hardware holds now. */
  readonly effects: () => Effects
  readonly step: Step
  /** What the tool says is not listened to. */
  readonly isUnverified: boolean
}
const slotsWatched = <One extends Driver>(
  driver: One,
  { trace: { did }, step, effects }: Pick<Watch, 'trace' | 'step'> & Partial<Pick<Watch, 'effects'>>,
): One => ({
  ...driver,
  prepare: (io, slot, signal) => {
    const seen = effects ? { holds: effects().loaded[slot.deployable] ?? null } : {}
    did('prepare', slot.uuid, (entry) => entry.slot === slot.uuid && entry.type === 'PrepareSlot', seen)
    return step(() => driver.prepare(io, slot, signal))
  },
  release: (io, slot, signal) => {
    did('release', slot.uuid, (entry) => entry.slot === slot.uuid && entry.type === 'ReleaseSlot', {
      covers: (entry) =>
        entry.deployable === slot.deployable && entry.handle === handleKey(slot) && entry.type === 'ReleaseSlot',
    })
    return step(() => driver.release(io, slot, signal))
  },
})
const watched = (driver: SimulatedDriver, watch: Watch): SimulatedDriver => ({
  ...slotsWatched(driver, watch),
  program: (io, deployable, image, signal, functionId) => {
    const { trace, effects, step, isUnverified } = watch
    trace.did(
      'program',
      deployable,
      (entry) => entry.deployable === deployable && (entry.type === 'Program' || entry.type === 'PrepareSlot'),
      {
        besides: (own) =>
          Object.entries(effects().prepared).flatMap(([slot, held]) =>
            held.deployable === deployable && slot !== own ? [slot] : [],
          ),
      },
    )
    const done = step(() => driver.program(io, deployable, image, signal, functionId))
    return isUnverified ? done.catch(() => {}) : done
  },
})

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
  const { cleaned, cleanerOf } = simCleaner({ name, bite, driver: DRIVER, random: ports.random.fork('cleaning') })
  let life = schedule.life(name)
  let { skewMs } = ports
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

  const begin = async (mine: Life): Promise<void> => {
    const bus = ports.network().seenBy(mine)
    const writing = board.usedBy(mine)
    const io = gpu?.ioOf(mine, writing) ?? { ...tree, write: writing.replace, keep: writing.replace }
    const step: Step = (work) => ports.tap.pass(mine, 'driver', work)
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
        watched(cards.around(driver), {
          trace,
          effects: cards.effects,
          step,
          isUnverified: bite === 'programming unverified',
        }),
        ...(gpu ? [slotsWatched(gpu.driver(), { trace, step })] : []),
      ],
      io,
      disk: disk.usedBy(mine),
      clock: schedule.clockOf(mine, skewMs),
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
    devices: plan.devices.length + (gpu ? GPU_DEVICES : 0),
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
      const hasRestarted = ports.random.chance(bite === 'card not read' ? 0.8 : 0.3)
      cards.started(hasRestarted)
      if (hasRestarted) {
        gpu?.restart()
        say(`${name}: the machine has restarted`)
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
      set([one])
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
    jump: (ms) => void (skewMs += ms),
    trace: async () => {
      const { prepared, loaded } = cards.effects()
      const holds = [...Object.keys(prepared), ...(gpu?.held() ?? [])]
      return { name, steps: [...trace.steps], prepared: holds, loaded, cleaned: [...cleaned] }
    },
    close: () => begunHosts.forEach((host) => void host.stop('at once')),
  }
}
