/**
 * A small cloud that has been in use for a while: hosts that answer, that are silent and that are retired, requests in
 * each state, and something for every operation to do. It can be put back to that moment again and again.
 */
import type { Caller } from '../../src/actors/control.ts'
import type { FoundImages, ImageCatalogue, NovaServer } from '../../src/actors/neighbours.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { ControlOptions, Paces } from '../../src/services/kernel/kernel.ts'
import { openControlPlane } from '../../src/services/controlPlane.ts'
import type { Ids } from '../../src/vocabulary/clock.ts'
import type { Store } from '../../src/persistence/store.ts'
import { card, part, shown, slot } from '../actors/cards.ts'
import { setUp } from '../actors/placementSetUp.ts'
import { handClock } from '../support/lab.ts'
import { imageOf } from '../support/images.ts'
import { type Image, type NoImage, noImage } from '../../src/vocabulary/images.ts'
import { novaServersOf } from '../support/novaServers.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { BOOT, resultOf } from '../support/reports.ts'
import type { OrderResult } from '../../src/wire/reports.ts'

export const NOTE = { by: 'kim', reason: 'a test' }
export const IMAGE = '90000000-0000-4000-8000-00000000000a'
export const FPGA_IMAGE = '90000000-0000-4000-8000-00000000000b'
/** A shell, which nobody may load. */
export const OTHER_IMAGE = '90000000-0000-4000-8000-00000000000c'
const HOUR = 3_600_000
const NODE = '70000000-0000-4000-8000-000000000001'
const OPTIONS = {
  sweepEveryMs: HOUR,
  programWaitMs: 0,
  unboundTtlMs: 0,
  checkEveryMs: 0,
  arqsPerProject: 100,
  missingRounds: 1,
}

const node = (name: string, parent: string | null, more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  ...part(name, { programmable: parent === null, handles: [], numAccelerators: 1 }),
  ...(parent === null ? {} : { parent, attributes: [] }),
  ...more,
})
/** A region with two functions below it. */
const TREE: ReportedDevice = card(0x3b, {
  deployables: [
    node('tree', null, { kind: 'region', numAccelerators: 2, bitstreamId: IMAGE }),
    node('tree_1', 'tree', { kind: 'vf', handles: [{ type: 'PCI', info: slot(0x3b, 1) }] }),
    node('tree_2', 'tree', { kind: 'vf', handles: [{ type: 'PCI', info: slot(0x3b, 3) }] }),
  ],
})
const handlesOf = (bus: number, count = 2): ReportedDeployable['handles'] =>
  Array.from({ length: count }, (_, n) => ({ type: 'PCI', info: slot(bus, n + 1) }))
export const flat = (bus: number, name: string, more: Partial<ReportedDeployable> = {}): ReportedDevice =>
  card(bus, { deployables: [part(name, { handles: handlesOf(bus), ...more })] })
export const GPU = { programmable: false, attributes: [{ key: 'rc', value: 'PGPU' }, ...part('x').attributes.slice(1)] }
/** Cleaned by the host, so that a bind, and the end of one, are orders. */
const WORKED = { hostWork: true }
/** Names of deployables begin with that of their host. */
const on = (host: string, ...devices: readonly ReportedDevice[]): readonly ReportedDevice[] =>
  devices.map((device) => ({
    ...device,
    deployables: device.deployables.map(({ parent, ...one }) => ({
      ...one,
      name: `${host}_${one.name}`,
      ...(parent === undefined ? {} : { parent: `${host}_${parent}` }),
    })),
  }))
export const DEVICES: Readonly<Record<string, readonly ReportedDevice[]>> = {
  h1: on(
    'h1',
    flat(1, 'worked', { ...WORKED, numAccelerators: 4, handles: handlesOf(1, 4) }),
    flat(2, 'gpu', GPU),
    flat(4, 'spare', GPU),
    TREE,
  ),
  h2: on('h2', flat(1, 'silent', WORKED)),
  h3: on('h3', flat(1, 'retired', GPU)),
}

/** It was there once, and has left. */
export const RETURNING = on('h1', flat(7, 'returning', GPU))[0]!

