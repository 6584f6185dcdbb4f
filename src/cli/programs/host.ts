/**
 * `accelerando host`: runs one host with its folder and its devices, connected over Kafka. It loads no database and no
 * web framework.
 *
 * While Kafka cannot be reached, at start or later, the host waits and keeps its results on its own disk.
 */
import { kafkaBus } from '../../bus/kafka/bus.ts'
import type { Bus, ConsumeOptions, Consumer } from '../../bus/port.ts'
import { shifted, systemClock } from '../../vocabulary/clock.ts'
import type { Driver } from '../../drivers/driver.ts'
import { simulatedDriver } from '../../drivers/simulated/simulated.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type Closer, closer } from '../closer.ts'
import type { Config, Demo } from '../config/config.ts'
import { demoHosts } from './demo.ts'
import { openHostAdmin } from './hostAdmin.ts'
import { openHostFolder } from './hostFolder.ts'
import { localDrivers, playbooksOf, reportedAtOnce, startHostIn } from './hosts.ts'
import { type KafkaLink, kafkaLink } from './kafkaLink.ts'
import { showHosts } from '../observe/metricsHost.ts'
import { observedBus } from '../observe/observedBus.ts'
import { type ImageStores, openImages } from './images.ts'
import { openSession } from './session.ts'
import { StartProblem } from './startProblem.ts'
import { type Watching, openWatching } from '../observe/watching.ts'

/**
 * Time limits for the stop: a broker that hangs does not answer when the program leaves its groups, and running orders
 * get time to finish. Together they are below ten seconds.
 */
const STOP_MS = 2000
const HOST_STOP_MS = 7000

/** The configuration after `lacks` has checked that the required options are set. */
export type HostConfig = Config & { readonly kafka: NonNullable<Config['kafka']> }
export type RunningHost = { readonly name: string; readonly stop: () => Promise<void> }

/**
 * The devices of the first demo host. This host's name is part of the seed, so that no two hosts show the same devices.
 */
const simulated = (demo: Demo, name: string): Driver => {
  const [first] = demoHosts({ ...demo, seed: `${demo.seed}/${name}` })
  return simulatedDriver(first!.plan)
}
const driversOf = (config: HostConfig): readonly Driver[] => {
  if (config.demo !== null) return [simulated(config.demo, config.host.name)]
  const local = localDrivers(config)
  if (!local.ok) throw new StartProblem(local.problems.join('\n'))
  return local.drivers
}

/** The bus with a `consume` that waits until Kafka can be reached. */
const patient = (bus: Bus, link: KafkaLink): Pick<Bus, 'publish' | 'consume'> => ({
  publish: bus.publish,
  consume: async (options: ConsumeOptions): Promise<Consumer> => {
    const { promise, resolve } = Promise.withResolvers<Consumer>()
    await link.join(async () => resolve(await bus.consume(options)))
    return promise
  },
})

type Watched = { readonly notReady: () => string | null; readonly detail: () => object }
const admin = async (config: HostConfig, { meter }: Watching, open: Closer, { notReady, detail }: Watched) => {
  if (!config.adminListen.chosen) return null
  const { url, close } = await openHostAdmin({
    address: config.adminListen,
    notReady,
    meter,
    detail: () => ({ name: config.host.name, ...detail() }),
  })
  open.add(close)
  return url
}

/** A host without images does all other work, so it is ready. */
export const imagesIn = ({ whyFailing, source }: Pick<ImageStores, 'whyFailing' | 'source'>) => ({
  images: whyFailing() ?? source(),
  ...(whyFailing() !== null && { degraded: whyFailing() }),
})

export const startHostProgram = async (given: HostConfig, log: Log): Promise<RunningHost> => {
  const open = closer(log)
  const { name } = given.host
  const kafka = { ...given.kafka, clientId: `accelerando-host-${name}` }
  const config = { ...given, kafka }
  const clock = shifted(systemClock, config.clockOffsetMs)
  try {
    const drivers = driversOf(config)
    const folder = await openHostFolder(config.data, name, log)
    open.add(folder.release)
    const watching = await openWatching('accelerando-host', log, open)
    const bus = observedBus(kafkaBus({ options: kafka, clock: systemClock, log, stopTimeoutMs: STOP_MS }), watching)
    open.add(bus.stop, STOP_MS)
    const link = kafkaLink({ kafka, bus, topics: null, clock: systemClock, log })
    open.add(link.stop)
    const session =
      config.images === null ? openSession({ keystone: config.keystone, clock: systemClock, log, open }) : null
    const stores = openImages({ config, session, clock: systemClock, log, open })
    const boot = { bootId: null as string | null }
    let doubled: () => string | null = () => null
    const notReady = () => link.whyFailing() ?? doubled()
    const url = await admin(config, watching, open, { notReady, detail: () => ({ ...boot, ...imagesIn(stores) }) })
    const images = await stores.files()
    const playbooks = config.demo === null ? playbooksOf(config) : null
    const parts = { config, bus: patient(bus, link), images, log, clock, watching, playbooks }
    const host = await startHostIn(parts, name, config.data, drivers)
    open.add(host.stop, HOST_STOP_MS)
    open.add(reportedAtOnce(host, drivers, log))
    doubled = host.notReady
    showHosts(watching.meter, [host])
    await link.well()
    boot.bootId = host.bootId
    log.info(
      {
        host: name,
        bootId: host.bootId,
        publicKey: host.publicKey,
        data: config.data,
        kafka: kafka.brokers,
        admin: url,
      },
      'started',
    )
    return { name, stop: open.close }
  } catch (error) {
    await open.close()
    throw error
  }
}
