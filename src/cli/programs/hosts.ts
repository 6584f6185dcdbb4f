/**
 * Starts host programs: the one for this machine, and those of simulated hosts. Each uses only the bus and its own
 * folder.
 */
import { join, resolve } from 'node:path'
import type { Bus } from '../../bus/port.ts'
import { type Cancel, type Clock, idsBy, systemClock } from '../../vocabulary/clock.ts'
import type { Driver } from '../../drivers/driver.ts'
import { realHostIo, runTailed, runToEnd } from '../../drivers/hostIo.ts'
import type { ToolLocks } from '../../drivers/toolLocks.ts'
import { driverByName, HARDWARE_DRIVERS } from '../../drivers/index.ts'
import { simulatedDriver } from '../../drivers/simulated/simulated.ts'
import type { SimulatedHost } from '../../drivers/simulated/cloud.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { ImageFiles } from '../../vocabulary/images.ts'
import { type Cleaner, type RunProgram, createCleaner } from '../../host/cleaning.ts'
import { fileDisk } from '../../host/disk.ts'
import { type Host, startHost } from '../../host/host.ts'
import type { PlaybookTools } from '../../host/playbooks.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Config } from '../config/config.ts'
import { ordersCounted, timedDriver } from '../observe/metricsHost.ts'
import { VERSION } from '../version.ts'
import { watchHotplug } from '../hardware/hotplug.ts'
import { warnOfExposed } from './exposure.ts'
import { programAt } from './programAt.ts'
import type { Watching } from '../observe/watching.ts'

type PlaybooksHere = Omit<PlaybookTools, 'killAged'>
export type HostParts = {
  readonly config: Config
  readonly bus: Pick<Bus, 'publish' | 'consume'>
  readonly images: ImageFiles
  readonly log: Log
  readonly clock?: Clock
  readonly watching?: Watching
  /** The playbooks of this machine; null: there are none. Simulated hosts have none. */
  readonly playbooks?: PlaybooksHere | null
  /** Further names of the host. */
  readonly aliases?: readonly HostName[]
}
type Found =
  | { readonly ok: true; readonly drivers: readonly Driver[] }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Makes the host report at once when the kernel reports a change of its hardware. Hosts without real hardware are not
 * watched.
 */
export const reportedAtOnce = (
  host: Pick<Host, 'reportNow'>,
  drivers: readonly Pick<Driver, 'name'>[],
  log: Log,
): Cancel =>
  drivers.some(({ name }) => HARDWARE_DRIVERS.includes(name))
    ? watchHotplug({ log, clock: systemClock, changed: () => void host.reportNow() })
    : () => {}

const programHere: PlaybookTools['programAt'] = (name) => programAt(name, process.env['PATH'] ?? '')
/** A cleaning gets nothing else of the environment of this program. */
const forAnsible = ({ PATH, HOME }: NodeJS.ProcessEnv): Readonly<Record<string, string>> => ({
  ...(PATH === undefined ? {} : { PATH }),
  ...(HOME === undefined ? {} : { HOME }),
})
type CleanerParts = { readonly host: HostName; readonly clock: Clock; readonly run: RunProgram }
export const cleanerOf = ({ cleaning, playbooks }: Config, { host, clock, run }: CleanerParts): Cleaner =>
  createCleaner({
    policies: new Map(cleaning.map((policy) => [policy.driver, policy])),
    run,
    clock,
    ansible: { host, program: playbooks.program, programAt: programHere, environment: forAnsible(process.env) },
  })

export const playbooksOf = ({ playbooks: { dir, program, limitMs } }: Config): PlaybooksHere | null =>
  dir === null
    ? null
    : {
        dir: resolve(dir),
        program,
        limitMs,
        environment: process.env,
        programAt: programHere,
        run: runTailed,
      }

/** Problems are texts for the operator. */
export const localDrivers = ({ enabledDrivers, drivers }: Config): Found => {
  const found = enabledDrivers.map((name) => driverByName(name, drivers))
  const problems = found.flatMap((one) => (one.ok ? [] : one.problems.map(({ field, rule }) => `${field}: ${rule}`)))
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, drivers: found.flatMap((one) => (one.ok ? [one.driver] : [])) }
}

/** A command or playbook that cleans holds the lock of its card, as a program does that loads an image. */
export const cleansUnder =
  (locks: ToolLocks): RunProgram =>
  (program, args, environment, limits, card) =>
    locks.toEnd(card, program, args, (below, all) => runToEnd(below, all, environment, limits))

/** Without the options of this program, which hold passwords that no tool of a vendor needs. */
const ofTools = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('ACCELERANDO_')))

/** `stateDir` belongs to this host alone; no other host keeps files there. */
export const startHostIn = (
  { config, bus, images, log, clock = systemClock, watching, playbooks = null, aliases = [] }: HostParts,
  name: string,
  stateDir: string,
  drivers: readonly Driver[],
): Promise<Host> => {
  const warn = (event: string, detail: object) => log.warn({ host: name, ...detail }, event)
  const { reportEveryMs, heartbeatEveryMs, measureEveryMs } = config.host
  const meter = watching?.meter
  const io = realHostIo({
    hostname: name,
    stateDir: join(stateDir, 'drivers'),
    warn,
    environment: ofTools(process.env),
  })
  const cleaner = cleanerOf(config, { host: name, clock, run: cleansUnder(io.locks) })
  return startHost({
    name,
    stateDir,
    bus,
    drivers: meter ? drivers.map((driver) => timedDriver(driver, meter)) : drivers,
    io,
    toolLocks: io.locks,
    disk: fileDisk,
    clock,
    ids: idsBy(clock),
    log,
    cleaner,
    ...(playbooks ? { playbooks: { ...playbooks, killAged: io.locks.killAged } } : {}),
    ...(watching ? { tracer: watching.tracer, ended: ordersCounted(watching.meter) } : {}),
    options: { version: VERSION, aliases, images, reportEveryMs, heartbeatEveryMs, measureEveryMs },
  })
}
const start = (parts: HostParts, name: string, drivers: readonly Driver[]): Promise<Host> =>
  startHostIn(parts, name, join(parts.config.data, 'hosts', name), drivers)

export const startLocalHost = async (parts: HostParts, drivers: readonly Driver[]): Promise<Host> => {
  await warnOfExposed(parts.config, parts.log)
  return start(
    { ...parts, playbooks: playbooksOf(parts.config), aliases: parts.config.host.aliases },
    parts.config.host.name,
    drivers,
  )
}

export const startSimulatedHosts = (parts: HostParts, hosts: readonly SimulatedHost[]): Promise<readonly Host[]> =>
  Promise.all(hosts.map(({ hostname, plan }) => start(parts, hostname, [simulatedDriver(plan)])))