const IMAGES: readonly Image[] = [
  imageOf(IMAGE),
  { ...imageOf(FPGA_IMAGE), name: 'a filter', properties: { 'accel:function_id': 'f1' } },
  { ...imageOf(OTHER_IMAGE), properties: { shell_id: '' } },
]
/** By the value that is searched for. */
const SEARCHED: Readonly<Record<string, FoundImages | NoImage>> = {
  one: { found: true, images: IMAGES.slice(1, 2) },
  two: { found: true, images: IMAGES.slice(0, 2) },
  none: { found: true, images: [] },
  away: noImage('unavailable', 'the store is away'),
  forbidden: noImage('forbidden'),
}
const catalogue: ImageCatalogue = {
  find: async (uuid) => {
    const image = IMAGES.find((one) => one.uuid === uuid)
    return image === undefined ? noImage('unknown') : { found: true, image }
  },
  search: async (wish) => (wish.by === 'all' ? { found: true, images: IMAGES } : SEARCHED[wish.value]!),
}

/** Placement as an operator left it who deleted all providers below the compute node. */
const emptied = () => {
  const cloud = placementInMemory()
  setUp(cloud).provider(NODE, 'h1')
  cloud.asked.length = 0
  return cloud
}

/** The same each time, in the order in which they are made. */
const countedIds = (first: string): Ids => {
  let count = 0
  const next = () => `${first}0000000-0000-4000-8000-${String(++count).padStart(12, '0')}`
  return { uuid: next, ordered: next }
}

type Clock = ReturnType<typeof handClock>
const partsOf = (clock: Clock, ids: Ids, said: ReadonlyMap<string, NovaServer>) => ({
  clock,
  ids,
  images: catalogue,
  novaServers: novaServersOf(said).servers,
  nova: {
    notify: async (events: readonly { readonly tag: string }[]) =>
      events.map(({ tag }) => ({ tag, outcome: 'gone' as const, code: 404 })),
  },
  options: OPTIONS,
})

