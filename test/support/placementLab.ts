/**
 * A Placement, real or double, as a test uses it: through the client of the service, and as an operator or Nova would,
 * with any request.
 */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type {
  Inventories,
  InventoryRecord,
  Placement,
  PlacementError,
  PlacementResult,
} from '../../src/actors/placement/port.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { createPlacement } from '../../src/neighbours/openstack/placement.ts'
import { type Answer, createSender } from '../../src/neighbours/openstack/send.ts'
import { type Call, createSession, type Session, type SessionOptions } from '../../src/neighbours/openstack/session.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Reply = { readonly status: number; readonly body: unknown }
/** `instead`: sent in place of the request. */
type Around = (call: Call, carryOut: (instead?: Call) => Promise<Answer>) => Promise<Answer>
export type PlacementLab = {
  readonly placement: Placement
  /** Method and path of each request of that client. */
  readonly asked: string[]
  /** Lets a test refuse the requests of that client, or do something before and after them; null: no more. */
  readonly meddle: (around: Around | null) => void
  /** `version`: the highest unless told. */
  readonly ask: (method: Method, path: string, body?: unknown, version?: string) => Promise<Reply>
  /** A compute node as Nova makes it; answers with its UUID. */
  readonly node: (name?: string) => Promise<string>
  /** A child of it, with nothing. */
  readonly child: (parent: string, name?: string) => Promise<string>
  /** A compute node with one provider of ours, made by the client. */
  readonly ours: () => Promise<{ readonly root: string; readonly uuid: string; readonly name: string }>
  /** By the client, with the present generation. */
  readonly setInventories: (uuid: string, inventories: Inventories) => Promise<PlacementResult<number>>
  readonly setTraits: (uuid: string, traits: readonly string[]) => Promise<PlacementResult<number>>
  /** Allocates for a consumer, as Nova does, in the generation that Placement shows; answers with the status. */
  readonly allocate: (
    consumer: string,
    holds: Readonly<Record<string, Readonly<Record<string, number>>>>,
    consumerGeneration?: number,
  ) => Promise<number>
  readonly release: (consumer: string) => Promise<number>
  readonly generation: (uuid: string) => Promise<number>
  readonly close: () => Promise<void>
}

export const record = (total: number, reserved = 0): InventoryRecord => ({
  total,
  reserved,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: 1,
})
export const well = (value: unknown): object => ({ ok: true, value })
export const placementFailure = (name: PlacementError, reason = ''): object => ({
  ok: false,
  error: name,
  reason: expect.stringContaining(reason),
})
export const customName = (): string => `CUSTOM_IT_${randomUUID().replaceAll('-', '').toUpperCase()}`
export const uniqueName = (): string => `it-${randomUUID()}`

export const placementLab = (options: SessionOptions): PlacementLab => {
  const sender = createSender(null)
  const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
  return placementLabOn(session, sender.close)
}
export const placementLabOn = (session: Pick<Session, 'call'>, close = async () => {}): PlacementLab => {
  const asked: string[] = []
  let around: Around | null = null
  const placement = createPlacement({
    call: (call) => {
      asked.push(`${call.method} ${call.path}`)
      return around === null ? session.call(call) : around(call, (instead = call) => session.call(instead))
    },
  })
  const ask: PlacementLab['ask'] = async (method, path, body, version = 'latest') => {
    const headers = { 'openstack-api-version': `placement ${version}`, 'content-type': 'application/json' }
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await session.call({ service: 'placement', method, path, headers, ...text })
    return { status: answer.status, body: answer.text === '' ? null : (JSON.parse(answer.text) as unknown) }
  }
  const create = async (name: string, parent: string | null): Promise<string> => {
    const uuid = randomUUID()
    const { status } = await ask('POST', '/resource_providers', { uuid, name, parent_provider_uuid: parent })
    if (status !== 200) throw new Error(`a provider was not created: ${status}`)
    return uuid
  }
  const consumerGeneration = async (consumer: string): Promise<number | null> => {
    const { body } = await ask('GET', `/allocations/${consumer}`)
    return (body as { readonly consumer_generation?: number }).consumer_generation ?? null
  }
  const node = async (name = uniqueName()): Promise<string> => {
    const uuid = await create(name, null)
    const inventories = { VCPU: { total: 16 }, MEMORY_MB: { total: 65_536 } }
    await ask('PUT', `/resource_providers/${uuid}/inventories`, { resource_provider_generation: 0, inventories })
    const traits = ['COMPUTE_NODE', 'OWNER_NOVA', 'COMPUTE_ACCELERATORS']
    await ask('PUT', `/resource_providers/${uuid}/traits`, { resource_provider_generation: 1, traits })
    return uuid
  }
  const generation = async (uuid: string): Promise<number> => {
    const told = await placement.provider(uuid)
    if (!told.ok) throw new Error(told.reason)
    return told.value.generation
  }
  return {
    placement,
    asked,
    meddle: (next) => (around = next),
    ask,
    node,
    generation,
    ours: async () => {
      const [root, uuid, name] = [await node(), randomUUID(), uniqueName()]
      expect(await placement.create({ uuid, name, parent: root })).toMatchObject({ ok: true })
      return { root, uuid, name }
    },
    setInventories: async (uuid, inventories) =>
      placement.setInventories({ uuid, generation: await generation(uuid), inventories }),
    setTraits: async (uuid, traits) => placement.setTraits({ uuid, generation: await generation(uuid), traits }),
    child: (parent, name = uniqueName()) => create(name, parent),
    allocate: async (consumer, holds, own) => {
      const allocations = Object.fromEntries(Object.entries(holds).map(([uuid, resources]) => [uuid, { resources }]))
      const { status } = await ask('PUT', `/allocations/${consumer}`, {
        allocations,
        project_id: 'project',
        user_id: 'user',
        consumer_generation: own ?? (await consumerGeneration(consumer)),
        consumer_type: 'INSTANCE',
      })
      return status
    },
    release: async (consumer) => (await ask('DELETE', `/allocations/${consumer}`)).status,
    close,
  }
}
