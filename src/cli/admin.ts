/** The admin listener: metrics, readiness with detail, and the doors through which tests break things. */
import { Gauge, type Registry } from 'prom-client'
import { type Doors, adminApp } from '../http/admin.ts'
import type { Host } from '../host/host.ts'
import type { Log } from '../log.ts'
import type { Config } from './config.ts'
import { type Listening, listen } from './listen.ts'
import type { System } from './system.ts'

type AdminParts = {
  readonly config: Config
  readonly registry: Registry
  readonly system: System
  readonly hosts: readonly Host[]
  readonly log: Log
}

const gauges = (registry: Registry, { plane, relay, inbox }: System) => {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `accelerando_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  gauge('actors_resident', 'Persistent actors in memory.', () => plane.region.residents().length)
  gauge(
    'relay_lag_seconds',
    'Age of the oldest journal row that is not on the bus yet.',
    () => relay.state().lagMs / 1000,
  )
  gauge('relay_messages', 'Messages put on the bus since the start.', () => relay.state().messages)
  gauge('inbox_taken', 'Reports taken since the start.', () => inbox.counts().taken)
  gauge('inbox_unchanged', 'Reports recognised by their digest since the start.', () => inbox.counts().unchanged)
  gauge('inbox_dead', 'Messages that went to the dead letters since the start.', () => inbox.counts().dead)
}

/** Only under ACCELERANDO_TEST_DOORS. */
const doorsOf = ({ plane }: System): Doors => ({
  'kill-actor': async (input) => ({ killed: plane.region.kill((input as { key: string }).key) }),
  residents: async () => plane.region.residents(),
})

/** Nobody chose the default address, so when it is taken any free port will do. */
const listenSomewhere = async (
  app: Parameters<typeof listen>[0],
  address: Config['adminListen'],
  log: Log,
): Promise<Listening> => {
  try {
    return await listen(app, address)
  } catch (error) {
    if (address.chosen) throw error
    log.warn({ ...address, error: String(error) }, 'the default admin address is taken, any free port is used')
    return listen(app, { ...address, port: 0 })
  }
}

export const openAdmin = async ({ config, registry, system, hosts, log }: AdminParts): Promise<Listening> => {
  gauges(registry, system)
  const readiness = () => ({
    notReady: system.plane.control.notReady(),
    detail: {
      relay: system.relay.state(),
      inbox: system.inbox.counts(),
      actors: system.plane.region.residents().length,
      hosts: hosts.map(({ name, bootId }) => ({ name, bootId })),
    },
  })
  const app = adminApp({ metrics: registry, readiness, ...(config.testDoors ? { doors: doorsOf(system) } : {}) })
  return listenSomewhere(app, config.adminListen, log)
}
