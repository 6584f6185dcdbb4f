/**
 * The cases of the short form: servers that come and go with their accelerators, and what is left of those that could
 * not come.
 */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { ControlMember } from '../support/cluster.ts'
import { HANDLES, type NovaService, UNITS } from './service.ts'
import { type ShownArq, type ShownServer, until } from './users.ts'

export const FPGA = { 'resources:FPGA': '1' }
export const NOTHING = { arqs: 0, allocations: {} }

/** What the server holds: its ARQs here, and its units of our providers in Placement. */
export const heldBy = async ({ users, deployables }: NovaService, server: string) => {
  const ours = new Set((await deployables()).map(({ rp_uuid }) => rp_uuid))
  const allocations = Object.entries(await users.allocationsOf(server)).filter(([provider]) => ours.has(provider))
  return {
    arqs: (await users.arqsOf(server)).length,
    allocations: Object.fromEntries(
      allocations.map(([provider, { resources }]) => [provider, Object.values(resources).reduce((sum, n) => sum + n)]),
    ),
  }
}
type Handle = { readonly state: string; readonly arq_uuid: string | null }
/** Everything is as before the first server: no ARQ, no handle that is not free. */
export const allFree = ({ users }: NovaService) =>
  until(
    async () => {
      const [arqs, handles] = [
        await users.listed('accelerator_requests', 'arqs'),
        await users.listed<Handle>('handles'),
      ]
      return { arqs: arqs.length, free: handles.filter(({ state }) => state === 'free').length, all: handles.length }
    },
    ({ arqs, free, all }) => arqs === 0 && free === HANDLES && all === HANDLES,
  )

/** Ends what a test that failed has left, so that the next begins with a free cloud. */
export const tidied = async (service: NovaService): Promise<void> => {
  const { users, balancer, fault, controls, hosts } = service
  balancer.before(() => undefined)
  for (const host of hosts) host.resume()
  fault('compute-1', null)
  for (const control of controls) if (control.running() === null) await control.start()
  await users.remove(...users.left())
  await allFree(service)
}

/** Each bound ARQ is the server's, on the server's host, and of the providers that Placement allocated. */
export const rightlyBound = async (
  service: NovaService,
  id: string,
  count: number,
  type: 'PCI' | 'MDEV' = 'PCI',
): Promise<readonly ShownArq[]> => {
  const { users, deployables } = service
  const [{ host }, arqs, places] = [await users.shown(id), await users.arqsOf(id), await deployables()]
  const hostOf = new Map(places.map(({ rp_uuid, name }) => [rp_uuid, name.split('_')[0]]))
  expect(arqs).toHaveLength(count)
  const units: Record<string, number> = {}
  for (const { device_rp_uuid: provider, ...arq } of arqs) {
    expect(arq).toMatchObject({ state: 'Bound', instance_uuid: id, hostname: host, attach_handle_type: type })
    expect(hostOf.get(provider!)).toBe(host)
    units[provider!] = (units[provider!] ?? 0) + 1
  }
  expect((await heldBy(service, id)).allocations).toEqual(units)
  return arqs
}

