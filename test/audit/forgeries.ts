/** How evidence of a whole simulated life is spoilt: of each invariant at least one violation. */
import type { ClientRequest, Evidence, TopicMessage } from '../../src/audit/evidence.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { placed, statesOf, WRITTEN } from './placementForgeries.ts'
import { PROGRAM_FORGERIES } from './programForgeries.ts'

type Event = Record<string, unknown> & { readonly type: string }
export type Forge = (evidence: Evidence) => Partial<Evidence>

const NOBODY = '00000000-0000-4000-8000-00000000dead'
const eventsOf = ({ events }: JournalRow) => events as readonly Event[]
const is = (kind: string, type: string) => (row: JournalRow) =>
  row.key.startsWith(`${kind}/`) && eventsOf(row).some((event) => event.type === type)
/** Of a bind that waits for a host; others are accepted and settled in one row. */
const waits = (type: string) => (row: JournalRow) =>
  is('instance', type)(row) && !(is('instance', 'BindAccepted')(row) && is('instance', 'BindSettled')(row))

/** The first (or `last`) event of a kind and type, as somebody would have liked it. */
const forge =
  (kind: string, type: string, change: (event: Event) => Event | null, last = false): Forge =>
  ({ journal }) => {
    const at = last ? journal.findLastIndex(is(kind, type)) : journal.findIndex(is(kind, type))
    const row = journal[at]!
    const events = eventsOf(row).flatMap((event) => (event.type === type ? (change(event) ?? []) : event))
    return { journal: journal.with(at, { ...row, events }) }
  }
const bond = (change: object) => (event: Event) => ({ ...event, bond: { ...(event['bond'] as object), ...change } })
const description = (change: (given: Record<string, unknown>) => object) => (event: Event) => {
  const given = event['description'] as Record<string, unknown>
  return { ...event, description: { ...given, ...change(given) } }
}
const counted = (by: number) => description((given) => ({ numAccelerators: (given['numAccelerators'] as number) + by }))
const withOneFunction = (event: Event): Event => {
  if (event.type !== 'DeployableRecorded' && event.type !== 'DeployableDescribed') return event
  const info = { domain: '0000', bus: '01', device: '00', function: '0' }
  const handles = (given: Record<string, unknown>) => (given['handles'] as object[]).map((one) => ({ ...one, info }))
  return description((given) => ({ handles: handles(given) }))(event)
}
/** As the journal was before the first row like this, long ago. */
const stoppedBefore =
  (like: (row: JournalRow) => boolean): Forge =>
  ({ journal, now }) => ({
    journal: journal.slice(0, journal.findIndex(like)),
    now: now + 1_000_000_000,
    pauses: [],
  })
const unaccepted: Forge = ({ journal }) => ({ journal: journal.toSpliced(journal.findIndex(waits('BindAccepted')), 1) })
const added =
  (kind: string, type: string, more: Event): Forge =>
  ({ journal }) => {
    const at = journal.findIndex(is(kind, type))
    return { journal: journal.with(at, { ...journal[at]!, events: [...journal[at]!.events, more] }) }
  }
/** A device has left its host, and its provider has stayed. */
const leftBehind: Forge = (evidence) => {
  const device = { uuid: NOBODY, id: 99, driver: 'd', digest: '', missing: 0, deployables: { ghost: NOBODY } }
  const showing = forge('host', 'PictureRecorded', (event) => ({
    ...event,
    devices: { ...(event['devices'] as object), ghost: device },
  }))
  const ghost = { uuid: 'f47c31db-0850-3b16-8c62-1b108fce0525', name: 'ghost' }
  return {
    ...placed({ providers: (all) => [...all, { ...all[0]!, ...ghost }] })(evidence),
    ...showing(evidence),
  }
}
/** The handle of the first bind is given to the second, while the first has it. */
const shared: Forge = ({ journal }) => {
  const [first, second] = journal.filter(is('arq', 'BindStarted'))
  const given = (eventsOf(first!).find(({ type }) => type === 'BindStarted')!['bond'] as { handle: object }).handle
  const events = eventsOf(second!).map((event) =>
    event.type === 'BindStarted' ? bond({ handle: given })(event) : event,
  )
  return { journal: journal.with(journal.indexOf(second!), { ...second!, events }) }
}
const repeated: Forge = ({ journal }) => {
  const row = journal.find(is('deployable', 'OrderDone'))!
  const version = journal.findLast(({ key }) => key === row.key)!.version + 1
  return { journal: [...journal, { ...row, version, commandId: NOBODY }] }
}
const missed: Forge = ({ journal }) => ({
  journal: journal.toSpliced(journal.findIndex(is('deployable', 'Granted')), 1),
})
const asked =
  (fits: (one: ClientRequest) => boolean, change: Partial<ClientRequest>): Forge =>
  ({ clients = [] }) => {
    const at = clients.findIndex(fits)
    return { clients: clients.with(at, { ...clients[at]!, ...change }) }
  }
