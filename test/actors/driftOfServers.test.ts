/** The drift as Nova sees it: servers that it does not know, or shows on another node. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { novaServersOf } from '../support/novaServers.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { FPGA, openCloud } from './cloud.ts'

const known = (status: string, node: string | null): NovaServer => ({ is: 'known', status, node })

const opened = async () => {
  const said = new Map<string, NovaServer>()
  const nova = novaServersOf(said)
  const { placement, ask } = placementInMemory()
  const world = await openCloud(FPGA, { 'resources:FPGA': '1' }, { novaServers: nova.servers, placement })
  const bound = async (answer: NovaServer) => {
    const { arq, instance } = await world.start()
    await world.pump()
    said.set(instance, answer)
    return { arq, instance }
  }
  const drift = async (ask = true) => value(await world.control.drift.list('h1', {}, ask)).items[0]!
  const ofServers = async () => {
    const { entries, trouble } = await drift()
    const shown = entries.filter(({ kind }) => kind === 'server')
    return { entries: shown.map(({ consumer, arqs, reason }) => [consumer, arqs, reason]), trouble }
  }
  return { ...world, ask, nova, said, bound, drift, ofServers }
}

test('names the servers that Nova does not know, and those that it shows elsewhere', async () => {
  const world = await opened()
  await world.bound(known('ACTIVE', 'h1'))
  await world.bound(known('BUILD', null))
  const gone = await world.bound({ is: 'unknown' })
  const moved = await world.bound(known('ACTIVE', 'h2'))
  const { entries } = await world.ofServers()
  expect(entries).toHaveLength(2)
  expect(entries).toContainEqual([gone.instance, [gone.arq], 'Nova does not know the server (accelerando orphan)'])
  const elsewhere = 'Nova shows the server on the node h2, in the state ACTIVE; its accelerators are bound on h1'
  expect(entries).toContainEqual([moved.instance, [moved.arq], elsewhere])
  expect(world.nova.asked).toHaveLength(4)
  world.said.set(moved.instance, known('SHELVED_OFFLOADED', null))
  world.said.set(gone.instance, known('ACTIVE', 'h1'))
  expect((await world.ofServers()).entries).toEqual([
    [moved.instance, [moved.arq], expect.stringContaining('on no node, in the state SHELVED_OFFLOADED')],
  ])
  await world.stop()
})

test('other requests of such an instance make another difference of it', async () => {
  const world = await opened()
  const { instance } = await world.bound({ is: 'unknown' })
  const ofServer = async () => (await world.drift()).entries.find(({ kind }) => kind === 'server')!
  const before = await ofServer()
  value(await world.control.arqs.removeByInstance(NOVA, instance))
  await world.pump()
  value(await world.bind(await world.create(), instance))
  await world.pump()
  const { uuid, ...after } = await ofServer()
  expect(after.arqs).not.toEqual(before.arqs)
  expect(after.reason).toBe(before.reason)
  expect(uuid).not.toBe(before.uuid)
  await world.stop()
})

test('Nova is asked only on demand, and changes nothing of the rest', async () => {
  const world = await opened()
  await world.bound({ is: 'unknown' })
  const { entries } = await world.drift(false)
  expect([entries.some(({ kind }) => kind === 'server'), world.nova.asked]).toEqual([false, []])
  const all = await world.drift()
  expect(all.entries.filter(({ kind }) => kind !== 'server')).toEqual(entries)
  await world.stop()
})

test('says so when Nova gives no clear answer', async () => {
  const world = await opened()
  // with the compute node of the host in Placement nothing else is in the way
  world.ask('POST', '/resource_providers', { uuid: randomUUID(), name: 'h1' })
  await world.bound({ is: 'unclear', reason: 'Nova answered 503: no' })
  expect(await world.ofServers()).toEqual({
    entries: [],
    trouble: { state: 'unreachable', reason: 'Nova answered 503: no' },
  })
  await world.stop()
})

test('is refused where Nova cannot be asked, or does not show all servers', async () => {
  const world = await opened()
  world.nova.blind = 'no role admin'
  const refusal = (reason: string) => ({ fault: { kind: 'conflict', reason: expect.stringContaining(reason) } })
  expect(await world.control.drift.list(null, {}, true)).toMatchObject(refusal('no role admin'))
  await world.stop()
  const { placement } = placementInMemory()
  const alone = await openPlane({ placement })
  expect(await alone.control.drift.list(null, {}, true)).toMatchObject(refusal('nova.url'))
  expect(value(await alone.control.orphans.list(null).then((it) => ({ ok: true, value: it }) as const))).toMatchObject(
    refusal('nova.url'),
  )
  expect(await alone.control.orphans.collect(NOVA, [randomUUID()])).toMatchObject(refusal('nova.url'))
  await alone.plane.stop()
})
