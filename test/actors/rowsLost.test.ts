/** The journal has lost rows of a deployable: what follows for its orders, its handles and its region. */
import type { Said } from '../spec.ts'
import { describe, expect, it } from 'vitest'
import { IMAGE, answer, done, failed, given, grant, granted, quiet, release, released } from './deployableFacts.ts'
import * as say from './samples.ts'
import { ARQ, OTHER, handle, id, recorded } from './samples.ts'

const BY = { by: 'adopt', reason: 'lost' }
const lost = (...events: readonly Said[]): Said => ({
  type: 'RowsLost',
  events,
  handles: [],
  ...BY,
})
const raised = (to: number): Said => ({ type: 'OrdersRaised', to })
const doubted = (n: number, reason = 'lost'): Said => ({
  type: 'HandleQuarantined',
  handle: handle(n).uuid,
  until: 'released',
  inDoubt: true,
  by: 'adopt',
  reason,
})
const released1: Said = { type: 'HandleCleared', handle: handle(1).uuid, by: 'op', reason: 'nobody uses it' }

describe('after lost rows of a deployable', () => {
  it('the next order has a higher number than the lost ones (ROWS-LOST-1)', () => {
    const facts = [recorded(), granted(1, 1), done(1, 1)]
    given(...facts)
      .when(lost(done(1, 7)))
      .follows(raised(7))
    given(...facts, raised(7))
      .when(grant(OTHER))
      .follows(granted(2, 8, OTHER))
  })
  it('and never a lower one than it would have had', () => {
    given(recorded(), granted(1, 3), done(1, 3))
      .when(lost(done(1, 2)))
      .follows()
    expect(given(recorded(), granted(1, 3), raised(2)).state.orders).toBe(3)
  })
  it('a handle that was granted is free for nobody until an operator releases it (ROWS-LOST-2)', () => {
    given(recorded())
      .when(lost(granted(1, 1)))
      .follows(raised(1), doubted(1))
    const kept = [recorded(), raised(1), doubted(1)]
    given(...kept)
      .when(grant(OTHER))
      .follows(granted(2, 2, OTHER))
    expect(given(...kept, released1).state.handles[handle(1).uuid]).toMatchObject({ state: 'free' })
  })
  it('a handle that its ARQ had given up may be of another guest: its host is not told to release it', () => {
    const facts = [recorded(), granted(1, 1), done(1, 1)]
    given(...facts)
      .when(lost(released(1, 2), done(1, 2), granted(1, 3, OTHER)))
      .follows(raised(3), doubted(1))
    const kept = given(...facts, raised(3), doubted(1))
    expect(kept.state.handles[handle(1).uuid]).toMatchObject({ state: 'held', arq: ARQ })
    kept.when(release()).follows(released(1, null))
    const left = given(...facts, raised(3), doubted(1), released(1, null))
    expect(left.state.handles[handle(1).uuid]).toMatchObject({ state: 'quarantined', pending: null })
    // asked for again, as when the ARQ is deleted after its unbind
    left.when(release()).follows(released(1, null))
    expect(
      given(...facts, raised(3), doubted(1), released(1, null), released1).state.handles[handle(1).uuid],
    ).toMatchObject({
      state: 'free',
    })
  })
  it('its host is told to release it when an operator does, by a number above the lost ones, and it is free when that is done (SLOT-3)', () => {
    const clear: Said = {
      type: 'Clear',
      handle: handle(1).uuid,
      by: 'op',
      reason: 'nobody uses it',
      deadline: 9000,
    }
    const undone: readonly Said[] = [
      released1,
      { type: 'HandleQuarantined', handle: handle(1).uuid, until: 'confirmed', by: 'op', reason: 'nobody uses it' },
      { ...released(1, 4), arq: '' } as Said,
    ]
    const kept = [recorded(), raised(3), doubted(1)]
    given(...kept)
      .when(clear)
      .follows(...undone)
    expect(given(...kept, ...undone).state.handles[handle(1).uuid]).toMatchObject({ state: 'releasing' })
    expect(given(...kept, ...undone, done(1, 4)).state.handles[handle(1).uuid]).toMatchObject({ state: 'free' })
    // a second release does not wait for the host
    given(...kept, ...undone, failed(1, 4, null))
      .when(clear)
      .follows(released1)
    // where hosts have no work to do there is nothing to undo
    given(quiet, raised(3), doubted(1)).when(clear).follows(released1)
  })
  it('who has the handle keeps it when an operator has found that nobody else uses it', () => {
    const facts = [recorded(), granted(1, 1), doubted(1)]
    const clear: Said = {
      type: 'Clear',
      handle: handle(1).uuid,
      by: 'op',
      reason: 'nobody uses it',
      deadline: 1,
    }
    given(...facts)
      .when(clear)
      .follows(released1)
    const cleared = given(...facts, released1)
    expect(cleared.state.handles[handle(1).uuid]).toMatchObject({ state: 'held', pending: { number: 1 } })
    expect(cleared.state.handles[handle(1).uuid]).not.toHaveProperty('quarantine')
    given(...facts, done(1, 1), released1)
      .when(release())
      .follows(released(1, 2))
  })
  it('a release under way is not carried out any more', () => {
    const facts = [recorded(), granted(1, 1), done(1, 1), released(1, 2)]
    given(...facts)
      .when(lost(done(1, 2), granted(1, 3, OTHER)))
      .follows(raised(3), doubted(1))
    const kept = given(...facts, raised(3), doubted(1))
    expect(kept.state.handles[handle(1).uuid]).toMatchObject({ state: 'quarantined', pending: null })
    kept.when(answer(1, 2)).follows()
  })
  it('a lost answer alone puts nothing in doubt: the host answers again (ROWS-LOST-3)', () => {
    given(recorded(), granted(1, 1))
      .when(lost(done(1, 1)))
      .follows()
    given(recorded(), granted(1, 1), done(1, 1), released(1, 2))
      .when(lost(done(1, 2)))
      .follows()
    given(recorded(), granted(1, 1), done(1, 1), released(1, 2))
      .when(lost(failed(1, 2, 3)))
      .follows(raised(3), doubted(1))
  })
  it('a handle whose release had failed is not released later', () => {
    const facts = [recorded(), granted(1, 1), done(1, 1), released(1, 2), failed(1, 2, null)]
    given(...facts)
      .when(lost(released(1, 3), done(1, 3), granted(1, 4, OTHER)))
      .follows(raised(4), doubted(1))
    given(...facts, raised(4), doubted(1))
      .when({ type: 'Due', at: 10_000_000, deadline: 1 })
      .follows()
  })
  it('one that an operator withholds already stays so, with both reasons', () => {
    const kept: Said = {
      type: 'HandleQuarantined',
      handle: handle(1).uuid,
      until: 'released',
      by: 'op',
      reason: 'why',
    }
    given(quiet, kept)
      .when(lost(released1, granted(1, null)))
      .follows(doubted(1, 'lost; withheld before by op: why'))
  })
  it('a missing one is withheld when it is back', () => {
    const gone: Said = { type: 'DeployableDescribed', description: say.describing({ handles: [handle(2)] }) }
    const back: Said = { type: 'DeployableDescribed', description: say.describing() }
    given(recorded(), gone)
      .when(lost(granted(1, 1)))
      .follows(raised(1), doubted(1))
    expect(given(recorded(), gone, doubted(1), back).state.handles[handle(1).uuid]).toMatchObject({
      state: 'quarantined',
    })
  })
  it('a handle that only rows of other entities name is in doubt', () => {
    given(quiet)
      .when({ type: 'RowsLost', events: [], handles: [handle(2).uuid, id(0x99)], ...BY })
      .follows(doubted(2))
  })
  it('what its region holds is unknown when it was programmed (ROWS-LOST-4)', () => {
    const loaded = [recorded(), granted(1, 1, ARQ, IMAGE), done(1, 1), released(1, 2), done(1, 2)]
    const event: Said = { type: 'Programmed', image: 'other', number: 3 }
    given(...loaded)
      .when(lost(event))
      .follows({ type: 'OrdersRaised', to: 3, imageUnknown: true })
    expect(given(...loaded, { type: 'OrdersRaised', to: 3, imageUnknown: true }).state.bitstreamId).toBeNull()
  })
  it('nothing is done twice', () => {
    given(recorded(), raised(3), doubted(1))
      .when(lost(granted(1, 3)))
      .follows()
  })
  it('one that is retired is withheld when it comes back', () => {
    const retired: Said = { type: 'PresenceSet', presence: 'retired' }
    given(quiet, retired)
      .when(lost(granted(1, null)))
      .follows(doubted(1))
  })
})