const bound = ({ shown }: ClientRequest): boolean => shown?.some(({ state }) => state === 'Bound') ?? false
const stale: Forge = (evidence) => {
  const shown = evidence.clients!.find(bound)!.shown!.map((one) => ({ ...one, state: 'Initial' }))
  return asked(bound, { shown })(evidence)
}
const view =
  (name: 'deployables' | 'arqs', change: object): Forge =>
  ({ views }) => ({
    views: { ...views, [name]: views![name]!.map((row) => ({ ...row, ...change })) },
  })
const host =
  (change: (trace: NonNullable<Evidence['hosts']>[number]) => object): Forge =>
  ({ hosts = [] }) => ({
    hosts: hosts.map((trace) => ({ ...trace, ...change(trace) })),
  })
type Handle = { readonly uuid: string; readonly state: string }
type Held = { readonly host: string; readonly handles: Readonly<Record<string, Handle>> }
const deployablesIn = (journal: Evidence['journal']) => statesOf(journal, 'deployable') as readonly Held[]
/** A handle that is free at the end, of a host whose slots are known. */
const freeSlot = ({ journal, hosts = [] }: Evidence): string => {
  const known = new Set(hosts.flatMap(({ name, prepared }) => (prepared ? [name] : [])))
  const handles = deployablesIn(journal).flatMap(({ host: on, handles: of }) =>
    known.has(on) ? Object.values(of) : [],
  )
  return handles.find(({ state }) => state === 'free')!.uuid
}

const topics =
  (change: (messages: readonly TopicMessage[]) => readonly TopicMessage[]): Forge =>
  (evidence) => {
    const told = evidence.topics!
    return { topics: { ...told, messages: change(told.messages) } }
  }
const factAt = (messages: readonly TopicMessage[]): number =>
  messages.findIndex(({ type }) => type === 'accelerando.fact.BindStarted')
const swapped = (messages: readonly TopicMessage[]): readonly TopicMessage[] => {
  const one = factAt(messages)
  const { topic, key, position } = messages[one]!
  const other = messages.findIndex((each) => each.topic === topic && each.key === key && each.position !== position)
  return messages.with(one, messages[other]!).with(other, messages[one]!)
}
/** A second ARQ is shown with the handle of the first, in the very same answer. */
const sharedInSight: Forge = (evidence) => {
  const shown = evidence.clients!.find(bound)!.shown!
  const one = shown.find(({ state }) => state === 'Bound')!
  return asked(bound, { shown: [...shown, { ...one, uuid: NOBODY }] })(evidence)
}

