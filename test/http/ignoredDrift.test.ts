/**
 * Differences that operators ignore for a while: listed and not counted, back at their end, by an operator's word, or
 * when they say anything else. No pass leaves anything out because of it.
 */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { listen, urlOf } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { commandHere } from '../support/commandHere.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { speaker } from './cloud.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const NODE = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b0001'
const PLAN = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 2 }] }
type Entry = {
  readonly uuid: string
  readonly kind: string
  readonly provider_uuid: string
  readonly state: string | null
  readonly reason: string | null
  readonly repairs: readonly string[]
  readonly ignored: object | null
}

/** `sweepEveryMs`: nothing happens by itself unless it is told. */
const opened = async ({ sweepEveryMs = DAY } = {}) => {
  const { placement: working, ask } = placementInMemory()
  let silence: string | null = null
  const placement: Placement = {
    ...working,
    tree: async (root) => (silence === null ? working.tree(root) : { ok: false, error: 'unanswered', reason: silence }),
  }
  const clock = handClock()
  const options = { placementAuditMs: HOUR, staleAfterMs: 400 * DAY, downAfterMs: 500 * DAY, sweepEveryMs }
  const world = await openPlane({ placement, clock, options })
  onTestFinished(async () => {
    await world.plane.stop()
    await world.store.close()
  })
  ask('POST', '/resource_providers', { uuid: NODE, name: 'h1' })
  await world.shows('h1', PLAN)
  const { control } = world
  const app = createApp({ control, identify: noauth, options: { additiveMicroversion: true }, log: silent, clock })
  const { say, must } = speaker(app)
  const heal = () => must(200, 'POST /v2/drift/heal?dry_run=false')
  const entries = async (): Promise<readonly Entry[]> => (await must(200, 'GET /v2/drift')).json.drift[0].entries
  const the = async (kind: string): Promise<Entry> => (await entries()).find((one) => one.kind === kind)!
  const counted = async (): Promise<Readonly<Record<string, number>>> => {
    // a count is kept for a minute at most
    await clock.pass(90_000)
    return (await must(200, 'GET /v2/overview')).json.placement
  }
  const retrait = (uuid: string, traits: readonly string[]) => {
    const { resource_provider_generation: generation } = ask('GET', `/resource_providers/${uuid}/traits`) as {
      readonly resource_provider_generation: number
    }
    ask('PUT', `/resource_providers/${uuid}/traits`, { resource_provider_generation: generation, traits })
  }
  const wish = (difference: string, more: object = {}) => ({
    body: {
      host: 'h1',
      difference,
      until: new Date(clock.now() + 7 * DAY).toISOString(),
      reason: 'Nova has it',
      ...more,
    },
  })
  await heal()
  const silenced = (reason: string | null) => void (silence = reason)
  return { ...world, app, silenced, ask, clock, say, must, heal, the, counted, retrait, wish }
}
type World = Awaited<ReturnType<typeof opened>>

/** Another service claims the provider, so that no pass may touch it. */
const claimed = async ({ control, retrait, heal, the, counted }: World): Promise<Entry> => {
  const [place] = value(await control.deployables.list({}, {})).items
  retrait(place!.rp_uuid!, ['OWNER_CYBORG', 'OWNER_NOVA'])
  await heal()
  expect(await counted()).toEqual({ placement_conflict: 1 })
  return the('provider')
}

test('what is ignored is listed with its reason, and counts neither in the overview nor for a repair', async () => {
  const world = await opened()
  const { must, wish, counted, the, heal, clock } = world
  const { uuid, provider_uuid: provider } = await claimed(world)
  const until = new Date(clock.now() + 7 * DAY).toISOString()
  const ignored = (await must(200, 'POST /v2/drift/ignored', wish(uuid, { until }))).json
  expect(ignored).toMatchObject({ uuid, host: 'h1', kind: 'provider', provider_uuid: provider, reason: 'Nova has it' })
  expect([Date.parse(ignored.until), ignored.ended]).toEqual([Date.parse(until), null])
  expect((await the('provider')).ignored).toMatchObject({ reason: 'Nova has it', by: ignored.by })
  expect((await must(200, 'GET /v2/drift/ignored')).json.ignored).toEqual([ignored])
  expect((await must(200, 'GET /v2/drift/ignored?host=another')).json.ignored).toEqual([])
  expect(await counted()).toEqual({ in_sync: 1 })
  const [healed] = (await heal()).json.healed
  expect(healed).toMatchObject({ host: 'h1', outcome: 'in_step', left: { entries: [{ uuid }] } })
})

