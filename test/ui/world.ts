/** A console over a cloud in which everything that a page can show has happened. */
import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { createApp } from '../../src/http/app.ts'
import { type Identify, noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { ImageCatalogue, Nova } from '../../src/actors/neighbours.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import { type Clock, systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { createUi } from '../../src/ui/app.ts'
import { loadAssets } from '../../src/ui/assets.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { noCatalogue } from '../support/images.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { openPlane } from '../support/plane.ts'
import { systemHere } from '../support/systemHere.ts'
import { bindBody, speaker } from '../http/cloud.ts'
import { service } from '../http/steps.ts'

type UiParts = Parameters<typeof createUi>[0]
export type Fetch = UiParts['fetch']
export type SignIn = NonNullable<UiParts['signIn']>

export const ROLES: Readonly<Record<string, readonly string[]>> = {
  'token-of-admin': ['admin', 'manager', 'member', 'reader'],
  'token-of-member': ['member', 'reader'],
}
const UNAUTHENTICATED = {
  ok: false,
  fault: { kind: 'unauthenticated', challenge: 'Keystone uri="http://keystone"' },
} as const
/**
 * As with an identity service: who shows a token is somebody, and all else that a request says of itself counts for
 * nothing.
 */
export const withTokens: Identify = (header) => {
  const token = header('x-auth-token') ?? ''
  const roles = ROLES[token]
  return roles === undefined
    ? UNAUTHENTICATED
    : {
        userId: `user-of-${token}`,
        projectId: token === 'token-of-admin' ? 'operations' : 'p2',
        roles,
        serviceRoles: [],
      }
}
export const signIn: SignIn = {
  identity: 'http://keystone',
  withPassword: async ({ user, password }) =>
    password === 'right'
      ? { ok: true, token: `token-of-${user}`, lifeMs: 3_600_000 }
      : { ok: false, reason: 'Keystone does not accept this user, password and project.' },
  revoke: async () => ({ ok: true }),
}

/** As a browser sends with a form of the console itself. */
export const SAME = { 'sec-fetch-site': 'same-origin' }
/** What a page says, without its elements. */
export const wordsOf = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

let assets: ReturnType<typeof loadAssets> | null = null
/** As the program bars what scripts of other sites ask. */
const OTHER_SITES = new Set(['cross-site', 'same-site'])

/** `pass` lets time go on between the things that happen; without it they happen as fast as they can. */
export type Pace = { readonly clock: Clock; readonly pass: (ms: number) => Promise<void> }
const REAL: Pace = { clock: systemClock, pass: async () => {} }

const HOSTS: Readonly<Record<string, SimulatedPlan>> = {
  'compute-1': {
    seed: 1,
    devices: [
      { kind: 'fpga', handles: 8 },
      { kind: 'gpu', handles: 1 },
    ],
  },
  'compute-2': { seed: 2, devices: [{ kind: 'gpu', handles: 1 }] },
}
type Others = {
  readonly images?: ImageCatalogue
  readonly nova?: Nova
  readonly placement?: Placement
  readonly hosts?: readonly string[]
}
/**
 * `images`, `nova`, `placement`: without them there is no image store, no Nova, no Placement. `hosts`: those that have
 * reported.
 */
export const openUiWorld = async (
  pace: Pace = REAL,
  { images = noCatalogue(), nova, placement, hosts = Object.keys(HOSTS) }: Others = {},
) => {
  const { clock } = pace
  const plane = await openPlane(
    { clock, images, ...(nova && { nova }), ...(placement && { placement }) },
    undefined,
    'when told',
  )
  /** As the relay does, which saves how far it came. */
  const relayed = async () => {
    await plane.pump()
    await plane.store.journal.saveCheckpoint('relay', await plane.store.journalEnd())
  }
  const unsubscribe = plane.store.journal.onAppended(() => void relayed())
  for (const host of hosts) await plane.shows(host, HOSTS[host]!)
  const api = createApp({
    control: plane.control,
    identify: noauth,
    clock,
    log: silent,
    about: () => ({ version: '1.2.3', store: 'memory', nova: 'absent' }),
  })
  const { must, say, arq } = speaker(api)
  const { deployables } = (await must(200, 'GET /v2/deployables')).json
  const fpga = deployables.find(({ attributes_list: list }: { attributes_list: string }) => list.includes('"FPGA"'))
  const newProfile = (name: string, description: string | null = null) =>
    must(201, 'POST /v2/device_profiles', { body: [{ name, description, groups: [{ 'resources:FPGA': '1' }] }] })
  /** The order reaches its host, which does not answer before it is told to. */
  const begun = async (profile: string) => {
    const { json } = await must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: profile } })
    const instance = randomUUID()
    await must(202, 'PATCH /v2/accelerator_requests', {
      body: bindBody(json.arqs, fpga.rp_uuid, instance, 'compute-1'),
      headers: service,
    })
    await plane.pump()
    const [{ uuid }] = json.arqs
    const order = plane.orders.findLast((each) => each.type === 'PrepareSlot' && each.arq === uuid)!
    return { uuid: uuid as string, instance, order }
  }
  const bound = async (profile: string) => {
    const one = await begun(profile)
    await plane.answer(one.order)
    return one
  }
  const failed = async (profile: string) => {
    const one = await begun(profile)
    await plane.answer(one.order, { status: 'failed', reason: 'the card did not answer: link down', final: true })
    return one
  }
  const close = async () => {
    plane.events.stop()
    unsubscribe()
    await plane.pump()
    await plane.plane.stop()
    await plane.store.close()
  }
  const novaSaid = nova === undefined ? 'absent' : 'in use'
  return { ...plane, ...pace, novaSaid, api, must, say, arq, newProfile, begun, bound, failed, fpga, close }
}
export type UiWorld = Awaited<ReturnType<typeof openUiWorld>>