export const openLivedIn = async () => {
  let clock = handClock()
  const stores = memoryStores({ exclusive: false, now: () => clock.now() })
  const said = new Map<string, NovaServer>()
  const world = await openPlane(
    { ...partsOf(clock, countedIds('a'), said), placement: emptied().placement },
    stores(),
    'when told',
  )
  const { control, plane, report } = world
  const shows = (host: string) => report(host, [shown(...DEVICES[host]!)], BOOT, { bootNumber: 1 })
  await report('h1', [shown(...DEVICES['h1']!, RETURNING)], BOOT, { bootNumber: 1 })
  for (const host of Object.keys(DEVICES)) await shows(host)
  const deployables = value(await control.deployables.list({}, {})).items
  const named = (name: string) => deployables.find((row) => row.name === `${row.hostname}_${name}`)!
  const groups = { f: 'FPGA', g: 'PGPU' }
  for (const [name, rc] of Object.entries({ ...groups, unused: 'FPGA' }))
    value(await control.profiles.create(NOVA, { name, description: null, groups: [{ [`resources:${rc}`]: '1' }] }))
  const instances = countedIds('c')
  for (const by of ['one', 'two', 'away'])
    value(
      await control.profiles.create(NOVA, {
        name: by,
        description: `finds ${by}`,
        groups: [{ 'resources:FPGA': '1', 'accel:function_id': by }],
      }),
    )
  const create = async (profile: string) => value(await control.arqs.create(TENANT, profile))[0]!.uuid
  const bindingOf = (arq: string, on: string, instanceUuid: string) => {
    const { hostname, rp_uuid: deviceRpUuid } = named(on)
    return { arq, hostname, deviceRpUuid: deviceRpUuid!, instanceUuid }
  }
  const bind = async (profile: string, on: string) => {
    const [arq, instance] = [await create(profile), instances.uuid()]
    value(await control.arqs.bind(NOVA, [bindingOf(arq, on, instance)]))
    await world.pump()
    return { arq, instance }
  }
  /** What the host answers to the orders that it has got since. */
  const answers = (): readonly OrderResult[] =>
    world.orders
      .splice(0)
      .map(({ type: order, host, slot, deployableUuid, number, ...more }) =>
        resultOf(host, number, { order, slot, deployableUuid, ...('arq' in more ? { arq: more.arq } : {}) }),
      )
  const answerAll = async () => {
    for (const result of answers()) value(await plane.reports.take(result, `${result.slot}.${result.number}`))
  }
  const onSilent = await bind('f', 'silent')
  await answerAll()
  const onRetired = await bind('g', 'retired')
  value(await control.hosts.retire(NOVA, 'h3', NOTE))
  const bound = await bind('f', 'worked')
  await answerAll()
  const onGpu = await bind('g', 'gpu')
  await clock.pass(HOUR)
  for (const host of ['h1', 'h3']) await shows(host)
  const sweep = async () => {
    for (let n = 0; n < 8; n++) await plane.sweeper.round()
    await plane.sweeper.idle()
  }
  await sweep()
  const left = await create('g')
  const searching = { one: await create('one'), two: await create('two'), away: await create('away') }
  const released = await bind('f', 'worked')
  await answerAll()
  value(await control.arqs.unbind(NOVA, [released.arq]))
  await world.pump()
  const failed = await bind('f', 'worked')
  const reports = answers()
  const [failure] = reports.slice(-1)
  const result = { status: 'failed', reason: 'no', final: true } as const
  value(await plane.reports.take({ ...failure!, result }, 'a failure'))
  await world.pump()
  world.orders.splice(0)
  const pending = await bind('f', 'worked')
  const [[releasing], [preparing]] = [reports, answers()]
  const attribute = value(await control.attributes.create(NOVA, named('spare').uuid, 'rack', '7')).uuid
  const handles = value(await control.handles.list(NOVA, {}, {})).items
  const handleOf = (on: string, state: string) =>
    handles.find((row) => row.deployable_uuid === named(on).uuid && row.state === state)!.uuid
  const [withheld, free] = [handleOf('spare', 'free'), handleOf('gpu', 'free')]
  value(await control.handles.quarantine(NOVA, withheld, NOTE))
  await sweep()
  const drift = value(await control.drift.list('h1', {})).items[0]!
  const { uuid: ignored } = drift.entries.find(({ kind }) => kind === 'hardware')!
  value(await control.drift.ignore(NOVA, { host: 'h1', difference: ignored, until: clock.now() + HOUR }, NOTE))
  const profiles = value(await control.profiles.list(null, {})).items
  const profileOf = (name: string) => profiles.find((row) => row.name === name)!.uuid
  const at = clock.now()
  await plane.stop()
  const restore = stores.standby()
  said.set(onGpu.instance, { is: 'unknown' })
  said.set(bound.instance, { is: 'known', status: 'SHUTOFF', node: 'h9' })
  const journal = await world.store.journal.feed('', 100_000)
  const known = new Set(JSON.stringify(journal).match(UUID))
  return {
    clock: () => clock,
    store: world.store,
    names: {
      ...{ onSilent, onRetired, bound, onGpu, left, searching, named, bindingOf },
      ...{ pending, failed, released, releasing: releasing!, preparing: preparing! },
      ...{ withheld, free, held: handleOf('worked', 'held'), leaving: handleOf('worked', 'releasing'), attribute },
      ...{ drift, ignored, profile: profileOf('f'), unused: profileOf('unused'), journal, at, caller: ADMIN },
    },
    /** A control plane over the cloud as it was, in a process that remembers nothing of it. */
    reopen: async (over: (store: Store) => Store, options: Partial<ControlOptions & Paces> = {}) => {
      restore()
      const { placement } = emptied()
      clock = handClock()
      await clock.pass(at + 1000 - clock.now())
      const store = over(stores())
      return openControlPlane({
        ...partsOf(clock, countedIds('b'), said),
        placement,
        options: { ...OPTIONS, ...options },
        journal: store.journal,
        reads: store.reads,
        sharing: store.sharing,
        landmarks: store.landmarks,
        surroundings: { relay: 'relay', isStopped: async () => false, deadLetters: () => ({ count: 0, lastAt: null }) },
        publish: async () => {},
        log: silent,
      })
    },
    /** The text of an answer, in which what was made since then has no name of its own. */
    textOf: (answer: unknown): string =>
      JSON.stringify(answer, null, 1)
        .replaceAll(UUID, (uuid) => (known.has(uuid) ? uuid : 'new'))
        .replaceAll(/\b\d{13}\b/g, (moment) => (Number(moment) > at ? 'later' : moment)),
    /** What was recorded since. */
    recorded: async () => (await world.store.journal.feed('', 100_000)).slice(journal.length),
  }
}
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
export type LivedIn = Awaited<ReturnType<typeof openLivedIn>>
export const ADMIN: Caller = { ...NOVA, isService: false, userId: 'kim' }