export const boots = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))
  const expectFailed = async (server: ShownServer): Promise<void> => {
    const { users, fault } = service
    expect(server).toMatchObject({ status: 'ERROR', fault: expect.stringContaining('accelerator requests') })
    // Nova keeps what it has allocated until the server is deleted.
    expect((await heldBy(service, server.id)).arqs).toBe(0)
    fault('compute-1', null)
    await users.remove(server.id)
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  }

  test.each([
    ['one accelerator', [FPGA], 1],
    ['two of one group', [{ 'resources:FPGA': '2' }], 2],
    ['one of each of two groups', [FPGA, FPGA], 2],
  ] as const)('a server with %s is ACTIVE with bound ARQs, and its deletion frees all', async (_, groups, count) => {
    const { users } = service
    const server = await users.boot(await users.flavor(...groups))
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
    await rightlyBound(service, server.id, count)
    await users.remove(server.id)
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  })

  test('without enough units on any host Nova finds no host, and nothing is left behind', async () => {
    const { users } = service
    const server = await users.boot(await users.flavor({ 'resources:FPGA': String(UNITS) }))
    expect(server).toMatchObject({ status: 'ERROR', host: null, fault: expect.stringContaining('No valid host') })
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
    await users.remove(server.id)
  })

  test('servers that may go to a host where binds fail are ACTIVE elsewhere or in ERROR, and nothing leaks', async () => {
    const { users, fault } = service
    // one unit is left on the other host, so that not both servers can go there
    for (const units of ['4', '3']) await users.boot(await users.flavor({ 'resources:FPGA': units }), 'compute-2')
    fault('compute-1', { failPrepare: true })
    const flavor = await users.flavor(FPGA)
    const ended = [await users.boot(flavor), await users.boot(flavor)]
    for (const { id, status, host, fault: why } of ended) {
      if (status === 'ACTIVE') {
        expect(host).toBe('compute-2')
        await rightlyBound(service, id, 1)
        continue
      }
      expect(why).toContain('accelerator requests')
      expect((await heldBy(service, id)).arqs).toBe(0)
    }
    expect(ended.map(({ status }) => status)).toContain('ERROR')
    await users.remove(...ended.map(({ id }) => id))
    for (const { id } of ended) expect(await heldBy(service, id)).toEqual(NOTHING)
  })

  test('a bind that fails on its host at once sets the server to ERROR, and nothing leaks', async () => {
    const { users, fault } = service
    fault('compute-1', { failPrepare: true })
    const server = await users.boot(await users.flavor({ 'resources:FPGA': '2' }), 'compute-1')
    await expectFailed(server)
  })

  test('a bind that fails while Nova waits for its event ends the boot by the event, and nothing leaks', async () => {
    const { users, fault, balancer, hosts } = service
    const host = hosts.find(({ name }) => name === 'compute-1')!
    fault('compute-1', { failPrepare: true })
    // the host goes on when Nova has read that nothing is decided yet: from then on it reads no more
    balancer.before(({ method }) => {
      if (method === 'PATCH') host.pause()
    })
    const before = balancer.passed().length
    const id = await users.begin(await users.flavor({ 'resources:FPGA': '2' }), 'compute-1')
    const reads = () =>
      balancer
        .passed()
        .slice(before)
        .filter(({ method, path }) => method === 'GET' && path.includes(`instance=${id}`))
        .map(({ status }) => status)
    await expect.poll(reads, { timeout: 60_000 }).toEqual([200])
    const all = await users.listed<ShownArq>('accelerator_requests', 'arqs')
    const arqs = all.filter(({ instance_uuid: instance }) => instance === id)
    expect(arqs.map(({ state }) => state)).toEqual(['BindStarted', 'BindStarted'])
    host.resume()
    const server = await users.ended(id)
    expect(reads()).toEqual([200])
    for (const { uuid } of arqs) {
      const said = async () => (await users.timelineOf(uuid)).steps.map(({ step }) => step)
      await expect.poll(said).toEqual(expect.arrayContaining(['bind failed', 'nova told: delivered']))
    }
    await expectFailed(server)
  })

  test('a control that is killed between the creation of ARQs and their bind is not missed', async () => {
    const { users, balancer, controls } = service
    const killed: ControlMember[] = []
    balancer.before(async ({ method }) => {
      if (method !== 'PATCH' || killed.length > 0) return
      const { by } = balancer.passed().findLast((one) => one.method === 'POST')!
      const control = controls.find(({ origin }) => origin === by)!
      killed.push(control)
      await control.end('SIGKILL')
    })
    const server = await users.boot(await users.flavor({ 'resources:FPGA': '2' }))
    balancer.before(() => undefined)
    expect(killed).toHaveLength(1)
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
    await rightlyBound(service, server.id, 2)
    await users.remove(server.id)
    await killed[0]!.start()
  })
}
