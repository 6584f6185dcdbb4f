/** The admin listener: metrics, readiness with detail, and the paths through which tests inject failures. */
import { type Doors, adminApp } from '../../http/admin.ts'
import { isLoopback } from '../../http/gate.ts'
import { systemClock, systemIds } from '../../vocabulary/clock.ts'
import type { Host } from '../../host/host.ts'
import { unserved } from '../../http/unserved.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import type { Config } from '../config/config.ts'
import { type Listening, listenOrElsewhere } from './listen.ts'
import type { Neighbours } from './neighbours.ts'
import type { Meter } from '../observe/metrics.ts'
import { showSystem } from '../observe/metricsControl.ts'
import { showHosts } from '../observe/metricsHost.ts'
import type { System } from './system.ts'

type AdminParts = {
  readonly config: Config
  readonly meter: Meter
  readonly store: Pick<Store, 'reads' | 'isStopped'>
  readonly system: System
  readonly hosts: readonly Host[]
  readonly log: Log
  /** Why the service cannot work, or works only in part. Null: no problem is known. */
  readonly notReady?: () => string | null
  readonly degraded?: () => string | null
  readonly neighbours: () => Neighbours
}

/** Operations for tests, which exist only if ACCELERANDO_TEST_DOORS is set. */
const doorsOf = ({ plane }: System): Doors => ({
  'kill-actor': async (input) => ({ killed: plane.region.kill((input as { key: string }).key) }),
  residents: async () => plane.region.residents(),
})

const nothing = (): null => null

export const openAdmin = async (parts: AdminParts): Promise<Listening> => {
  const { config, meter, store, system, hosts, log, notReady = nothing, degraded = nothing } = parts
  showSystem(meter, { ...system, store })
  if (hosts.length > 0) showHosts(meter, hosts)
  log.info(parts.neighbours(), 'neighbours')
  const readiness = () => ({
    notReady: notReady() ?? system.plane.control.notReady(),
    degraded: degraded(),
    detail: {
      relay: system.relay.state(),
      inbox: system.inbox.counts(),
      actors: system.plane.region.residents().length,
      hosts: hosts.map(({ name, bootId }) => ({ name, bootId })),
      neighbours: parts.neighbours(),
    },
  })
  const anyHost = !isLoopback(config.adminListen.host)
  const app = adminApp({
    metrics: meter.registry,
    readiness,
    anyHost,
    trustedHosts: config.http.trustedHosts,
    ...(config.testDoors ? { doors: doorsOf(system) } : {}),
  })
  return listenOrElsewhere(app, config.adminListen, {
    name: 'admin',
    log,
    unserved: unserved({ ids: systemIds, clock: systemClock, log }),
  })
}
