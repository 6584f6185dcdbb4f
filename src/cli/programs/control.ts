/**
 * `accelerando control`: one of several processes that answer the API over one database, with Kafka between them and the hosts.
 *
 * CONTROL-1 Kafka away: requests are answered, and what needs a host waits within its deadline. The process stays ready, for all of its
 *    kind are in the same case and a load balancer that took them all out would end what still works; it says `degraded`;
 * CONTROL-2 the database away: nothing can be answered but 503, so it is not ready. Both are waited for;
 * CONTROL-3 told to end, it first says that it is not ready, then answers what was asked until a load balancer has noticed.
 */
import { type KafkaBus, kafkaBus } from '../../bus/kafka/bus.ts'
import { type Clock, idsBy, shifted, systemClock } from '../../clock.ts'
import { createApp } from '../../http/app.ts'
import { unserved } from '../../http/unserved.ts'
import type { Log } from '../../log.ts'
import { imageFolder } from '../../neighbours/imageFolder.ts'
import { createNova } from '../../neighbours/nova.ts'
import type { Store } from '../../persistence/store.ts'
import { openAdmin } from './admin.ts'
import { type Closer, closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { openDatabase } from './database.ts'
import { watch } from './health.ts'
import { type KafkaLink, kafkaLink } from './kafkaLink.ts'
import { listen, urlOf } from './listen.ts'
import { type Running, endAtOnce } from './start.ts'
import { openSystem } from './system.ts'
import { type Watching, openWatching } from '../observe/watching.ts'

/** What `lacks` has made sure of. */
export type ControlConfig = Config & {
  readonly kafka: NonNullable<Config['kafka']>
  readonly database: NonNullable<Config['database']>
}
/** What is not stored by then has failed; it is tried again, perhaps by a control that reaches Kafka. */
const PUBLISH_MS = 8000
const LOOK = { everyMs: 1000, lateMs: 4000 }
/** A load balancer that asks every second or two has noticed by then. */
const DRAIN_MS = 1500
/** With the drain and what closes the store they stay below ten seconds. */
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
}

const openPlane = async ({ config, log, clock, open, store, bus, link, watching }: Opened) => {
  const nova = config.nova === null ? null : createNova(config.nova)
  const images = imageFolder(config.images, log)
  const { control, region } = config
  const system = await openSystem({
    store,
    images,
    nova,
    log,
    clock,
    ids: idsBy(clock),
    bus,
    join: link.join,
    control,
    region,
    watching,
  })
  // a broker that stands still answers no farewell; what is cut is found again by the next process
  open.add(system.stop, STOP_MS)
  open.add(link.stop)
  return system
}

/** Ready no more at once; the listeners close when whoever asks whether it is has had time to. */
const drain = (clock: Clock) => {
  let draining = false
  return {
    notReady: (): string | null => (draining ? 'stopping' : null),
    begin: () => {
      draining = true
      return new Promise<void>((resolve) => void clock.after(DRAIN_MS, resolve))
    },
  }
}

const serve = async (opened: Opened): Promise<Running> => {
  const { config, log, clock, open, store, link, watching } = opened
  const { meter, tracer } = watching
  const database = watch({
    name: 'database',
    look: () => store.reads.page({ view: 'hosts', where: {}, sort: 'name', limit: 1 }),
    ...LOOK,
    clock: systemClock,
    log,
  })
  open.add(database.stop)
  const system = await openPlane(opened)
  const { control } = system.plane
  const draining = drain(systemClock)
  const notReady = () => draining.notReady() ?? database.ailing()
  const admin = await openAdmin({
    config,
    meter,
    reads: store.reads,
    system,
    hosts: [],
    log,
    notReady,
    degraded: link.ailing,
  })
  open.add(() => admin.close(0))
  const ids = idsBy(clock)
  const api = await listen(
    createApp({
      control: { ...control, notReady: () => notReady() ?? control.notReady() },
      options: config.http,
      log,
      metrics: meter.registry,
      hindered: () => (database.ailing() === null ? null : 'the database does not answer'),
      tracer,
      ids,
      clock,
    }),
    config.listen,
    { unserved: unserved({ ids, clock, log }) },
  )
  open.add(() => api.close(REQUESTS_MS))
  open.add(draining.begin)
  log.info({ api: urlOf(api), admin: urlOf(admin), store: store.kind, kafka: config.kafka.brokers }, 'started')
  return { base: `${urlOf(api)}/v2`, stop: open.close }
}

export const startControl = async (config: ControlConfig, log: Log): Promise<Running> => {
  const open = closer(log)
  const clock = shifted(systemClock, config.clockOffsetMs)
  try {
    const watching = await openWatching('accelerando-control', log, open)
    const store = await openDatabase(config.database, systemClock, log)
    open.add(store.close)
    void store.lost?.then((error) => endAtOnce(error, log))
    const kafka = { ...config.kafka, clientId: `accelerando-control-${process.pid}` }
    const bus = kafkaBus({
      options: kafka,
      clock: systemClock,
      log,
      publishTimeoutMs: PUBLISH_MS,
      stopTimeoutMs: STOP_MS,
    })
    const link = kafkaLink({ kafka, bus, topics: config.topics, clock: systemClock, log })
    return await serve({ config: { ...config, kafka }, log, clock, open, store, bus, link, watching })
  } catch (error) {
    await open.close()
    throw error
  }
}
