/** What the console offers for a thing agrees with what the service accepts, state by state. */
import { describe, expect, test } from 'vitest'
import { ENTITIES } from '../../src/actors/entities.ts'
import {
  ARQ,
  WORD,
  bond,
  created,
  describing,
  handle,
  prepareOrder,
  recorded,
  releaseOrder,
} from '../actors/samples.ts'
import { type Documents, ago, pageOf } from './drawing.ts'
import * as shown from './samples.ts'

type Fact = { readonly type: string }
type Command = Readonly<Record<string, unknown>>
const held = (kind: string, ...facts: readonly Fact[]) =>
  facts.reduce<unknown>((state, fact) => ENTITIES[kind]!.evolve(state, fact, 1), ENTITIES[kind]!.initial)
/** Whether the command would change anything. */
const changes = (kind: string, state: unknown, command: Command): boolean => {
  const decision = ENTITIES[kind]!.decide(state, command)
  return decision.ok && decision.events.length > 0
}
/** Whether the page has a form to do it with. */
const isOffered = async (documents: Documents, kind: string, name: string): Promise<boolean> => {
  const { said, status } = await pageOf({ '/permissions': shown.MAY, ...documents }, `${kind}/x/do/${name}`)
  expect(status).toBe(200)
  return !said.includes('|Back|')
}

describe('of attach handles', () => {
  const HANDLE = handle(1).uuid
  const GIVEN_UP: readonly Fact[] = [
    { type: 'Granted', handle: HANDLE, arq: ARQ, order: prepareOrder(1, 1) } as Fact,
    { type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: releaseOrder(1, 2) } as Fact,
  ]
  const FAILED = { type: 'OrderFailed', slot: HANDLE, number: 2, reason: 'stuck', again: null } as Fact
  const WITHHELD = { type: 'HandleQuarantined', handle: HANDLE, until: 'confirmed', ...WORD } as Fact
  const described = (cleaning: object = { cleaning: 'by_host' }, ...facts: readonly Fact[]) =>
    held('deployable', recorded({ handles: [handle(1)], hostWork: true, ...cleaning }), ...facts)
  const gone = { type: 'DeployableDescribed', description: describing({ handles: [] }) } as Fact
  const handleIn = (state: string, order: number | null, policy: string | null = 'by_host'): Documents => ({
    '/handles/x': shown.handle(1, state, {
      ...{ attach_handle_type: 'PCI', attach_handle_info: {}, last_arq_uuid: null, quarantine: null },
      ...{ order, cleaning: { policy } },
    }),
  })
  /** `not`: what the service would do, and the console does not offer. */
  test.each<[string, unknown, Documents, string]>([
    // a handle that nobody has is clean already
    ['free', described(), handleIn('free', null), 'clean'],
    ['held', described(undefined, GIVEN_UP[0]!), handleIn('held', null), ''],
    ['releasing', described(undefined, ...GIVEN_UP), handleIn('releasing', 2), ''],
    // it is withheld already; who wants to record a reason of his own uses the command
    ['withheld', described(undefined, ...GIVEN_UP, FAILED), handleIn('quarantined', null), 'quarantine'],
    ['missing', described(undefined, gone), handleIn('missing', null), ''],
    [
      'withheld, without cleaning',
      described({}, ...GIVEN_UP, FAILED),
      handleIn('quarantined', null, null),
      'quarantine',
    ],
    [
      'withheld, to be cleaned by an operator',
      described({ cleaning: 'by_operator' }, ...GIVEN_UP, FAILED),
      handleIn('quarantined', null, 'by_operator'),
      'quarantine',
    ],
    [
      'withheld, with its host at work',
      described(undefined, ...GIVEN_UP, WITHHELD),
      handleIn('quarantined', 2),
      'quarantine',
    ],
  ])('that are %s', async (_, state, documents, not) => {
    const commands: Readonly<Record<string, Command>> = {
      quarantine: { type: 'Quarantine', handle: HANDLE, ...WORD },
      release: { type: 'Clear', handle: HANDLE, deadline: 9000, ...WORD },
      clean: { type: 'Clean', handle: HANDLE, deadline: 9000, ...WORD },
    }
    for (const [name, command] of Object.entries(commands))
      expect([name, await isOffered(documents, 'handles', name)]).toEqual([
        name,
        name !== not && changes('deployable', state, command),
      ])
  })
})

describe('of accelerator requests', () => {
  const STARTED = { type: 'BindStarted', bond, projectId: null } as Fact
  const UNBOUND = { type: 'Unbound', was: bond } as Fact
  /** Nova deletes what an instance has, with the instance; there is nothing to unbind of one that is not bound. */
  test.each<[string, readonly Fact[], string]>([
    ['Initial', [], 'force-unbind'],
    ['BindStarted', [STARTED], 'delete'],
    ['Bound', [STARTED, { type: 'Bound', workMs: 1 } as Fact], 'delete'],
    ['BindFailed', [STARTED, { type: 'BindFailed', reason: 'stuck' } as Fact], 'delete'],
    ['Unbound', [STARTED, UNBOUND], ''],
    ['UnbindFailed', [STARTED, UNBOUND, { type: 'ReleaseFailed', reason: 'stuck' } as Fact], 'delete'],
  ])('that are %s', async (state, facts, not) => {
    const documents = { '/accelerator_requests/x': shown.arq(1, state) }
    const now = held('arq', created, ...facts)
    const commands = { 'force-unbind': { type: 'Unbind', forced: WORD }, delete: { type: 'Remove' } }
    for (const [name, command] of Object.entries(commands))
      expect([name, await isOffered(documents, 'arqs', name)]).toEqual([
        name,
        name !== not && changes('arq', now, command),
      ])
  })
})