/** A message of a host that nobody can read. Returns the UUID of its dead letter. */
export const bury = async (
  { bus, clock, must }: Pick<UiWorld, 'bus' | 'clock' | 'must'>,
  offset: number,
  value = 'no JSON',
) => {
  const of = { topic: 'host.reports.v1', key: 'compute-1', value, headers: { 'report-kind': 'Inventory' } }
  await bus.publish([
    deadLetterRecord(of, 'message: must be JSON', { id: `host.reports.v1/3/${offset}`, time: clock.now() }),
  ])
  const { dead_letters: letters } = (await must(200, 'GET /v2/dead_letters?limit=1000')).json
  return letters.find((letter: { offset: number }) => letter.offset === offset).uuid as string
}

/** Everything once: bound, failed, waiting, not bound; withheld, disabled, retired. */
export const lived = async (world: UiWorld) => {
  const { must, newProfile, bound, failed, begun, pass } = world
  await newProfile('fpga-small', 'One function of the card')
  const one = await bound('fpga-small')
  await pass(3_700_000)
  const bad = await failed('fpga-small')
  await pass(65_000)
  const open = await begun('fpga-small')
  await pass(1234)
  await must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'fpga-small' } })
  const free = (await must(200, 'GET /v2/handles?state=free&hostname=compute-1')).json.handles[0].uuid as string
  await must(200, `POST /v2/handles/${free}/quarantine`, { body: { reason: 'ECC errors in its log' } })
  const device = (await must(200, 'GET /v2/devices?hostname=compute-1&type=GPU')).json.devices[0].uuid as string
  await must(204, `POST /v2/devices/${device}/disable`)
  const card = (await must(200, 'GET /v2/devices?hostname=compute-1&type=FPGA')).json.devices[0].uuid as string
  await must(200, 'POST /v2/hosts/compute-2/retire', { body: { reason: 'replaced next week' } })
  const letter = await bury(world, 1700, 'no JSON: \u202eä\n\u0007')
  await bury(world, 1701, 'x'.repeat(70_000))
  return { bound: one, failed: bad, open, handle: free, device, card, letter }
}
export type Lived = Awaited<ReturnType<typeof lived>>