test('it is back by itself at its end, in each answer at once and in the count with the next pass', async () => {
  const world = await opened({ sweepEveryMs: 60_000 })
  const { must, wish, counted, the, clock } = world
  const { uuid } = await claimed(world)
  await must(200, 'POST /v2/drift/ignored', wish(uuid, { until: new Date(clock.now() + 3 * HOUR).toISOString() }))
  await clock.pass(3 * HOUR - 10 * 60_000)
  expect(await counted()).toEqual({ in_sync: 1 })
  await clock.pass(10 * 60_000)
  expect((await the('provider')).ignored).toBeNull()
  expect((await must(200, 'GET /v2/drift/ignored')).json.ignored).toEqual([])
  // a database takes its time, and the clock does not wait for it
  await expect.poll(counted, { timeout: 30_000 }).toEqual({ placement_conflict: 1 })
  await must(404, `GET /v2/drift/ignored/${uuid}`)
})

test('an operator ends it, more than once without harm, and it counts again', async () => {
  const world = await opened()
  const { must, wish, counted, the } = world
  const { uuid } = await claimed(world)
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  const end = () => must(200, `POST /v2/drift/ignored/${uuid}/end`, { body: { reason: 'it is ours after all' } })
  const first = (await end()).json
  expect(first.ended).toMatchObject({ reason: 'it is ours after all' })
  expect((await end()).json).toEqual(first)
  expect((await the('provider')).ignored).toBeNull()
  expect(await counted()).toEqual({ placement_conflict: 1 })
  // it can be ignored anew
  expect((await must(200, 'POST /v2/drift/ignored', wish(uuid))).json.ended).toBeNull()
  expect(await counted()).toEqual({ in_sync: 1 })
})

test('it is back at once when it says anything else', async () => {
  const world = await opened()
  const { must, wish, counted, the, retrait, heal } = world
  const { uuid, provider_uuid: provider } = await claimed(world)
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  retrait(provider, ['OWNER_CYBORG', 'COMPUTE_MANAGED_PCI_DEVICE'])
  await heal()
  const other = await the('provider')
  expect([other.uuid === uuid, other.ignored]).toEqual([false, null])
  expect(await counted()).toEqual({ placement_conflict: 1 })
})

test('what a pass repairs is refused, and what is ignored is repaired as soon as that is possible', async () => {
  const world = await opened()
  const { ask, must, say, wish, the, retrait, heal, counted } = world
  const { uuid, provider_uuid: provider } = await claimed(world)
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  retrait(provider, ['OWNER_CYBORG'])
  const { uuid: repairable, repairs, ignored } = await the('provider')
  expect([repairs, ignored]).toEqual([expect.arrayContaining(['traits']), null])
  const refused = await say('POST /v2/drift/ignored', wish(repairable))
  expect([refused.status, refused.json.errors[0].detail]).toEqual([409, expect.stringContaining('repairs this')])
  await heal()
  const { traits } = ask('GET', `/resource_providers/${provider}/traits`) as { readonly traits: readonly string[] }
  expect(traits.length).toBeGreaterThan(1)
  expect(await counted()).toEqual({ in_sync: 1 })
})