describe('of hosts', () => {
  const retired = { ...WORD, at: 1 }
  const offered = { offered: { key: 'k', at: 1 } }
  type Known = {
    readonly liveness?: string
    readonly retired?: object
    readonly keys?: object
    readonly exists?: boolean
  }
  const LIVE = ['up', 'stale', 'down'].map((liveness): Known => ({ liveness }))
  const OUT: readonly Known[] = [{ retired }, { liveness: 'removed', retired }]
  const WAITING = [...LIVE, ...OUT].map((known): Known => ({ ...known, keys: offered }))
  const all = [...LIVE, ...OUT, { keys: { key: 'k' } }, ...WAITING, { exists: false, keys: offered }]
  test.each<Known>(all)('%j', async (known) => {
    const state = { ...(ENTITIES['host']!.initial as object), exists: true, name: 'x', ...known }
    const liveness = known.exists === false ? 'pending' : (known.liveness ?? 'up')
    const keys = { public_key: null, offered_key: null, ...(known.keys === offered && { offered_key: 'k' }) }
    const documents = {
      '/hosts/x': shown.host({
        ...{ liveness, retired: known.retired === undefined ? null : { ...WORD, at: ago(1) } },
        ...(known.keys !== undefined && known.keys !== offered ? { ...keys, public_key: 'k' } : keys),
      }),
    }
    const commands: Readonly<Record<string, Command>> = {
      retire: { type: 'Retire', devices: {}, ...WORD },
      restore: { type: 'Restore', ...WORD },
      approve: { type: 'ApproveKey', name: 'x', named: null, ...WORD },
    }
    for (const [name, command] of Object.entries(commands)) {
      // one that was never in service is refused by not accepting its key
      const kept = name === 'retire' && liveness === 'pending'
      expect([name, await isOffered(documents, 'hosts', name)]).toEqual([
        name,
        !kept && changes('host', state, command),
      ])
    }
  })
})

describe('of profiles', () => {
  const facts = { uuid: ARQ, name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }
  test.each([[[true]], [[true, false]], [[false, true]], [[false]], [[false, false]]])(
    'with versions that are enabled: %j',
    async (enabled) => {
      const versions = enabled.map((on, at) => ({ ...facts, version: at + 1, enabled: on, createdAt: 1 }))
      const state = { ...(ENTITIES['profile']!.initial as object), facts, versions }
      const listed = versions.map(({ createdAt: _created, ...one }) => ({ ...one, created_at: ago(1) }))
      const documents = {
        '/device_profiles/x': { device_profile: shown.profile({ version: enabled.length }) },
        '/device_profiles/x/versions': { versions: listed },
      }
      const update = { type: 'Update', ifVersion: null, enabled: true, versions: [], ...WORD }
      const switched = (on: boolean): Command => {
        const version = enabled.lastIndexOf(!on) + 1
        return { ...update, versions: version > 0 ? [{ version, enabled: on }] : [] }
      }
      const commands: Readonly<Record<string, Command>> = {
        version: { ...update, groups: [{ 'resources:FPGA': '2' }] },
        disable: switched(false),
        enable: switched(true),
        delete: { type: 'Remove' },
      }
      for (const [name, command] of Object.entries(commands))
        expect([name, await isOffered(documents, 'profiles', name)]).toEqual([name, changes('profile', state, command)])
    },
  )
})

test.each(['enabled', 'maintaining'])('of devices that are %s', async (status) => {
  const documents = { '/devices/x': shown.device(1, { status, health: shown.HEALTH }) }
  const state = { ...(ENTITIES['device']!.initial as object), exists: true, status }
  for (const [name, wanted] of [
    ['disable', 'maintaining'],
    ['enable', 'enabled'],
  ] as const)
    expect([name, await isOffered(documents, 'devices', name)]).toEqual([
      name,
      changes('device', state, { type: 'SetStatus', status: wanted }),
    ])
})
test.each<[string, readonly string[], Documents, boolean]>([
  ['of which each bind has ended', ['Bound', 'BindFailed'], shown.overview(), true],
  ['of which a bind is under way', ['Bound', 'BindStarted'], shown.overview(), false],
  ['where there is no Nova', ['Bound'], shown.overview({ program: { nova: 'absent' } }), false],
  ['for whoever may not read the overview', ['Bound'], {}, true],
])('of instances %s', async (_, states, documents, offered) => {
  const arqs = states.map((state, at) => shown.arq(at, state))
  const all = { '/accelerator_requests': { arqs }, ...documents }
  expect(await isOffered(all, 'instances', 'resend')).toBe(offered)
})
