import { describe, expect, it } from 'vitest'
import type { DeployableCommand, DeployableEvent } from '../../src/actors/deployable/messages.ts'
import {
  answer,
  done,
  given,
  grant,
  granted,
  IMAGE,
  program,
  programming,
  quiet,
  refusedBecause,
  release,
  released,
} from './deployableFacts.ts'
import * as say from './samples.ts'
import { ARQ, handle, id, OTHER, recorded } from './samples.ts'

describe('a grant', () => {
  it('gives a free handle and orders its host to prepare it', () => {
    given(recorded()).when(grant()).follows(granted(1, 1))
  })
  it('needs no order where the host has nothing to do', () => {
    given(quiet).when(grant()).follows(granted(1, null))
  })
  it('gives the next handle to the next request, under the next number', () => {
    given(recorded(), granted(1, 1))
      .when(grant(OTHER))
      .follows(granted(2, 2, OTHER))
  })
  it('gives the handle that is named, or none', () => {
    const named = (n: number) => ({ ...grant(OTHER), handle: handle(n).uuid })
    given(quiet)
      .when(named(2))
      .follows(granted(2, null, OTHER))
    given(quiet, granted(2, null)).when(named(2)).isRefused(refusedBecause('no free attach handle'))
  })
  it('is refused when no handle is free', () => {
    given(quiet, granted(1, null), granted(2, null, OTHER))
      .when(grant(id(9)))
      .isRefused(refusedBecause('no free attach handle'))
  })
  it('is refused in maintenance (S9)', () => {
    given(quiet, { type: 'StatusSet', status: 'maintaining' })
      .when(grant())
      .isRefused(refusedBecause('its device is in maintenance'))
  })
  it('is refused while the device is missing', () => {
    given(quiet, { type: 'PresenceSet', presence: 'missing' })
      .when(grant())
      .isRefused(refusedBecause('its device is missing'))
  })
  it('is refused while the region is being programmed', () => {
    given(recorded(), programming).when(grant()).isRefused(refusedBecause('it is being programmed'))
  })
  it('loads the image that is asked for, and has one that is there already compared', () => {
    given(recorded())
      .when(grant(ARQ, IMAGE))
      .follows(granted(1, 1, ARQ, IMAGE))
    const loaded = given(recorded(), granted(1, 1, ARQ, IMAGE), done(1, 1))
    expect(loaded.state.bitstreamId).toBe(IMAGE)
    const order = { ...say.prepareOrder(2, 2, OTHER), expects: IMAGE }
    loaded.when(grant(OTHER, IMAGE)).follows({ ...granted(2, null, OTHER), order } as DeployableEvent)
  })
  it('orders host work for an image also where the device needs none otherwise', () => {
    given(recorded({ hostWork: false }))
      .when(grant(ARQ, IMAGE))
      .follows(granted(1, 1, ARQ, IMAGE))
  })
  it('of an image is refused where nothing can be programmed', () => {
    given(recorded({ programmable: false }))
      .when(grant(ARQ, IMAGE))
      .isRefused(refusedBecause('it cannot be programmed'))
  })
  it('of another image is refused while a request uses the region (Q6)', () => {
    given(quiet, granted(1, null))
      .when(grant(OTHER, IMAGE))
      .isRefused(refusedBecause('another request uses it, so it cannot be programmed now'))
  })
  it('is refused while an image is being loaded for another request (Q6)', () => {
    given(recorded(), granted(1, 1, ARQ, IMAGE))
      .when(grant(OTHER))
      .isRefused(refusedBecause('it is being programmed'))
  })
})

