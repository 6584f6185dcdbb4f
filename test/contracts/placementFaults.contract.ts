/**
 * The client of Placement while the network, Keystone or Placement fail: no call rejects, and none says "done" or
 * "refused" of what it does not know. On the double, and on a real Placement behind the proxy.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { createSender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { type FaultyProxy, type Harm } from '../neighbours/faultyProxy.ts'
import {
  type PlacementLab,
  placementLabOn,
  record,
  placementFailure,
  uniqueName,
  well,
} from '../support/placementLab.ts'
import { revoke, signIn } from '../support/signIn.ts'
import { sessionOptions } from './keystone.contract.ts'

export type FailingCloud = {
  readonly authUrl: string
  /** The catalogue leads to Placement through it. */
  readonly proxy: FaultyProxy
  /** Keystone does not answer meanwhile. */
  readonly withoutKeystone: (work: () => Promise<void>) => Promise<void>
}
const conflict: Harm = {
  kind: 'answer',
  status: 409,
  body: JSON.stringify({
    errors: [{ status: 409, title: 'Conflict', detail: 'x', code: 'placement.concurrent_update' }],
  }),
}
const isPut = ({ method }: { readonly method: string }): boolean => method === 'PUT'

export const placementFaultsContract = (given: () => FailingCloud): void => {
  describe('the client of Placement while something fails', () => {
    let authUrl: string
    let proxy: FaultyProxy
    let withoutKeystone: FailingCloud['withoutKeystone']
    let lab: PlacementLab
    const labs: PlacementLab[] = []
    /** With a session of its own. `held`: its token. */
    const opened = async () => {
      const sender = createSender(null)
      const options = { ...sessionOptions(authUrl), timeoutMs: 1500 }
      const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
      const made = placementLabOn(session, sender.close)
      labs.push(made)
      const held = async () => ({ token: (await session.entry('placement')).token, userId: '', projectId: null })
      return { lab: made, held }
    }
    beforeEach(async () => {
      ;({ authUrl, proxy, withoutKeystone } = given())
      ;({ lab } = await opened())
    })
    afterEach(async () => {
      proxy.heal()
      await Promise.all(labs.splice(0).map(({ close }) => close()))
    })

    test('a write whose connection breaks: unanswered, whether it was done or not; it is not sent twice', async () => {
      const { uuid } = await lab.ours()
      const set = (generation: number) =>
        lab.placement.setInventories({ uuid, generation, inventories: { VGPU: record(1) } })
      const { applied } = proxy.inject({ harm: { kind: 'resetBefore' }, when: isPut, times: 1 })
      expect(await set(0)).toEqual(placementFailure('unanswered'))
      expect([applied(), await lab.generation(uuid)]).toEqual([1, 0])
      proxy.inject({ harm: { kind: 'resetAfter' }, when: isPut, times: 1 })
      expect(await set(0)).toEqual(placementFailure('unanswered'))
      expect(await lab.generation(uuid)).toBe(1)
      expect(await set(0)).toEqual(placementFailure('stale'))
    })
    test('a creation that was done without an answer is found', async () => {
      const root = await lab.node()
      const one = { uuid: randomUUID(), name: uniqueName(), parent: root }
      proxy.inject({ harm: { kind: 'resetAfter' }, when: ({ method }) => method === 'POST', times: 1 })
      expect(await lab.placement.create(one)).toEqual(placementFailure('unanswered'))
      expect(await lab.placement.create(one)).toEqual(placementFailure('duplicate'))
      expect(await lab.placement.named(one.name)).toMatchObject(well({ uuid: one.uuid, parent: root }))
    })
    test('a read whose connection breaks is sent once more', async () => {
      const { uuid } = await lab.ours()
      proxy.inject({ harm: { kind: 'resetBefore' }, times: 1 })
      expect(await lab.placement.provider(uuid)).toMatchObject({ ok: true })
      proxy.inject({ harm: { kind: 'cut', afterBytes: 10 }, times: 2 })
      expect(await lab.placement.provider(uuid)).toEqual(placementFailure('unanswered'))
    })
    test('nobody answers: the time limit ends the call', async () => {
      const { uuid } = await lab.ours()
      proxy.inject({ harm: { kind: 'silentAfter' }, times: 1 })
      expect(await lab.placement.traits(uuid)).toEqual(placementFailure('unanswered', 'no answer within 1500 ms'))
    })
    test('a storm of conflicts ends; each answer is stale', async () => {
      const { uuid } = await lab.ours()
      proxy.inject({ harm: conflict, when: isPut, times: 4 })
      const said = []
      for (let n = 0; n < 5; n++)
        said.push(await lab.placement.setTraits({ uuid, generation: 0, traits: ['OWNER_CYBORG'] }))
      expect(said).toEqual([...Array.from({ length: 4 }, () => placementFailure('stale')), well(1)])
    })
    test('a token that is refused is replaced; the request is sent once more and counts once', async () => {
      const { uuid } = await lab.ours()
      // one that Placement has not seen: the real one remembers what Keystone said of a token for minutes
      const other = await opened()
      await revoke(authUrl, await signIn(authUrl, 'admin', { project: 'admin' }), await other.held())
      const seen = proxy.asked.length
      expect(await other.lab.placement.setTraits({ uuid, generation: 0, traits: ['OWNER_CYBORG'] })).toEqual(well(1))
      // refused, and sent once more
      expect(proxy.asked.slice(seen).filter((line) => line.startsWith('PUT '))).toHaveLength(2)
      expect(await lab.generation(uuid)).toBe(1)
      proxy.inject({ harm: { kind: 'answer', status: 401, body: 'Authentication required' } })
      expect(await lab.placement.traits(uuid)).toEqual(placementFailure('denied', 'refuses the token'))
    })
    test('5xx: unanswered; after three of them it is left alone for a while, and answers again', async () => {
      const { uuid } = await lab.ours()
      const down = proxy.inject({ harm: { kind: 'answer', status: 503, body: '<h1>busy</h1>' } })
      for (let n = 0; n < 3; n++)
        expect(await lab.placement.traits(uuid)).toEqual(placementFailure('unanswered', '503'))
      expect(await lab.placement.traits(uuid)).toEqual(placementFailure('unanswered', 'it is not asked again yet'))
      expect(down.applied()).toBe(3)
      proxy.heal()
      await expect.poll(() => lab.placement.traits(uuid), { timeout: 5000 }).toMatchObject({ ok: true })
    })
    test('no Keystone: unanswered', async () => {
      await withoutKeystone(async () => {
        expect(await (await opened()).lab.placement.owned()).toEqual(placementFailure('unanswered'))
      })
      expect(await lab.placement.owned()).toMatchObject({ ok: true })
    })
  })
}
