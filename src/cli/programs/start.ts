/** `accelerando start`: the whole system in one process, on the embedded store or on PostgreSQL. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pause } from '../../vocabulary/waiting.ts'
import type { Control } from '../../actors/control.ts'
import { type Clock, systemClock, systemIds } from '../../vocabulary/clock.ts'
import { createApp } from '../../http/app.ts'
import type { Identify } from '../../http/identity.ts'
import { unserved } from '../../http/unserved.ts'
import type { Host } from '../../host/host.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type StoreConfig, openStore } from '../../persistence/open.ts'
import type { Store } from '../../persistence/store.ts'
import { showTokens } from '../observe/metricsControl.ts'
import { openAdmin } from './admin.ts'
import { openCloud } from './cloud.ts'
import { type Closer, closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { makeDataFolder } from './dataFolder.ts'
import { openConsole } from './console.ts'
import { demoHosts } from './demo.ts'
import { type HostParts, localDrivers, reportedAtOnce, startLocalHost, startSimulatedHosts } from './hosts.ts'
import { openImages } from './images.ts'
import { type Neighbours, neighboursOf } from './neighbours.ts'
import { expectFree, type Listening, listen, reachedAt, urlOf } from './listen.ts'
import { StartProblem } from './startProblem.ts'
import { type System, openSystem } from './system.ts'
import { type ApiHere, type Bundles, noBundles, systemPortOf } from './systemPort.ts'
import { type Watching, openWatching } from '../observe/watching.ts'
import { VERSION } from '../version.ts'

/** `console`: the address of the pages for people. */
export type Running = { readonly base: string; readonly console: string; readonly stop: () => Promise<void> }
/** Time limit for running requests. The whole stop, running requests included, takes at most ten seconds. */
const GRACE_MS = 4000
const RECORDED_MS = 10_000
const LOOK_MS = 10

/**
 * Waits until the first inventory report of every host is recorded, so that clients that read after `ready` see the
 * hardware. The wait is bounded, so that a slow driver does not delay the start without limit.
 */
export const recorded = async (
  control: Pick<Control, 'hosts'>,
  hosts: readonly Pick<Host, 'name' | 'bootId'>[],
  log: Log,
  clock: Pick<Clock, 'monotonic' | 'after'> = systemClock,
): Promise<void> => {
  const end = clock.monotonic() + RECORDED_MS
  for (;;) {
    const listed = await control.hosts.list({})
    const boots = new Set(listed.ok ? listed.value.items.map(({ boot_id: boot }) => boot) : [])
    const missing = hosts.filter(({ bootId }) => !boots.has(bootId))
    if (missing.length === 0) return
    if (clock.monotonic() >= end)
      return log.warn(
        { hosts: missing.map(({ name }) => name) },
        'ready before the first inventory of these hosts is recorded',
      )
    await pause(clock, LOOK_MS)
  }
}

export const storeConfig = ({ database, data }: Pick<Config, 'database' | 'data'>): StoreConfig =>
  database === null ? { kind: 'pglite', dir: join(data, 'store') } : { kind: 'postgres', ...database, sole: true }

/**
 * Without its store the service cannot work, so the process exits. Its supervisor restarts it, and the data folder is
 * recovered as after a kill.
 */
export const endAtOnce = (error: Error, log: Log) => {
  log.error({ error: error.message }, 'the store is lost, the process ends')
  process.exit(70)
}

/**
 * Lists show entities in the order in which they were recorded. The demo's first host is recorded before the other demo
 * hosts, and all of them before the real host.
 */
const startDemo = async (
  parts: HostParts,
  open: Closer,
  seen: (hosts: readonly Host[]) => Promise<void>,
): Promise<readonly Host[]> => {
  const [first, ...others] = demoHosts(parts.config.demo)
  const started: Host[] = []
  open.add(() => Promise.all(started.map((host) => host.stop())))
  for (const some of [first ? [first] : [], others]) {
    started.push(...(await startSimulatedHosts(parts, some)))
    await seen(started)
  }
  return started
}

type ApiParts = {
  readonly config: Config
  readonly system: System
  readonly identify: Identify
  readonly store: Store
  readonly neighbours: () => Neighbours
  readonly log: Log
  readonly watching: Watching
  readonly bundles: Bundles
}
const listenApi = async (
  { config, system, identify, store, neighbours, log, watching: { meter, tracer }, bundles }: ApiParts,
  open: Closer,
): Promise<{ readonly api: Listening; readonly console: Listening }> => {
  const { plane, events } = system
  const parts = { control: plane.control, events, identify, options: config.http, log, metrics: meter.registry, tracer }
  const about = () => ({ version: VERSION, store: store.kind, ...neighbours() })
  let here: ApiHere = null
  const surroundings = { config, meter, store, system, neighbours, bundles, clock: systemClock, api: () => here }
  const app = createApp({ ...parts, about, system: systemPortOf({ ...surroundings, program: 'start' }) })
  const api = await listen(app, config.listen, { unserved: unserved({ ids: systemIds, clock: systemClock, log }) })
  open.add(() => api.close(GRACE_MS))
  here = { app, origin: reachedAt(api) }
  const console = await openConsole({ config, api: app, log, meter, open })
  open.add(system.events.stop)
  return { api, console }
}

export const start = async (config: Config, log: Log, bundles: Bundles = noBundles): Promise<Running> => {
  const local = localDrivers(config)
  if (!local.ok) throw new StartProblem(local.problems.join('\n'))
  const open = closer(log)
  try {
    await expectFree(config.listen, config.uiListen, config.adminListen)
    await makeDataFolder(config.data, log)
    await mkdir(join(config.data, 'hosts'), { recursive: true })
    const store = await openStore(storeConfig(config))
    open.add(store.close)
    void store.lost?.then((error) => endAtOnce(error, log))
    const cloud = openCloud({ config, clock: systemClock, log, open })
    const { nova, novaServers, placement, session } = cloud
    const stores = openImages({ config, session, clock: systemClock, log, open })
    const images = stores.catalogue
    const watching = await openWatching('accelerando', log, open)
    const { meter } = watching
    showTokens(meter, cloud)
    const { control, region, archive, events } = config
    const options = { control, region, archiveEndedMs: archive.endedMs, events }
    const system = await openSystem({ store, images, nova, novaServers, placement, log, watching, ...options })
    open.add(system.stop)
    const parts = { config, bus: system.bus, images: await stores.files(), log, watching }
    const simulated = await startDemo(parts, open, (hosts) => recorded(system.plane.control, hosts, log))
    const own = await startLocalHost(parts, local.drivers)
    open.add(own.stop)
    open.add(reportedAtOnce(own, local.drivers, log))
    await recorded(system.plane.control, [own], log)
    const hosts = [...simulated, own]
    const neighbours = () => neighboursOf(cloud, stores)
    const served = { config, system, identify: cloud.identify, store, neighbours, log, watching, bundles }
    const { api, console } = await listenApi(served, open)
    const admin = await openAdmin({
      config,
      meter,
      store,
      system,
      hosts,
      log,
      degraded: () => cloud.whyFailing() ?? stores.whyFailing(),
      neighbours,
    })
    open.add(() => admin.close(GRACE_MS))
    log.info(
      {
        api: urlOf(api),
        console: `${urlOf(console)}/ui/`,
        admin: urlOf(admin),
        data: config.data,
        store: store.kind,
        hosts: hosts.map(({ name }) => name),
      },
      'started',
    )
    return { base: `${urlOf(api)}/v2`, console: `${urlOf(console)}/ui/`, stop: open.close }
  } catch (error) {
    await open.close()
    throw error
  }
}
