/**
 * Small journals, written by hand: one card `c1` with the deployable `d1` and its handles `h1` and `h2`, requests `a1`,
 * `a2` of the profile `pr1`, and instances `i1`, `i2`. The appends of a journal are numbered; the first is made at 1000
 * ms, the next at 2000.
 */
import type { JournalRow } from '../../../src/actors/runtime/ports.ts'
import type { Evidence } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'

export type Fact = JournalRow['events'][number] & Readonly<Record<string, unknown>>
type Bond = {
  readonly hostname: string
  readonly deviceRpUuid: string
  readonly instanceUuid: string
  readonly deployable: string
  readonly host: string
  readonly handle: {
    readonly uuid: string
    readonly type: 'MDEV' | 'PCI' | 'TEST_PCI'
    readonly info: Readonly<Record<string, string>>
  }
  readonly order: number | null
}
/** The text of a row: its members in the order of their names. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
/** One row of an append. */
export type Entry = {
  readonly key: string
  readonly events: readonly Fact[]
  readonly by?: string
  readonly at?: number
  readonly version?: number
  readonly command?: string
}
export type Append = Entry | readonly Entry[]
/** What is judged, and all that has to be found in it, to the letter; nothing where nothing is wrong. */
export type Case = readonly [invariant: string, what: string, evidence: Partial<Evidence>, found: readonly Finding[]]

export const entry = (key: string, ...events: readonly Fact[]): Entry => ({ key, events })
/** Whatever is not said of a row follows from its place. */
export const journalOf = (...appends: readonly Append[]): readonly JournalRow[] => {
  const versions = new Map<string, number>()
  return appends.flatMap((append, n) =>
    [append].flat().map(({ key, events, by, at, version, command }: Entry): JournalRow => {
      const next = version ?? (versions.get(key) ?? 0) + 1
      versions.set(key, next)
      const cause = by === undefined ? {} : { by }
      return {
        key,
        version: next,
        commandId: command ?? `command-${n + 1}`,
        events,
        at: at ?? 1000 * (n + 1),
        cause,
      }
    }),
  )
}
export const of = (...appends: readonly Append[]) => ({ journal: journalOf(...appends) })

/** Found at the append that ends with this row of the journal. */
export const here = (rowCount: number, keys: readonly string[], line: string): Finding => ({
  found: `at ${rowCount}: ${line}`,
  rowCount,
  keys,
})

export const FPGA = { 'resources:FPGA': '1' }
export const PGPU = { 'resources:PGPU': '1' }
export const arq = (uuid: string, ...events: readonly Fact[]): Entry => entry(`arq/${uuid}`, ...events)
export const deployable = (uuid: string, ...events: readonly Fact[]): Entry => entry(`deployable/${uuid}`, ...events)
export const instance = (uuid: string, ...events: readonly Fact[]): Entry => entry(`instance/${uuid}`, ...events)

export const created = (uuid: string, more: object = {}): Entry =>
  arq(uuid, {
    type: 'ArqCreated',
    uuid,
    projectId: 'p1',
    profileUuid: 'pr1',
    profileName: 'p',
    groupId: 0,
    group: FPGA,
    ...more,
  })
export const profile = (...groups: readonly object[]): Entry =>
  entry('profile/pr1', { type: 'ProfileCreated', profile: { uuid: 'pr1', name: 'p', description: null, groups } })

export const bond = (handle = 'h1', more: Partial<Bond> = {}): Bond => ({
  hostname: 'node',
  deviceRpUuid: 'rp1',
  instanceUuid: 'i1',
  deployable: 'd1',
  host: 'host1',
  handle: { uuid: handle, type: 'PCI', info: {} },
  order: null,
  ...more,
})
export const bindStarted = (handle = 'h1', more: Partial<Bond> = {}): Fact => ({
  type: 'BindStarted',
  bond: bond(handle, more),
  projectId: null,
})
export const isBound: Fact = { type: 'Bound', workMs: null }
export const bindFailed: Fact = { type: 'BindFailed', reason: 'stuck' }
export const unbound: Fact = { type: 'Unbound', was: bond() }
export const removed: Fact = { type: 'ArqRemoved', was: bond() }