/** Every view, in the states of that world. */
export const placesOf = ({ bound, failed, open, handle, device, card, letter }: Lived): readonly string[] => [
  '',
  'arqs',
  'arqs?state=BindFailed',
  'arqs?state=Deleting',
  `arqs/${bound.uuid}`,
  `arqs/${failed.uuid}`,
  `arqs/${open.uuid}`,
  `arqs/${failed.uuid}?t=table&r=1`,
  'timeline',
  `arqs/${bound.uuid}/do/force-unbind`,
  `arqs/${bound.uuid}/do/delete`,
  `instances/${bound.instance}`,
  `instances/${failed.instance}`,
  `instances/${bound.instance}/do/resend`,
  'hosts',
  'hosts/compute-1',
  'hosts/compute-2',
  'devices',
  'devices?hostname=compute-1&state=enabled',
  'devices?state=failing',
  `arqs?instance=${bound.instance}`,
  `devices/${device}`,
  `devices/${card}`,
  'handles',
  `handles/${handle}`,
  'profiles',
  'profiles/fpga-small',
  'explain',
  'explain?profile=fpga-small',
  `explain?draft=${encodeURIComponent('[{"resources:PGPU":"9"}]')}&host=compute-1`,
  'capacity',
  'capacity?resource_class=FPGA',
  'usage',
  'usage?period=day',
  'events',
  'events?after=0&kind=arq',
  'programs',
  'drift',
  'deliveries',
  'deliveries?state=undelivered',
  'letters',
  'letters?state=dropped',
  `letters/${letter}`,
  `letters/${letter}?form=hex`,
  `letters/${letter}/do/replay`,
  `letters/${letter}/do/drop`,
  'system',
]
/** Places where nothing is. */
export const ASTRAY: readonly string[] = [
  `arqs/${'0'.repeat(8)}-0000-4000-8000-000000000000`,
  'hosts/nowhere',
  'profiles/none',
  `letters/${'0'.repeat(8)}-0000-4000-8000-000000000000`,
  'find?q=nothing-of-this-name',
]

type Seen = {
  readonly fetch?: (request: Request) => void
  readonly tokens?: boolean
  readonly assets?: UiParts['assets']
}
/** The API of that world, with its events. `additive`: with the microversions that are offered on request only. */
export const apiOf = (
  {
    control,
    events,
    store,
    clock,
    novaSaid = 'absent',
  }: Pick<UiWorld, 'control' | 'events'> & {
    readonly store?: UiWorld['store']
    readonly clock?: Clock
    readonly novaSaid?: string
  },
  { tokens = false, additive = false }: { readonly tokens?: boolean; readonly additive?: boolean } = {},
): Fetch => {
  const api: Hono = createApp({
    control,
    events,
    system: systemHere({ few: true, app: () => api, ...(store && { store }), ...(clock && { clock }) }),
    clock: clock ?? systemClock,
    identify: tokens ? withTokens : noauth,
    options: { anyHost: true, additiveMicroversion: additive },
    log: silent,
    about: () => ({
      version: '1.2.3',
      store: 'memory',
      keystone: 'absent',
      placement: 'absent',
      nova: novaSaid,
      images: 'absent',
    }),
  })
  return (request) => api.fetch(request)
}
/**
 * A console over that API. `fetch` sees each request to the API; `tokens`: people have to sign in; `assets` in place of
 * the real ones.
 */
export const createConsole = (
  world: Parameters<typeof apiOf>[0],
  { fetch: see = () => {}, tokens = false, assets: own }: Seen = {},
) => {
  const api = apiOf(world, { tokens })
  const fetch: Fetch = (request) => {
    see(request)
    return api(request)
  }
  return consoleOf(fetch, tokens ? signIn : null, { clock: world.clock, assets: own })
}
const REAL_ASSETS = () => (assets ??= loadAssets())
export const consoleOf = (
  fetch: Fetch,
  signing: SignIn | null = null,
  {
    clock = systemClock,
    assets: given = REAL_ASSETS,
    documents,
  }: Pick<UiParts, 'documents'> & {
    readonly clock?: Clock | undefined
    readonly assets?: UiParts['assets'] | undefined
  } = {},
) =>
  createUi({
    fetch,
    assets: given,
    ...(documents !== undefined && { documents }),
    signIn: signing,
    barred: (header) => (OTHER_SITES.has(header('sec-fetch-site') ?? '') ? 'barred' : null),
    clock,
    ids: systemIds,
    log: silent,
  })
