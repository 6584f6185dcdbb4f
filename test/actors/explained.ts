/** Small hosts and what is asked of them, for tests of explanations. */
import type { Deployable } from '../../src/actors/deployable/state.ts'
import type { Stop } from '../../src/actors/explain/answer.ts'
import { CHANGES } from '../../src/actors/explain/changes.ts'
import type { HostFacts } from '../../src/actors/explain/host.ts'
import type { ImageChoice, RequestedGroup } from '../../src/actors/explain/judge.ts'
import { host } from '../../src/actors/host/decider.ts'
import { placement } from '../../src/actors/placement/decider.ts'
import { type Fact, described, recorded } from '../audit/cases/scene.ts'
import { deciding } from './decided.ts'

const { after } = deciding('deployable')
export const attributes = (rc: string, ...traits: readonly string[]) => [
  { uuid: 'rc', key: 'rc', value: rc, origin: 'driver' },
  ...traits.map((value, at) => ({ uuid: `t${at}`, key: `trait${at}`, value, origin: 'driver' })),
]
/** A device named as it is, with as many handles as are named. */
export const board = (name: string, more: object = {}, ...facts: readonly Fact[]): Deployable =>
  after(
    recorded(
      { description: described([`${name}-1`, `${name}-2`], { hostWork: false, ...more }) },
      { uuid: `uuid ${name}`, name, rpUuid: `rp ${name}`, deviceUuid: `device ${name}` },
    ),
    ...facts,
  )
const alone = (root: Deployable) => ({ root, below: [] })
export const UP = { ...host.initial, exists: true, name: 'h1' }
export const inPlacement = (more: object = {}) => ({
  silent: 'down' as const,
  record: { ...placement.initial, ...more },
})
export const standing = (state: string, reason: string | null = null) =>
  inPlacement({ providers: { 'rp a': { state, reason, reserving: [] } } })
export const factsOf = (devices: readonly Deployable[], more: Partial<HostFacts> = {}): HostFacts => ({
  name: 'h1',
  host: UP,
  placement: null,
  devices: devices.map(alone),
  others: [],
  ...more,
})
export const asks = (
  group: Readonly<Record<string, string>>,
  arqs = ['x1'],
  image: ImageChoice = { bitstream: null },
): RequestedGroup => ({ group, arqs, imageFor: () => image })
export const FPGA = { 'resources:FPGA': '1' }
export type Told = readonly [code: keyof typeof CHANGES, reason: string, ...stops: readonly Stop[]]
export const obstacles = (...told: readonly Told[]) =>
  told.map(([code, reason, ...stops]) => ({ code, reason, change: CHANGES[code], stops }))
