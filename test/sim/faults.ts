/** The faults, injected one at a time while clients work. Each ends by itself or at the end of the load. */
import { reportRecord } from '../../src/wire/message.ts'
import { clockJumps, clocksSet } from './clocks.ts'
import { cardsUnseen } from './cardFaults.ts'
import type { Process } from './control.ts'
import { DATABASE_FAULTS, comesBackWithLess } from './databaseFaults.ts'
import { forges } from './forger.ts'
import { lies } from './liar.ts'
import { MOMENTS } from './snare.ts'
import { type Fault, type Stage, later, mayStop, pause } from './stage.ts'
import { UNRECORDABLE } from './store.ts'

const FATES = ['kept', 'lost', 'torn'] as const

/** Actors in use are killed in the middle of what they do, some of them several times. */
const actors: Fault = (stage) => {
  const { random, processes, say } = stage
  const wanted = random.pick([/^(arq|deployable|instance)\//, /^deployable\//, /^(arq|instance)\//, /./])
  const strike = (left: number): void => {
    const process = random.pick(processes)
    const keys = process.residents().filter((key) => wanted.test(key))
    if (keys.length > 0) {
      const key = random.chance(0.7) ? keys.at(-1 - random.below(Math.min(keys.length, 6)))! : random.pick(keys)
      if (process.killActor(key)) say(`fault: actor ${key} of ${process.name} is killed`)
    }
    if (left > 1) later(stage, random.below(random.chance(0.5) ? 3 : 400), () => strike(left - 1))
  }
  strike(random.between(4, 25))
}
const unrest: Fault = (stage) => {
  const { network, random, say } = stage
  const [mine, ms] = [network(), random.between(5000, 60_000)]
  mine.unrest = random.unit()
  say(`fault: the bus is unruly (${mine.unrest.toFixed(2)}) for ${ms} ms`)
  later(stage, ms, () => (mine.unrest = 0))
}
const lostBefore: Fault = ({ store, random, say }) => {
  store.faults.failBefore += random.between(1, 6)
  say(`fault: the next ${store.faults.failBefore} appends are lost`)
}
const lostAfter: Fault = ({ store, random, say }) => {
  store.faults.failAfter += random.between(1, 6)
  say(`fault: the writers of the next ${store.faults.failAfter} appends are not told`)
}
const unreadable: Fault = ({ store, random, say }) => {
  store.faults.failReads += random.between(1, 12)
  say(`fault: the next ${store.faults.failReads} reads fail`)
}
const slow: Fault = (stage) => {
  const { store, random, say } = stage
  const ms = random.between(2000, 20_000)
  store.faults.slowMs = random.pick([50, 400, 3000])
  pause(stage, ms + store.faults.slowMs * 4)
  say(`fault: the store is slow (${store.faults.slowMs} ms) for ${ms} ms`)
  later(stage, ms, () => (store.faults.slowMs = 0))
}
const hostDies: Fault = (stage) => {
  const { machines, random } = stage
  const machine = random.pick(machines)
  machine.crash(random.pick(FATES))
  if (random.chance(0.25)) machine.losePlace()
  later(stage, random.below(random.chance(0.7) ? 3000 : 180_000), machine.start)
}
/** Its folder is an old copy, or somebody else has given it orders. */
const ledgerAltered: Fault = (stage) => {
  const { machines, random } = stage
  const machine = random.pick(machines)
  machine.crash('kept')
  machine.alter(random.chance(0.6) ? 'lost' : 'stranger')
  later(stage, random.below(3000), machine.start)
}
/** A program on the compute node, or Nova by itself, uses what is offered here. */
const usedByOthers: Fault = (stage) => {
  const { machines, random } = stage
  const used = random.pick(machines).occupy()
  if (used) later(stage, random.between(30_000, 400_000), used.free)
}
const controlDies: Fault = (stage) => {
  if (!mayStop(stage)) return
  const { processes, random } = stage
  const process = random.pick(processes)
  const down = random.below(random.chance(0.8) ? 2000 : 30_000)
  process.kill()
  pause(stage, down + 5000)
  later(stage, down, process.start)
}
/**
 * Longer than a broker waits for a member, and it gives the member's partitions to others; it joins anew when it is
 * back.
 */
const SESSION_MS = 6000
/** Pauses the whole process, which later continues with its state unchanged. */
const stands = (stage: Stage, { name }: Pick<Process, 'name'>, resume: () => void): void => {
  const { random, say, network } = stage
  const ms = random.between(1000, 30_000)
  say(`fault: ${name} stands still for ${ms} ms`)
  // the other processes take over its work
  if (stage.processes.length === 1) pause(stage, ms)
  if (ms > SESSION_MS) later(stage, SESSION_MS, () => network().rebalance())
  later(stage, ms, () => {
    resume()
    say(`${name} goes on`)
    // others may have made it lose its place meanwhile, however short it was
    network().rebalance()
  })
}
const controlPauses: Fault = (stage) => {
  if (!mayStop(stage)) return
  const process = stage.random.pick(stage.processes)
  process.hold()
  stands(stage, process, process.resume)
}
/** Pauses a relay before a publish, before it learns the result of a publish, or before it saves its checkpoint. */
const controlCaught: Fault = (stage) => {
  if (!mayStop(stage)) return
  const { random, snare, schedule, say } = stage
  const at = random.pick(MOMENTS)
  say(`fault: the next process at ${at} is to stand still`)
  snare.set(at, (life) => stands(stage, life, () => schedule.resume(life)))
}
const rebalances: Fault = (stage) => {
  const { random, say, network } = stage
  const times = random.between(1, 6)
  say(`fault: the members of the group join anew, ${times} times`)
  for (let left = times; left > 0; left--) later(stage, random.below(8000), () => network().rebalance())
}
const brokerAway: Fault = (stage) => {
  const { random, say, network, schedule } = stage
  const [mine, ms] = [network(), random.between(500, 12_000)]
  say(`fault: the broker is away for ${ms} ms`)
  schedule.hold(mine.life)
  later(stage, ms, () => {
    schedule.resume(mine.life)
    if (ms > SESSION_MS) mine.rebalance()
  })
}
const brokerLies: Fault = (stage) => {
  const { random, say, network } = stage
  const [mine, ms] = [network(), random.between(3000, 40_000)]
  mine.mischief = random.unit()
  say(`fault: the broker lies (${mine.mischief.toFixed(2)}) for ${ms} ms`)
  later(stage, ms, () => (mine.mischief = 0))
}
const storeAway: Fault = (stage) => {
  if (!mayStop(stage)) return
  const { random, say, store, schedule } = stage
  const ms = random.between(500, 10_000)
  say(`fault: the store is away for ${ms} ms`)
  const life = store.server.life()
  schedule.hold(life)
  pause(stage, ms + 8000)
  later(stage, ms, () => schedule.resume(life))
}
/** As one process that holds all of them, or a power cut: what is not on a disk is gone. */
const allDies: Fault = (stage) => {
  if (!mayStop(stage)) return
  const { processes, machines, random, say, loseBus } = stage
  const down = random.below(5000)
  say('fault: everything dies')
  for (const process of processes) process.kill()
  for (const machine of machines) machine.crash(random.pick(FATES))
  loseBus()
  pause(stage, down + 5000)
  later(stage, down, () => [...processes, ...machines].forEach(({ start }) => start()))
}
const novaMoody: Fault = (stage) => {
  const { nova, random, say } = stage
  const ms = random.between(5000, random.chance(0.2) ? 400_000 : 60_000)
  nova.mood = random.pick(['failing', 'picky', 'deaf', 'slow', 'hung'] as const)
  say(`fault: nova is ${nova.mood} for ${ms} ms`)
  later(stage, ms, () => (nova.mood = 'well'))
}
/** A neighbour that this cloud may not have fares badly for a while. */
const moody =
  (name: 'placement' | 'keystone', longestMs: number): Fault =>
  (stage) => {
    const { random, say, [name]: neighbour } = stage
    if (neighbour === null) return
    const ms = random.between(5000, longestMs)
    neighbour.mood = random.pick(['away', 'deaf', 'slow', 'torn'] as const)
    say(`fault: ${name} is ${neighbour.mood} for ${ms} ms`)
    later(stage, ms, () => (neighbour.mood = 'well'))
  }
/** Operators and Nova change what is ours in Placement. */
const placementMeddled: Fault = (stage) => {
  const { placement, random } = stage
  for (let left = placement ? random.between(1, 6) : 0; left > 0; left--)
    later(stage, random.below(20_000), () => placement?.meddle())
}
/** Tokens of clients and of this service end before their time. */
const tokensRevoked: Fault = (stage) => {
  const { keystone, random } = stage
  for (let left = keystone ? random.between(1, 8) : 0; left > 0; left--)
    later(stage, random.below(30_000), () => keystone?.revoke())
}
/**
 * No host is heard of for so long that all of them are recorded as silent at once. No deadline waits for that: there is
 * no pause.
 */
const fleetSilent: Fault = (stage) => {
  const { machines, random, say } = stage
  const ms = random.between(35_000, 90_000)
  say(`fault: every host is silent for ${ms} ms`)
  for (const machine of machines) machine.crash('kept')
  later(stage, ms, () => machines.forEach(({ start }) => start()))
}
const devicesFail: Fault = (stage) => {
  const { machines, random, say } = stage
  const [some, ms] = [random.chance(0.5) ? machines : [random.pick(machines)], random.between(5000, 90_000)]
  const kind = random.pick(['failPrepare', 'failRelease', 'failProgram', 'delayMs'] as const)
  const count = kind === 'delayMs' ? random.pick([50, 1000, 20_000, 150_000]) : random.between(1, 15)
  for (const machine of some) machine.hurt((faults) => void (faults[kind] = count))
  say(`fault: ${some.map(({ name }) => name).join(', ')}: ${kind} is ${count} for ${ms} ms`)
  later(stage, ms, () => some.forEach((machine) => machine.hurt((faults) => void (faults[kind] = 0))))
}
/** A programming that a client waits for fails on whichever host does it. */
const programsFail: Fault = ({ machines, random, say }) => {
  const count = random.between(1, 4)
  for (const machine of machines) machine.hurt((faults) => void (faults.failProgram = count))
  say(`fault: the next ${count} programmings of each host fail`)
}
const diskRefuses: Fault = ({ machines, random, say }) => {
  const [machine, count] = [random.pick(machines), random.between(1, 8)]
  machine.refuseWrites(count)
  say(`fault: the disk of ${machine.name} refuses the next ${count} writes`)
}
const unplugged: Fault = (stage) => {
  const { machines, random, say } = stage
  const [machine, device, ms] = [random.pick(machines), random.below(2), random.between(1000, 200_000)]
  machine.hurt((faults) => (faults.unplugged = [device]))
  // as many pictures without it as the host is asked for: enough, and it is retired
  const look = (left: number): void => {
    machine.report()
    if (left > 0) later(stage, random.between(500, 20_000), () => look(left - 1))
  }
  look(random.below(4))
  say(`fault: device ${device} of ${machine.name} is unplugged`)
  later(stage, ms, () => {
    machine.hurt((faults) => (faults.unplugged = []))
    machine.report()
    say(`device ${device} of ${machine.name} is back`)
  })
}

/** What is measured of a device turns bad, and good again. */
const deviceBad: Fault = (stage) => {
  const { machines, random, say } = stage
  const [machine, device, ms] = [random.pick(machines), random.below(2), random.between(5000, 200_000)]
  machine.hurt((faults) => (faults.bad = [device]))
  say(`fault: device ${device} of ${machine.name} turns bad`)
  later(stage, ms, () => {
    machine.hurt((faults) => (faults.bad = []))
    say(`device ${device} of ${machine.name} is good again`)
  })
}

/**
 * Well-formed inventories that no store can record, of hosts that are otherwise unknown: on any partition, and repeated
 * as a host does.
 */
const unrecordable: Fault = (stage) => {
  const { network, random, say, now } = stage
  const [host, count] = [`odd-${random.below(1000)}`, random.between(1, 40)]
  const bootId = '00000000-0000-4000-8000-00000000dead'
  const device = {
    type: 'GPU',
    vendor: '0000',
    model: UNRECORDABLE,
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI', info: '{"domain":"0000","bus":"0c","device":"00","function":"0"}' },
    deployables: [],
  } as const
  const report = (number: number): void => {
    const drivers = [{ driver: 'odd', status: 'ok', devices: [device] }] as const
    const shown = { host, bootId, number, observedAt: now(), version: '0', aliases: [], drivers }
    network().poison(reportRecord({ type: 'Inventory', ...shown }, `${host}.${number}`, now()))
    if (number < count) later(stage, random.below(3000), () => report(number + 1))
  }
  say(`fault: ${host} sends ${count} inventories that cannot be recorded`)
  report(1)
}

const FAULTS: readonly Fault[] = [
  forges,
  forges,
  unrecordable,
  actors,
  actors,
  actors,
  unrest,
  unrest,
  lostBefore,
  lostAfter,
  unreadable,
  slow,
  hostDies,
  hostDies,
  ledgerAltered,
  ledgerAltered,
  usedByOthers,
  controlDies,
  controlDies,
  controlPauses,
  controlPauses,
  controlCaught,
  controlCaught,
  rebalances,
  rebalances,
  brokerAway,
  brokerLies,
  brokerLies,
  storeAway,
  ...DATABASE_FAULTS,
  allDies,
  novaMoody,
  novaMoody,
  moody('placement', 120_000),
  placementMeddled,
  moody('keystone', 60_000),
  tokensRevoked,
  fleetSilent,
  clockJumps,
  clocksSet,
  lies,
  devicesFail,
  devicesFail,
  devicesFail,
  cardsUnseen,
  cardsUnseen,
  diskRefuses,
  unplugged,
  unplugged,
  deviceBad,
  deviceBad,
]
/** What fails more often than anything else, for a bug that shows in nothing else. */
export type Favourite = 'loss' | 'placement' | 'keystone' | 'programming' | 'restart' | 'clocks' | 'liar'
const FAVOURITES: Readonly<Record<Favourite, Fault>> = {
  loss: comesBackWithLess,
  placement: placementMeddled,
  keystone: tokensRevoked,
  programming: programsFail,
  restart: hostDies,
  clocks: clocksSet,
  liar: lies,
}
export const strike = (stage: Stage, favourite: Favourite | null): void =>
  (favourite && stage.random.chance(0.4) ? FAVOURITES[favourite] : stage.random.pick(FAULTS))(stage)

/** Ends all faults: all processes run, and no call is disturbed. */
export const mend = ({
  processes,
  machines,
  network,
  schedule,
  snare,
  store,
  nova,
  placement,
  keystone,
  say,
}: Stage): void => {
  say('all is mended')
  for (const { wall } of [...processes, ...machines]) wall.set(0)
  for (const life of [store.server.life(), network().life]) schedule.resume(life)
  store.server.readOnly = false
  for (const process of processes) process.resume()
  network().mischief = 0
  snare.clear()
  network().rebalance()
  Object.assign(store.faults, { failBefore: 0, failAfter: 0, failReads: 0, slowMs: 0 })
  nova.mood = 'well'
  if (placement) placement.mood = 'well'
  if (keystone) keystone.mood = 'well'
  network().unrest = 0
  for (const machine of machines) {
    machine.hurt((faults) =>
      Object.assign(faults, {
        delayMs: 0,
        failPrepare: 0,
        failRelease: 0,
        failProgram: 0,
        unplugged: [],
        inUse: [],
        bad: [],
      }),
    )
    machine.refuseWrites(0)
    machine.mend()
    machine.start()
    machine.report()
  }
  for (const process of processes) process.start()
}