test('units that are bound without an allocation are withheld all the same, and counted for whoever is not ignored', async () => {
  const world = await opened()
  const { control, must, wish, heal, counted, ask } = world
  const [place] = value(await control.deployables.list({}, {})).items
  const bind = async () => {
    const [name, instance] = [randomUUID(), randomUUID()]
    value(await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:FPGA': '1' }] }))
    const [arq] = value(await control.arqs.create(NOVA, name))
    const at = { hostname: 'h1', deviceRpUuid: place!.rp_uuid!, instanceUuid: instance }
    value(await control.arqs.bind(NOVA, [{ arq: arq!.uuid, ...at }]))
    return instance
  }
  await bind()
  await heal()
  expect(await counted()).toEqual({ withheld: 1 })
  const reserved = () => {
    const { inventories } = ask('GET', `/resource_providers/${place!.rp_uuid}/inventories`) as {
      readonly inventories: Readonly<Record<string, { readonly reserved: number }>>
    }
    return Object.values(inventories)[0]!.reserved
  }
  const { uuid } = await world.the('arq_without_allocation')
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  expect([await counted(), reserved()]).toEqual([{ in_sync: 1 }, 1])
  await bind()
  await heal()
  expect([await counted(), reserved()]).toEqual([{ withheld: 1 }, 2])
})

const allocate = ({ ask }: World, consumer: string, provider: string, units: number, generation: number | null) => {
  const allocations = units === 0 ? {} : { [provider]: { resources: { FPGA: units } } }
  const whose = { project_id: 'p', user_id: 'u', consumer_type: 'INSTANCE', consumer_generation: generation }
  ask('PUT', `/allocations/${consumer}`, { allocations, ...whose })
}

test('an instance that lacks more units than the ignored difference says counts again', async () => {
  const world = await opened()
  const { control, must, wish, heal, counted, the } = world
  const [place] = value(await control.deployables.list({}, {})).items
  const [name, instanceUuid] = [randomUUID(), randomUUID()]
  value(await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:FPGA': '2' }] }))
  const at = { hostname: 'h1', deviceRpUuid: place!.rp_uuid!, instanceUuid }
  const arqs = value(await control.arqs.create(NOVA, name))
  value(
    await control.arqs.bind(
      NOVA,
      arqs.map(({ uuid: arq }) => ({ arq, ...at })),
    ),
  )
  allocate(world, instanceUuid, place!.rp_uuid!, 1, null)
  await heal()
  const { uuid, reason } = await the('arq_without_allocation')
  expect(reason).toBe('units without an allocation: 1')
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  expect(await counted()).toEqual({ in_sync: 1 })
  allocate(world, instanceUuid, place!.rp_uuid!, 0, 1)
  await heal()
  expect(await the('arq_without_allocation')).toMatchObject({ reason: 'units without an allocation: 2', ignored: null })
  expect(await counted()).toEqual({ withheld: 1 })
})

test('an allocation of more units than the ignored difference says is another difference', async () => {
  const world = await opened()
  const { control, must, wish, the } = world
  const [place] = value(await control.deployables.list({}, {})).items
  const consumer = randomUUID()
  allocate(world, consumer, place!.rp_uuid!, 1, null)
  await must(200, 'POST /v2/drift/ignored', wish((await the('allocation_without_arq')).uuid))
  expect((await the('allocation_without_arq')).ignored).not.toBeNull()
  allocate(world, consumer, place!.rp_uuid!, 2, 1)
  expect(await the('allocation_without_arq')).toMatchObject({ reason: 'allocated units: 2', ignored: null })
})

test('another attach handle in quarantine is another difference, although as many are', async () => {
  const world = await opened()
  const { must, wish, the, heal } = world
  const [one, other] = (await must(200, 'GET /v2/handles?state=free&hostname=h1')).json.handles
  const body = { reason: 'ECC errors' }
  await must(200, `POST /v2/handles/${one.uuid}/quarantine`, { body })
  await heal()
  const { uuid, reason } = await the('hardware')
  await must(200, 'POST /v2/drift/ignored', wish(uuid))
  await must(200, `POST /v2/handles/${one.uuid}/release`, { body })
  await must(200, `POST /v2/handles/${other.uuid}/quarantine`, { body })
  await heal()
  expect(await the('hardware')).toMatchObject({ reason, ignored: null })
})

test('a host that cannot be compared may still show the difference: 503 says why', async () => {
  const world = await opened()
  const { say, wish, silenced } = world
  const { uuid } = await claimed(world)
  silenced('no answer in time')
  const { status, json } = await say('POST /v2/drift/ignored', wish(uuid))
  expect([status, json.errors[0].detail]).toEqual([503, expect.stringContaining('unreachable: no answer in time')])
  silenced(null)
  expect((await say('POST /v2/drift/ignored', wish(randomUUID()))).status).toBe(404)
})

test('input that breaks a rule is refused, and the refusal names the field', async () => {
  const world = await opened()
  const { say, wish, clock } = world
  const { uuid } = await claimed(world)
  const day = (ms: number) => new Date(clock.now() + ms).toISOString()
  for (const [status, field, more] of [
    [409, 'until', { until: day(-1000) }],
    [409, 'until', { until: day(92 * DAY) }],
    [400, 'until', { until: 'tomorrow' }],
    [400, 'difference', { difference: 'that one' }],
    [400, 'reason', { reason: ' ' }],
    [400, 'host', { host: '' }],
    [404, 'h2', { host: 'h2' }],
    [404, 'difference of host h1', { difference: randomUUID() }],
  ] as const) {
    const { status: got, json } = await say('POST /v2/drift/ignored', wish(uuid, more))
    expect([got, json.errors[0].detail]).toEqual([status, expect.stringContaining(field)])
  }
  const unknown = await say(`POST /v2/drift/ignored/${randomUUID()}/end`, { body: { reason: 'a test' } })
  expect(unknown.status).toBe(404)
})

test('a decision that is sent again under its key is made once', async () => {
  const world = await opened()
  const { must, wish } = world
  const { uuid } = await claimed(world)
  const keyed = { ...wish(uuid), headers: { 'idempotency-key': randomUUID() } }
  const first = await must(200, 'POST /v2/drift/ignored', keyed)
  await must(200, `POST /v2/drift/ignored/${uuid}/end`, { body: { reason: 'no more' } })
  const again = await must(200, 'POST /v2/drift/ignored', keyed)
  expect([again.json.reason, again.json.ended]).toEqual([
    first.json.reason,
    expect.objectContaining({ reason: 'no more' }),
  ])
})

test('the commands ignore a difference and end that', async () => {
  const world = await opened()
  const { clock, the, counted } = world
  const { uuid } = await claimed(world)
  const served = await listen(world.app, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close(0))
  const said = async (...args: readonly string[]) => {
    const { code, out, err } = await commandHere(['drift', ...args], { ACCELERANDO_URL: `${urlOf(served)}/v2` })
    expect([code, err], args.join(' ')).toEqual([0, ''])
    return out
  }
  const until = new Date(clock.now() + DAY).toISOString().slice(0, 10)
  const midnight = new Date(until).toISOString().slice(0, 19)
  const made = await said('ignore', uuid, '--host', 'h1', '--until', until, '--reason', 'Nova has it')
  expect(made).toMatch(new RegExp(`^uuid +${uuid}\n(.*\n)*until +${midnight}\\S+\n(.*\n)*ended +-$`, 'm'))
  expect(made).toMatch(/^why it is ignored +Nova has it$/m)
  expect((await the('provider')).ignored).toMatchObject({ reason: 'Nova has it' })
  expect((await said('ignored', '-f', 'value', '-c', 'uuid')).trim()).toBe(uuid)
  expect(await counted()).toEqual({ in_sync: 1 })
  const ended = await said('unignore', uuid, '--reason', 'it is ours')
  expect(ended).toMatch(/^ended +by \S+ at \S+: it is ours$/m)
  expect((await the('provider')).ignored).toBeNull()
  expect(await said('ignored', '-f', 'value', '-c', 'uuid')).toBe('')
  expect(await counted()).toEqual({ placement_conflict: 1 })
})