describe('of the same hardware under two handles, a grant', () => {
  const address = (fn: number) => ({ domain: '0000', bus: '18', device: '00', function: String(fn) })
  const [whole, part] = [
    { ...handle(1), type: 'PCI' as const, info: address(0) },
    { ...handle(2), type: 'PCI' as const, info: address(1), physfn: '0000:18:00.0' },
  ]
  const shows = (...handles: readonly (typeof whole)[]): DeployableEvent => ({
    type: 'DeployableDescribed',
    description: say.describing({ hostWork: false, handles }),
  })
  it('gives no virtual function while a request has the physical one (R7)', () => {
    given(recorded({ hostWork: false, handles: [whole] }), granted(1, null), shows(part))
      .when(grant(OTHER))
      .isRefused(refusedBecause('no free attach handle'))
  })
  it('gives no physical function while a request has a virtual one', () => {
    given(recorded({ hostWork: false, handles: [whole, part] }), granted(2, null))
      .when(grant(OTHER))
      .isRefused(refusedBecause('no free attach handle'))
  })
  it('gives no function that a request has under a handle of another spelling', () => {
    const spelled = { ...handle(2), type: 'PCI' as const, info: { ...address(0), physical_network: 'net0' } }
    given(recorded({ hostWork: false, handles: [whole] }), granted(1, null), shows(spelled))
      .when(grant(OTHER))
      .isRefused(refusedBecause('no free attach handle'))
  })
  it('gives one virtual function beside another', () => {
    const other = { ...handle(1), type: 'PCI' as const, info: address(2), physfn: '0000:18:00.0' }
    given(recorded({ hostWork: false, handles: [part, other] }), granted(2, null))
      .when(grant(OTHER))
      .follows(granted(1, null, OTHER))
  })
})

describe('a deployable that was retired', () => {
  const retired: DeployableEvent = { type: 'PresenceSet', presence: 'retired' }
  const back: DeployableEvent = { type: 'PresenceSet', presence: 'present' }
  it('comes back with its attributes, its status and what is kept from everybody', () => {
    const word = { by: 'operator', reason: 'looked at' }
    const attribute = { uuid: id(0xa1), key: 'rack', value: 'r1', origin: 'operator' } as const
    const before = [
      quiet,
      { type: 'AttributeAdded', attribute },
      { type: 'StatusSet', status: 'maintaining' },
      { type: 'HandleQuarantined', handle: handle(1).uuid, until: 'released', ...word },
      retired,
    ] as const
    given(...before)
      .when({ type: 'SetPresence', presence: 'present' })
      .follows(back)
    const { state } = given(...before, back)
    expect(state).toMatchObject({ ...say.identity, status: 'maintaining', presence: 'present' })
    expect(state.attributes).toContainEqual(expect.objectContaining(attribute))
    expect(state.handles[handle(1).uuid]).toMatchObject({ state: 'quarantined', quarantine: word })
  })
  it('holds the image that the card says, and none when it says nothing (S14)', () => {
    const loaded = [recorded(), { type: 'ProgramStarted', image: IMAGE, order: say.programOrder(IMAGE, 1) }] as const
    const before = [...loaded, { type: 'Programmed', image: IMAGE, number: 1 }, retired] as const
    expect(given(...before, back).state.bitstreamId).toBeNull()
    given(...before)
      .when({ type: 'SetPresence', presence: 'present', bitstreamId: 'other' })
      .follows({ ...back, bitstreamId: 'other' })
    expect(given(...before, { ...back, bitstreamId: 'other' }).state.bitstreamId).toBe('other')
  })
  it('answers nothing else before it is back', () => {
    given(quiet, retired).when(grant()).isRefused({ kind: 'not_found' })
    given(quiet, retired).when({ type: 'SetStatus', status: 'enabled' }).isRefused({ kind: 'not_found' })
  })
})

describe('an answer of the host', () => {
  it('to a preparation leaves the handle held', () => {
    given(recorded(), granted(1, 1)).when(answer(1, 1)).follows(done(1, 1))
    expect(given(recorded(), granted(1, 1), done(1, 1)).state.handles[handle(1).uuid]).toMatchObject({
      state: 'held',
      pending: null,
    })
  })
  it('that a preparation failed is left to the conversation', () => {
    given(recorded(), granted(1, 1))
      .when(answer(1, 1, 'no'))
      .follows()
  })
  it('to an older order, or said again, changes nothing', () => {
    given(recorded(), granted(1, 1), released(1, 2)).when(answer(1, 1)).follows()
    given(recorded(), granted(1, 1), done(1, 1)).when(answer(1, 1)).follows()
  })
  it('for a slot nobody knows changes nothing', () => {
    given(recorded())
      .when({ ...answer(1, 1), slot: id(9) } as DeployableCommand)
      .follows()
  })
})

