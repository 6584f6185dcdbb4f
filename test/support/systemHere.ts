/** What a program tells of itself, over a configuration from all sources and a store in memory. */
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import type { Bus, KnowsLags } from '../../src/bus/port.ts'
import { bundles } from '../../src/cli/operators/bundles.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import type { RecentTimes } from '../../src/cli/observe/recentTimes.ts'
import type { App } from '../../src/cli/programs/listen.ts'
import { systemPortOf } from '../../src/cli/programs/systemPort.ts'
import { type Clock, systemClock } from '../../src/vocabulary/clock.ts'
import { memoryStore } from './memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'

export const SECRET = 'planted-header-of-nova'
export const SOURCES = {
  flags: { listen: '127.0.0.1:7000' },
  env: {
    ACCELERANDO_CONFIG: '/etc/accelerando.toml',
    ACCELERANDO_LOG_LEVEL: 'warn',
    ACCELERANDO_NOVA_HEADERS: JSON.stringify({ 'x-proxy': SECRET }),
  },
  readFile: () => '[arq]\nunbound_ttl = 90\n',
}
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:1'

type Given = {
  readonly app: () => App
  readonly store?: Pick<Store, 'kind' | 'newer' | 'schema' | 'journal'>
  readonly bus?: Bus & Partial<KnowsLags>
  readonly writes?: RecentTimes['read']
  readonly neighbours?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /** Without the options that have their defaults, which are many and change from release to release. */
  readonly few?: boolean
}
export const systemHere = ({
  app,
  store = memoryStore(),
  bus = inProcessBus({ clock: systemClock }),
  writes = () => null,
  neighbours = { keystone: 'absent', placement: 'absent', nova: 'absent', images: 'absent' },
  clock = systemClock,
  few = false,
}: Given) => {
  const loaded = loadConfig({ ...SOURCES, osHostname: 'here' })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const { options } = loaded.inForce
  const shown = options.filter(({ source, key }) => !few || source !== 'default' || key === 'data')
  return systemPortOf({
    program: 'start',
    self: { machine: 'machine-1', pid: 4711, accelerando: '9.9.9', node: '24.0.0' },
    config: { ...loaded.config, inForce: { ...loaded.inForce, options: shown } },
    meter: openMeter(),
    store,
    system: { bus, writes },
    neighbours: () => neighbours,
    bundles,
    clock,
    api: () => ({ app: app(), origin: NOWHERE }),
  })
}