const policied = (one: Event) => ('description' in one ? description(() => ({ cleaning: 'by_operator' }))(one) : one)
const chosen: Forge = ({ journal }) => ({
  journal: journal.map((row) => ({ ...row, events: eventsOf(row).map(policied) })),
})
export const FORGERIES: readonly (readonly [string, string, Forge])[] = [
  ['S1', 'a handle is given to two', shared],
  ['S2', 'there are fewer accelerators than were granted', forge('deployable', 'DeployableRecorded', counted(-99))],
  ['S3', 'a transition is in no table', forge('arq', 'Bound', () => ({ type: 'ReleaseFailed', reason: '' }))],
  ['S4', 'a row is missing', missed],
  [
    'S5',
    'an old order is carried out',
    host(({ steps }) => ({
      steps: [
        ...steps,
        { did: 'noted', slot: NOBODY, number: 5, done: false },
        { did: 'prepare', slot: NOBODY, number: 4 },
      ],
    })),
  ],
  ['S6', 'Nova hears of it too early', ({ nova = [] }) => ({ nova: nova.with(0, { ...nova[0]!, rowCount: 1 }) })],
  [
    'S6',
    'a bind is accepted and not recorded',
    asked(({ act, status }) => act === 'bind' && status === 202, { arqs: [NOBODY] }),
  ],
  [
    'S6',
    'a result is reported before it is noted',
    host(({ steps }) => ({ steps: [...steps, { did: 'reported', slot: NOBODY, number: 5 }] })),
  ],
  ['S7', 'a read shows what was before', stale],
  [
    'S8',
    'a slot is prepared for two',
    host(({ steps }) => ({
      steps: [
        ...steps,
        { did: 'noted', slot: NOBODY, number: 5, done: true, preparedFor: 'one' },
        { did: 'noted', slot: NOBODY, number: 6, done: true, preparedFor: 'two' },
      ],
    })),
  ],
  [
    'S9',
    'the device is in maintenance',
    forge('deployable', 'DeployableRecorded', (event) => ({ ...event, status: 'maintaining' })),
  ],
  [
    'S10',
    'a tenant sees the ARQ of another',
    asked(bound, { caller: { projectId: 'elsewhere', isAdmin: false, isService: false } }),
  ],
  ['S12', 'an answer counts twice', repeated],
  ['S13', 'a view is not what its fold is', view('deployables', { num_accelerators: 77 })],
  [
    'S15',
    'an ARQ has a group that its profile lacks',
    forge('arq', 'ArqCreated', (event) => ({ ...event, group: { 'resources:GPU': '9' } })),
  ],
  [
    'S17',
    'an ARQ has the group of another version of its profile',
    forge('arq', 'ArqCreated', (event) => ({ ...event, profileVersion: 7 })),
  ],
  ['S16', 'one of a bind is left out', forge('instance', 'BindSettled', (event) => ({ ...event, arqs: [] }))],
  ['L1', 'a bind never ends', stoppedBefore(waits('BindSettled'))],
  ['L2', 'Nova is never told', stoppedBefore(is('instance', 'NovaTold'))],
  ['L2', 'Nova took nothing', () => ({ nova: [] })],
  ['S11', 'a provider of Nova is written', placed({ writes: [{ ...WRITTEN, foreign: true }] })],
  ['S11', 'a provider in use is deleted', placed({ writes: [{ ...WRITTEN, what: 'DELETE', allocated: true }] })],
  [
    'S11',
    'a provider of another Cyborg is deleted',
    placed({ writes: [{ ...WRITTEN, uuid: NOBODY, what: 'DELETE' }] }),
  ],
  ['L3', 'a provider is missing', placed({ providers: (all) => all.slice(1) })],
  ['L3', 'a provider is renamed', placed({ providers: (all) => all.map((one) => ({ ...one, name: 'other' })) })],
  ['L3', 'an inventory differs', placed({ providers: (all) => all.map((one) => ({ ...one, inventories: {} })) })],
  ['L3', 'a trait is missing', placed({ providers: (all) => all.map((one) => ({ ...one, traits: [] })) })],
  ['L3', 'a provider of ours belongs to nothing', leftBehind],
  [
    'L5 unbound',
    'a request that nobody has bound stays for ever',
    (evidence) => ({
      ...stoppedBefore(is('instance', 'BindAccepted'))(evidence),
      quiet: true,
      unboundTtlMs: 60_000,
    }),
  ],
  ['L4', 'a free slot is prepared', (evidence) => host(() => ({ prepared: [freeSlot(evidence)] }))(evidence)],
  ['S14', 'a card holds nothing of what is recorded', host(() => ({ loaded: {} }))],
  ...PROGRAM_FORGERIES,
  [
    'L5',
    'a release is never answered',
    (evidence) => ({ ...stoppedBefore(is('deployable', 'OrderDone'))(evidence), quiet: true }),
  ],
  [
    'L6',
    'a deleted ARQ is there',
    (evidence) =>
      asked(({ act, status }) => act === 'create' && status === 201, { act: 'remove', status: 204 })(evidence),
  ],
  ['S18', 'what was never cleaned had to be', chosen],
  ['S18 host', 'a cleaning did not happen', host(() => ({ cleaned: [] }))],
  ['I1', 'a handle is held for somebody else', forge('deployable', 'Granted', (event) => ({ ...event, arq: NOBODY }))],
  ['I2', 'a handle names another ARQ', forge('deployable', 'Granted', (event) => ({ ...event, arq: NOBODY }))],
  ['I3', 'a Bound ARQ names a foreign provider', forge('arq', 'BindStarted', bond({ deviceRpUuid: NOBODY }))],
  ['I4', 'an ARQ that left still takes part', forge('instance', 'ArqsLeft', () => null)],
  ['I5', 'nobody waits for a bind', unaccepted],
  [
    'I6',
    'a handle is of another deployable',
    forge('arq', 'BindStarted', bond({ handle: { uuid: NOBODY, type: 'PCI', info: {} } })),
  ],
  [
    'I7',
    'two deployables have one provider',
    ({ journal }) => ({
      journal: journal.map((row) =>
        is('deployable', 'DeployableRecorded')(row)
          ? {
              ...row,
              events: eventsOf(row).map((event) => ({
                ...event,
                identity: { ...(event['identity'] as object), rpUuid: NOBODY },
              })),
            }
          : row,
      ),
    }),
  ],
  ['I8', 'a deployable has a parent and no root', view('deployables', { parent_uuid: NOBODY })],
  [
    'I9',
    'a deployable in use is retired',
    added('deployable', 'Granted', { type: 'PresenceSet', presence: 'retired' }),
  ],
  [
    'I10',
    'a report is taken twice',
    ({ journal }) => ({
      journal: [...journal, { ...journal.findLast(is('host', 'PictureRecorded'))!, commandId: NOBODY }],
    }),
  ],
  [
    'I11',
    'a deployable has no resource class',
    forge(
      'deployable',
      'DeployableRecorded',
      description(() => ({ attributes: [] })),
    ),
  ],
  ['I12', 'there are fewer handles than accelerators', forge('deployable', 'DeployableRecorded', counted(1))],
  [
    'I15',
    'Nova is to hear the opposite',
    forge('instance', 'BindSettled', (event) => ({
      ...event,
      outcome: event['outcome'] === 'failed' ? 'completed' : 'failed',
    })),
  ],
  [
    'I17',
    'all handles attach one function',
    ({ journal }) => ({
      journal: journal.map((row) => ({ ...row, events: eventsOf(row).map(withOneFunction) })),
    }),
  ],
  [
    'S5 disk',
    'a disk holds an order nobody gave',
    (evidence) => ({
      quiet: true,
      ...host(({ steps }) => ({ steps: [...steps, { did: 'noted', slot: NOBODY, number: 5, done: true }] }))(evidence),
    }),
  ],
  [
    'S5',
    'an old order is noted',
    host(({ steps }) => ({
      steps: [
        ...steps,
        { did: 'noted', slot: NOBODY, number: 5, done: true },
        { did: 'noted', slot: NOBODY, number: 4, done: true },
      ],
    })),
  ],
  ['S1 clients', 'two ARQs are seen with one handle at once', sharedInSight],
  ['PUBLISHED-1', 'a fact was never told', topics((messages) => messages.toSpliced(factAt(messages), 1))],
  ['PUBLISHED-2', 'two facts of a key were told in the wrong order', topics(swapped)],
  [
    'PUBLISHED-3',
    'a fact was told that nobody recorded',
    topics((messages) => {
      const fact = messages[factAt(messages)]!
      return [...messages, { ...fact, offset: 9999, id: `${fact.id}9` }]
    }),
  ],
  [
    'PUBLISHED-3',
    'a fact says something else',
    topics((messages) =>
      messages.with(factAt(messages), {
        ...messages[factAt(messages)]!,
        body: { ...(messages[factAt(messages)]!.body as object), version: 77 },
      }),
    ),
  ],
  [
    'PUBLISHED-4',
    'an old state is the last one',
    topics((messages) => {
      const state = messages.find(({ topic, body }) => topic === 'arq.state.v1' && body !== null)!
      const body = { ...(state.body as object), state: { ...(state.body as { state: object }).state, state: 'Lost' } }
      return [...messages, { ...state, offset: 9999, body }]
    }),
  ],
  [
    'PUBLISHED-5',
    'an order was sent that nobody recorded',
    topics((messages) => {
      const order = messages.find(({ topic }) => topic === 'host.orders.v1')!
      return [...messages, { ...order, offset: 9999, id: `${NOBODY}.1` }]
    }),
  ],
]