describe('programming', () => {
  it('is ordered under the next number and blocks grants until the host answers', () => {
    given(recorded()).when(program).follows(programming)
    const answer: DeployableCommand = {
      type: 'Answer',
      slot: say.identity.uuid,
      number: 1,
      failed: null,
      final: true,
      retryBy: 1,
    }
    given(recorded(), programming).when(answer).follows({ type: 'Programmed', image: IMAGE, number: 1 })
    given(recorded(), programming)
      .when({ ...answer, number: 2 })
      .follows()
  })
  it('records the image only when it succeeded; after a failure nothing is known (S14)', () => {
    const old: DeployableEvent = { type: 'Programmed', image: 'old', number: 1 }
    expect(given(recorded(), programming, old).state).toMatchObject({ bitstreamId: 'old', program: null })
    const lost: DeployableEvent = { type: 'ProgramFailed', image: IMAGE, number: 2, reason: 'broken' }
    expect(given(recorded(), old, programming, lost).state).toMatchObject({
      bitstreamId: null,
      programFault: 'broken',
      program: null,
    })
  })
  it('is refused where it cannot be, where it is under way, where a request is, and where the device is not', () => {
    given(recorded({ programmable: false }))
      .when(program)
      .isRefused(refusedBecause('it cannot be programmed'))
    given(recorded(), programming).when(program).isRefused(refusedBecause('it is being programmed'))
    given(quiet, granted(1, null))
      .when(program)
      .isRefused(refusedBecause('a request uses it, so it cannot be programmed now'))
    given(recorded(), { type: 'PresenceSet', presence: 'missing' })
      .when(program)
      .isRefused(refusedBecause('its device is missing'))
  })
})

describe('a deployable', () => {
  it('is recorded once', () => {
    const { identity, description, status, bitstreamId } = recorded() as Extract<
      DeployableEvent,
      { type: 'DeployableRecorded' }
    >
    const record: DeployableCommand = { type: 'Record', identity, description, status, bitstreamId }
    given().when(record).follows(recorded())
    given(recorded()).when(record).follows()
  })
  it('that was never recorded, or is retired, is not found whatever is asked', () => {
    const retired: DeployableEvent = { type: 'PresenceSet', presence: 'retired' }
    for (const command of [
      grant(),
      release(),
      answer(1, 1),
      program,
      { type: 'SetStatus', status: 'enabled' },
    ] as const) {
      given().when(command).isRefused({ kind: 'not_found' })
      given(recorded(), retired).when(command).isRefused({ kind: 'not_found', id: say.identity.uuid })
    }
  })
  it('records a status or a presence only when it changes', () => {
    given(recorded()).when({ type: 'SetStatus', status: 'enabled' }).follows()
    given(recorded())
      .when({ type: 'SetStatus', status: 'maintaining' })
      .follows({ type: 'StatusSet', status: 'maintaining' })
    given(recorded()).when({ type: 'SetPresence', presence: 'present' }).follows()
    given(recorded())
      .when({ type: 'SetPresence', presence: 'missing' })
      .follows({ type: 'PresenceSet', presence: 'missing' })
  })
  it('takes attributes of an operator, one of a key', () => {
    const attribute = { uuid: id(0xf9), key: 'site', value: 'b2' }
    const added: DeployableEvent = { type: 'AttributeAdded', attribute: { ...attribute, origin: 'operator' } }
    given(recorded()).when({ type: 'AddAttribute', attribute }).follows(added)
    given(recorded(), added)
      .when({ type: 'AddAttribute', attribute })
      .isRefused({ kind: 'exists', field: 'key', value: 'site' })
    given(recorded(), added)
      .when({ type: 'RemoveAttribute', uuid: id(0xf9) })
      .follows({ type: 'AttributeRemoved', uuid: id(0xf9) })
    given(recorded())
      .when({ type: 'RemoveAttribute', uuid: id(0xf9) })
      .isRefused({ kind: 'not_found', resource: 'attribute' })
  })
  it('keeps the resource class that its driver says (I11)', () =>
    given(recorded())
      .when({ type: 'RemoveAttribute', uuid: id(0xf1) })
      .isRefused({ kind: 'conflict' }))
  it('keeps the attributes of operators through every description (Q12, C8)', () => {
    const added: DeployableEvent = {
      type: 'AttributeAdded',
      attribute: { uuid: id(0xf9), key: 'site', value: 'b2', origin: 'operator' },
    }
    const described: DeployableEvent = {
      type: 'DeployableDescribed',
      description: say.describing({ numAccelerators: 1 }),
    }
    expect(given(recorded(), added, described).state.attributes.map(({ key }) => key)).toEqual(['rc', 'site'])
  })
})
