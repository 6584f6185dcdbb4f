/** Random commands for every kind of entity: lawful ones and others, in any order. */
import type { Said } from '../spec.ts'
import fc from 'fast-check'
import { bond, created, handle, id, identity, REQUEST } from './samples.ts'

const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const arqs = oneOf(id(0xa1), id(0xa2), id(0xa3))
const handles = oneOf(1, 2, 3).map((n) => handle(n).uuid)
const numbers = fc.integer({ min: 1, max: 8 })
const reasons = fc.option(oneOf('stuck', 'no'))
const presence = oneOf('present', 'missing', 'retired')
const status = oneOf('enabled', 'maintaining')
const moments = fc.integer({ min: 0, max: 10_000 })
const word = { by: fc.constant('op'), reason: fc.constant('why') }
const record = (type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Said> =>
  fc.record({ type: fc.constant(type), ...fields })

const bonds = fc.record({
  hostname: oneOf('node-1', 'node-2'),
  deviceRpUuid: fc.constant(bond.deviceRpUuid),
  instanceUuid: oneOf(id(0xc2), id(0xc3)),
  deployable: fc.constant(identity.uuid),
  host: fc.constant('h1'),
  handle: oneOf(1, 2).map((n) => ({ uuid: handle(n).uuid, type: 'PCI', info: handle(n).info })),
  order: fc.option(numbers),
})
const arq = fc.oneof(
  fc.constant({ ...created, type: 'Create' } as Said),
  record('Bind', { bond: bonds, projectId: fc.option(fc.constant('p2')) }),
  record('ReportBound', { workMs: fc.option(numbers) }),
  record('ReportBindFailed', { reason: oneOf('no', 'late') }),
  fc.constant({ type: 'Unbind' }),
  fc.constant({ type: 'Unbind', forced: { by: 'op', reason: 'why' } }),
  record('ReportReleaseFailed', { handle: handles, reason: fc.constant('stuck') }),
  record('ReportReleased', { handle: handles }),
  fc.constant({ type: 'Remove' }),
)

const described = fc.record({
  driver: oneOf('simulated_driver', 'other_driver'),
  numAccelerators: fc.integer({ min: 0, max: 3 }),
  driverName: fc.constant('simulated'),
  hostWork: fc.boolean(),
  programmable: fc.boolean(),
  attributes: fc
    .subarray(['rc', 'trait0', 'trait1'])
    .chain((keys) => fc.tuple(...keys.map((key) => oneOf('A', 'B').map((value) => ({ key, value })))))
    .map((pairs) =>
      pairs.map(({ key, value }) => ({
        uuid: id(key.charCodeAt(key.length - 1)),
        key,
        value,
        origin: 'driver' as const,
        createdAt: 0,
      })),
    ),
  handles: fc.shuffledSubarray([handle(1), handle(2), handle(3)]),
})
const images = fc.option(oneOf('image-1', 'image-2'))
const recording = record('Record', {
  identity: fc.constant(identity),
  description: described,
  status,
  bitstreamId: images,
})
const deployable = fc.oneof(
  recording,
  record('Describe', { description: described }),
  record('SetPresence', {
    presence: oneOf('present', 'present', 'missing', 'missing', 'retired'),
    bitstreamId: oneOf(undefined, 'image-1'),
  }),
  record('SetStatus', { status }),
  record('SetHealth', { failing: reasons }),
  record('Grant', {
    arq: arqs,
    bitstream: images,
    deadline: moments,
    requestId: fc.constant(REQUEST),
    handle: fc.oneof(fc.constant(undefined), handles),
  }),
  record('Release', { arq: arqs, deadline: moments }),
  record('Answer', {
    slot: fc.oneof(handles, fc.constant(identity.uuid)),
    number: numbers,
    failed: reasons,
    final: fc.boolean(),
    retryBy: moments,
  }),
  record('Program', {
    image: oneOf('image-1', 'image-2'),
    deadline: moments,
    requestId: fc.constant(REQUEST),
  }),
  record('AddAttribute', {
    attribute: oneOf('rc', 'site', 'rack').map((key) => ({
      uuid: id(0xf00 + key.charCodeAt(key.length - 1)),
      key,
      value: 'x',
    })),
  }),
  record('RemoveAttribute', {
    uuid: oneOf(id(0xf00 + 'e'.charCodeAt(0)), id('c'.charCodeAt(0)), id(9)),
  }),
  record('Due', { at: oneOf(1000, 500_000), deadline: moments }),
  record('Clear', { handle: handles, deadline: moments, ...word }),
  record('Quarantine', { handle: handles, ...word }),
  record('ForceRelease', { arq: arqs, deadline: moments, reachable: fc.boolean(), ...word }),
)

const facts = fc.record({
  driver: fc.constant('simulated_driver'),
  type: oneOf('GPU', 'FPGA'),
  vendor: fc.constant('1bf2'),
  model: oneOf('card', 'other card'),
  stdBoardInfo: fc.option(fc.constant('{}')),
  vendorBoardInfo: fc.constant(null),
  controlPath: fc.constant('{"bus": "01"}'),
})
const card = { uuid: id(0xd0), id: 1, host: 'h1' }
const device = fc.oneof(
  record('Record', { identity: fc.constant(card), facts }),
  record('Describe', { facts, grown: fc.boolean() }),
  record('SetStatus', { status }),
  record('SetHealth', { failing: reasons }),
  record('SetPresence', { presence }),
)

const held = fc.record({
  uuid: oneOf(id(0xd0), id(0xd1)),
  id: numbers,
  driver: fc.constant('simulated_driver'),
  digest: oneOf('x', 'y'),
  missing: fc.integer({ min: 0, max: 2 }),
  deployables: fc.constant({}),
})
const shedding = fc.dictionary(oneOf('a', 'b'), fc.constant(null), { noNullPrototype: true })
const host = fc.oneof(
  record('RecordInventory', {
    name: fc.constant('h1'),
    picture: fc.record({
      bootId: oneOf(id(1), id(2), id(3)),
      number: numbers,
      digest: oneOf('x', 'y'),
      aliases: fc.subarray(['node-1', 'node-2']),
      drivers: fc.constant({ simulated_driver: { status: 'ok', error: null } }),
    }),
    devices: fc.dictionary(oneOf('a', 'b'), fc.option(held), { noNullPrototype: true }),
  }),
  record('SetLiveness', { liveness: oneOf('up', 'stale', 'down'), by: fc.constant('silence') }),
  record('Retire', { devices: shedding, ...word }),
  record('Remove', { devices: shedding, ...word }),
  record('Restore', word),
  record('Shed', { devices: shedding, by: fc.constant('op') }),
)

const part = (arq: string) =>
  fc.record({ arq: fc.constant(arq), deployable: fc.constant(identity.uuid), prepared: fc.boolean() })
const instance = fc.oneof(
  record('Bind', {
    instance: fc.constant(id(0xc2)),
    at: moments,
    parts: fc.oneof(fc.tuple(part(id(0xa1))), fc.tuple(part(id(0xa1)), part(id(0xa2)))),
    hostname: fc.constant('node-1'),
    deadline: moments,
    tellUntil: fc.option(moments),
    requestId: fc.constant(REQUEST),
  }),
  record('ReportPrepared', { arq: arqs, at: moments }),
  record('Fail', { reason: fc.constant('no'), at: moments }),
  record('Conclude', { at: moments }),
  record('Leave', { arqs: fc.subarray([id(0xa1), id(0xa2), id(0xa3)]) }),
  record('ReportTold', {
    endings: fc.dictionary(arqs, oneOf('delivered', 'gone', 'refused', 'undeliverable'), { noNullPrototype: true }),
    nextAt: moments,
    note: fc.option(fc.constant('503')),
    upTo: fc.integer({ min: 0, max: 4 }),
  }),
)

const profile = fc.oneof(
  record('Create', {
    profile: fc.record({
      uuid: fc.constant(id(0xb1)),
      name: oneOf('p', 'q'),
      description: fc.option(fc.constant('d')),
      groups: fc.constant([created]),
    }),
  }),
  fc.constant({ type: 'Remove' }),
  record('Regroup', {
    was: oneOf([created], [{ other: 'x' }]),
    groups: oneOf([created], [{ other: 'x' }]),
    ...word,
  }),
)
const profileName = fc.oneof(
  record('Take', { name: fc.constant('p'), holder: oneOf(id(0xb1), id(0xb2)) }),
  fc.constant({ type: 'Free' }),
)

/** By kind: the key of the one entity the commands are about, what begins its life, and what may come then. */
type Life = { readonly key: string; readonly first: fc.Arbitrary<unknown>; readonly commands: fc.Arbitrary<unknown> }
const admitting = record('Admit', { count: fc.integer({ min: 1, max: 9 }) })
const taking = record('Take', { count: fc.integer({ min: 0, max: 9 }) })
const beginning = fc.record({
  type: fc.constant('Begin'),
  host: fc.constant('h1'),
  at: fc.nat(100),
  until: fc.integer({ min: 50, max: 200 }),
  alone: fc.boolean(),
})
const trouble = fc.record({
  state: fc.constantFrom('waiting_for_compute_node', 'unreachable'),
  reason: fc.constantFrom('a', 'b'),
})
const finding = fc.record(
  {
    uuid: fc.constantFrom(id(0xc1), id(0xc2)),
    name: fc.constantFrom('one', 'two'),
    deployable: fc.option(fc.constant(id(0xd1))),
    traits: fc.subarray(['OWNER_CYBORG', 'CUSTOM_A']),
    state: fc.constantFrom('in_sync', 'pending', 'placement_conflict'),
    reason: fc.option(fc.constant('why')),
    ours: fc.boolean(),
    reserving: fc.subarray(['device disabled', 'device missing', 'handles unusable']),
    did: fc.subarray(['created', 'inventory', 'removed']),
    agreed: fc.record({ generation: fc.nat(3), digest: fc.constantFrom('a', 'b') }),
    gone: fc.constant(true),
  },
  { requiredKeys: ['uuid', 'name', 'deployable', 'traits', 'state', 'reason', 'ours', 'reserving', 'did'] },
)
const number = fc.integer({ min: 1, max: 4 })
const placing = fc.oneof(
  beginning,
  fc.record({ type: fc.constant('FindRoot'), number, root: fc.constantFrom(id(1), id(2)) }),
  fc.record({ type: fc.constant('Find'), number, until: fc.nat(300), findings: fc.array(finding, { maxLength: 3 }) }),
  fc.record({
    type: fc.constant('End'),
    number,
    nextAt: fc.option(fc.nat(500), { nil: null }),
    failed: fc.boolean(),
    trouble: fc.option(trouble),
  }),
)

export const lifeOf: Readonly<Record<string, Life>> = {
  arq: { key: `arq/${id(0xa1)}`, first: fc.constant({ ...created, type: 'Create' }), commands: arq },
  deployable: { key: `deployable/${identity.uuid}`, first: recording, commands: deployable },
  device: { key: `device/${card.uuid}`, first: device, commands: device },
  host: { key: 'host/h1', first: host, commands: host },
  instance: { key: `instance/${id(0xc2)}`, first: instance, commands: instance },
  numbers: { key: 'numbers/inventory', first: taking, commands: taking },
  placement: { key: 'placement/h1', first: beginning, commands: placing },
  profile: { key: `profile/${id(0xb1)}`, first: profile, commands: profile },
  quota: { key: 'quota/p1', first: admitting, commands: admitting },
  'profile-name': { key: 'profile-name/p', first: profileName, commands: profileName },
}
