/**
 * `accelerando control`: one of several processes that answer the API over one database, with Kafka between them and
 * the hosts.
 *
 * CONTROL-1 While Kafka cannot be reached, requests are answered, and operations that need a host wait within their
 *     deadlines. The process stays ready, because all control processes are affected alike, and a load balancer that
 *     removed them all would stop what still works. It reports `degraded`.
 * CONTROL-2 While the database cannot be reached, every request is answered with 503, so the process is not ready. At
 *     its start it waits for both the database and Kafka.
 * CONTROL-3 On a stop signal the process first reports that it is not ready, then keeps answering requests until a load
 *     balancer has noticed.
 */
import type { ImageCatalogue } from '../../actors/neighbours.ts'
import { type KafkaBus, kafkaBus } from '../../bus/kafka/bus.ts'
import { followLetters } from '../../bus/kafka/deadLetters.ts'
import { type Clock, idsBy, shifted, systemClock } from '../../vocabulary/clock.ts'
import { createApp } from '../../http/app.ts'
import { unserved } from '../../http/unserved.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { newPrivateKey } from '../../wire/signature.ts'
import { showTokens } from '../observe/metricsControl.ts'
import { openAdmin } from './admin.ts'
import { type Cloud, openCloud } from './cloud.ts'
import { type Closer, closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { openConsole } from './console.ts'
import { openDatabase } from './database.ts'
import { watch } from './health.ts'
import { openImages } from './images.ts'
import { neighboursOf } from './neighbours.ts'
import { type KafkaLink, kafkaLink } from './kafkaLink.ts'
import { expectFree, listen, reachedAt, urlOf } from './listen.ts'
import { clientIdIn, expectOwnGroup } from './oneCloud.ts'
import { type Running, endAtOnce } from './start.ts'
import { openSystem } from './system.ts'
import { type ApiHere, type Bundles, noBundles, systemPortOf } from './systemPort.ts'
import { type Watching, openWatching } from '../observe/watching.ts'
import { VERSION } from '../version.ts'

/** The configuration after `lacks` has checked that the required options are set. */
export type ControlConfig = Config & {
  readonly kafka: NonNullable<Config['kafka']>
  readonly database: NonNullable<Config['database']>
}
/**
 * A publication that Kafka has not stored by then counts as failed. It is tried again, possibly by a control process
 * that reaches Kafka.
 */
const PUBLISH_MS = 8000
const LOOK = { everyMs: 1000, lateMs: 4000 }
/** A load balancer that checks every second or two has noticed by then that the process is not ready. */
const DRAIN_MS = 1500
/** Together with the drain and the closing of the store, these stay below ten seconds. */
const REQUESTS_MS = 3000
const STOP_MS = 3500

type Opened = {
  readonly config: ControlConfig
  readonly log: Log
  readonly clock: Clock
  readonly open: Closer
  readonly store: Store
  readonly bus: KafkaBus
  readonly link: KafkaLink
  readonly watching: Watching
  readonly bundles: Bundles
}

const openPlane = async (
  { config, log, clock, open, store, bus, link, watching }: Opened,
  cloud: Cloud,
  images: ImageCatalogue,
) => {
  const { control, region } = config
  const system = await openSystem({
    store,
    images,
    nova: cloud.nova,
    novaServers: cloud.novaServers,
    placement: cloud.placement,
    log,
    clock,
    ids: idsBy(clock),
    bus,
    followLetters: followLetters(config.kafka, log),
    keepLettersMs: config.topics.retentionMs ?? undefined,
    join: link.join,
    control,
    region,
    archiveEndedMs: config.archive.endedMs,
    events: config.events,
    watching,
  })
  // A broker that hangs does not answer when the program leaves its groups. Work that is cut off here is resumed by
  // another process.
  open.add(system.stop, STOP_MS)
  open.add(link.stop)
  return system
}

/**
 * After `begin` the process reports at once that it is not ready. The listeners close only after load balancers have
 * had time to notice. Streams end at once, and their clients reconnect to another process.
 */
export const drain = (clock: Pick<Clock, 'after'>, endStreams: () => void) => {
  let draining = false
  return {
    notReady: (): string | null => (draining ? 'stopping' : null),
    begin: () => {
      draining = true
      endStreams()
      return new Promise<void>((resolve) => void clock.after(DRAIN_MS, resolve))
    },
  }
}

const serve = async (opened: Opened): Promise<Running> => {
  const { config, log, clock, open, store, link, watching, bundles } = opened
  const { meter, tracer } = watching
  const database = watch({ name: 'database', look: store.expectWriting, ...LOOK, clock: systemClock, log })
  open.add(database.stop)
  const cloud = openCloud({ config, clock: systemClock, log, open })
  showTokens(meter, cloud)
  const images = openImages({ config, session: cloud.session, clock: systemClock, log, open })
  const system = await openPlane(opened, cloud, images.catalogue)
  const { control } = system.plane
  const draining = drain(systemClock, system.events.stop)
  const notReady = () => draining.notReady() ?? database.whyFailing()
  const admin = await openAdmin({
    config,
    meter,
    store,
    system,
    hosts: [],
    log,
    notReady,
    degraded: () => link.whyFailing() ?? cloud.whyFailing() ?? images.whyFailing(),
    neighbours: () => neighboursOf(cloud, images),
  })
  open.add(() => admin.close(0))
  const ids = idsBy(clock)
  const neighbours = () => ({ kafka: link.whyFailing() ?? 'in use', ...neighboursOf(cloud, images) })
  let here: ApiHere = null
  const surroundings = { config, meter, store, system, clock, bundles, api: () => here }
  const app = createApp({
    control: { ...control, notReady: () => notReady() ?? control.notReady() },
    events: system.events,
    identify: cloud.identify,
    options: config.http,
    log,
    metrics: meter.registry,
    hindered: () => (database.whyFailing() === null ? null : 'the database does not answer'),
    about: () => ({ version: VERSION, store: store.kind, ...neighbours() }),
    system: systemPortOf({
      ...surroundings,
      program: 'control',
      neighbours: () => ({ database: database.whyFailing() ?? 'in use', ...neighbours() }),
    }),
    tracer,
    ids,
    clock,
  })
  const api = await listen(app, config.listen, { unserved: unserved({ ids, clock, log }) })
  open.add(() => api.close(REQUESTS_MS))
  here = { app, origin: reachedAt(api) }
  const console = await openConsole({ config, api: app, log, meter, open })
  open.add(draining.begin)
  const pages = `${urlOf(console)}/ui/`
  log.info(
    { api: urlOf(api), console: pages, admin: urlOf(admin), store: store.kind, kafka: config.kafka.brokers },
    'started',
  )
  return { base: `${urlOf(api)}/v2`, console: pages, stop: open.close }
}

export const startControl = async (config: ControlConfig, log: Log, bundles: Bundles = noBundles): Promise<Running> => {
  const open = closer(log)
  const clock = shifted(systemClock, config.clockOffsetMs)
  try {
    await expectFree(config.listen, config.uiListen, config.adminListen)
    const watching = await openWatching('accelerando-control', log, open)
    const store = await openDatabase(config.database, systemClock, log)
    open.add(store.close)
    void store.lost?.then((error) => endAtOnce(error, log))
    const { id: cloud } = await store.cloud(newPrivateKey)
    const kafka = { ...config.kafka, clientId: clientIdIn(cloud, process.pid) }
    const bus = kafkaBus({
      options: kafka,
      clock: systemClock,
      log,
      publishTimeoutMs: PUBLISH_MS,
      stopTimeoutMs: STOP_MS,
    })
    const link = kafkaLink({ kafka, bus, topics: config.topics, clock: systemClock, log })
    const join: KafkaLink['join'] = (begin) =>
      link.join(async () => {
        await expectOwnGroup(kafka, cloud, log)
        await begin()
      })
    return await serve({
      config: { ...config, kafka },
      log,
      clock,
      open,
      store,
      bus,
      link: { ...link, join },
      watching,
      bundles,
    })
  } catch (error) {
    await open.close()
    throw error
  }
}