const knownHandle = (uuid: string, more: object = {}) => ({
  uuid,
  type: 'PCI',
  info: {},
  canonical: `PCI:${uuid}`,
  ...more,
})
export const described = (handles: readonly (string | object)[] = ['h1', 'h2'], more: object = {}) => ({
  driver: 'simulated_driver',
  numAccelerators: 2,
  driverName: 'simulated',
  hostWork: true,
  programmable: true,
  attributes: [{ uuid: 'rc', key: 'rc', value: 'FPGA', origin: 'driver', createdAt: 0 }],
  handles: handles.map((one) =>
    typeof one === 'string' ? knownHandle(one) : knownHandle((one as { readonly uuid: string }).uuid, one),
  ),
  ...more,
})
export const recorded = (more: object = {}, identity: object = {}): Fact => ({
  type: 'DeployableRecorded',
  identity: {
    uuid: 'd1',
    id: 2,
    name: 'board',
    rpUuid: 'rp1',
    deviceUuid: 'c1',
    deviceId: 1,
    host: 'host1',
    vendor: '1bf2',
    ...identity,
  },
  description: described(),
  status: 'enabled',
  bitstreamId: null,
  ...more,
})
export const board = deployable('d1', recorded())
export const card = entry('device/c1', {
  type: 'DeviceRecorded',
  identity: { uuid: 'c1', id: 1, host: 'host1' },
  facts: {
    driver: 'simulated_driver',
    type: 'FPGA',
    vendor: '1bf2',
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: '0000:01:00.0',
  },
})
export const order = (slot: string, number: number, more: object = {}) => ({
  type: 'ReleaseSlot',
  host: 'host1',
  slot,
  number,
  driver: 'simulated_driver',
  deployable: 'board',
  deployableUuid: 'd1',
  deadline: 9000,
  handle: { type: 'PCI', info: {} },
  ...more,
})
export const granted = (handle = 'h1', to = 'a1', by: object | null = null): Fact => ({
  type: 'Granted',
  handle,
  arq: to,
  order: by,
})
export const released = (handle = 'h1', from = 'a1', by: object | null = null): Fact => ({
  type: 'HandleReleased',
  handle,
  arq: from,
  order: by,
})
export const done = (slot = 'h1', number = 1): Fact => ({ type: 'OrderDone', slot, number })

export const accepted = (arqs: readonly string[] = ['a1'], more: object = {}): Fact => ({
  type: 'BindAccepted',
  instance: 'i1',
  parts: arqs.map((one) => ({ arq: one, deployable: 'd1', prepared: false })),
  hostname: 'node',
  deadline: 30_000,
  tellUntil: 60_000,
  requestId: 'req-1',
  ...more,
})
export const settled = (
  outcome: 'completed' | 'failed',
  arqs: readonly string[] = ['a1'],
  more: object = {},
): Fact => ({
  type: 'BindSettled',
  outcome,
  arqs,
  reason: null,
  tell: 0,
  ...more,
})
export const novaTold = (...arqs: readonly string[]): Fact => ({
  type: 'NovaTold',
  endings: Object.fromEntries(arqs.map((one) => [one, 'delivered'])),
  nextAt: 0,
  note: null,
})
export const resendAsked = (until: number): Fact => ({
  type: 'ResendAsked',
  statuses: { a1: 'completed' },
  nextAt: 0,
  until,
  by: 'operator',
  reason: 'Nova was restored',
})
export const left = (...arqs: readonly string[]): Fact => ({ type: 'ArqsLeft', arqs })

/** The append that accepts the bind of `a1`, and the one that settles it. */
export const binding: readonly Entry[] = [
  { ...arq('a1', bindStarted()), by: 'service' },
  deployable('d1', granted()),
  instance('i1', accepted()),
]
export const binds: readonly Entry[] = [arq('a1', isBound), instance('i1', settled('completed'))]
/** Four rows. */
export const baseline: readonly Append[] = [profile(FPGA), card, board, created('a1')]
