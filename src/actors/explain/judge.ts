/**
 * Finds all obstacles between one deployable and one group, by the rules of bind and by the wanted inventory of
 * Placement. Pure.
 */
import type { ArqUuid, ImageUuid } from '../../vocabulary/identifiers.ts'
import { amountOf, classesOf, mismatches, type Mismatch } from '../arq/groups.ts'
import type { Group } from '../arq/messages.ts'
import { type DeployableTree, giverIn, loadOf } from '../deployable/giver.ts'
import { countUnits } from '../deployable/units.ts'
import { type Granting, grant, grantable, wholeObstacles } from '../deployable/granting.ts'
import { type Deployable, attributeOf, evolve, traitsOf } from '../deployable/state.ts'
import { HANDLE_STATES } from '../deployable/states.ts'
import { type Host, isSilent } from '../host/decider.ts'
import type { PlacementRecord } from '../placement/decider.ts'
import { type Reserving, type ReserveSilent, type Wanted, wantedOf } from '../placement/wanted.ts'
import type { Obstacle, ObstacleCode, Stop } from './answer.ts'
import { CHANGES } from './changes.ts'

/** The image that a bind would load; `refusal`: why it finds none. */
export type ImageChoice = { readonly bitstream: ImageUuid | null } | { readonly refusal: string }
export type RequestedGroup = {
  readonly group: Group
  /** Placeholders for the UUIDs of the accelerator requests that the group makes. */
  readonly arqs: readonly ArqUuid[]
  readonly imageFor: (held: Deployable) => ImageChoice
}
export type Surroundings = {
  readonly host: Host
  /** Null: this service writes nothing to Placement. */
  readonly placement: { readonly silent: ReserveSilent; readonly record: PlacementRecord } | null
}

export const obstacle = (code: ObstacleCode, reason: string, ...stops: readonly Stop[]): Obstacle => ({
  code,
  reason,
  change: CHANGES[code],
  stops,
})

type Wish = { readonly arq: ArqUuid; readonly bitstream: ImageUuid | null; readonly mates: readonly ArqUuid[] }
type Refusal = Exclude<Granting, { readonly ok: true }>
/**
 * Grants these requests one after the other, as a bind does. If one is refused, `granted` is the number of grants
 * before it.
 */
export const grantAll = (
  { root, below }: DeployableTree,
  wishes: readonly Wish[],
): { readonly ok: true } | (Refusal & { readonly granted: number }) => {
  const now = new Map([root, ...below].map((node) => [node.uuid, node]))
  for (const [granted, wish] of wishes.entries()) {
    const [top, ...others] = [...now.values()] as [Deployable, ...Deployable[]]
    const tree = { root: top, below: others }
    const giver = giverIn(tree, wish.mates) ?? top
    const load = loadOf(tree, giver, wish.bitstream)
    if ('why' in load) return { ok: false, ...load, granted }
    const found = grantable(giver, { ...wish, ...load })
    if (!found.ok) return { ...found, granted }
    const decided = grant(giver, { type: 'Grant', ...wish, ...load, deadline: 0, requestId: '' })
    if (!decided.ok) throw new Error('a grant was refused that no rule refuses')
    now.set(
      giver.uuid,
      decided.events.reduce((state, event) => evolve(state, event, 0), giver),
    )
  }
  return { ok: true }
}

const handlesOf = ({ root, below }: DeployableTree): string => {
  const all = [root, ...below].flatMap(({ handles }) => Object.values(handles))
  const counts = HANDLE_STATES.flatMap((state) => {
    const count = all.filter((handle) => handle.state === state).length
    return count > 0 ? [`${count} ${state}`] : []
  })
  return counts.length > 0 ? counts.join(', ') : 'none'
}

/** The deployable without the obstacles of the whole device, so that its handles can be judged alone. */
const idle = (held: Deployable): Deployable => {
  const { failing: _, ...sound } = held
  return { ...sound, status: 'enabled', presence: 'present', program: null }
}

/** A part that its host shows no more is no giver, but where the whole device is shown no more. */
const idleTree = ({ root, below }: DeployableTree): DeployableTree => ({
  root: idle(root),
  below: below.map((node) => ({ ...idle(node), ...(root.presence === 'present' && { presence: node.presence }) })),
})

const grantObstacles = (
  tree: DeployableTree,
  { arqs }: RequestedGroup,
  bitstream: ImageUuid | null,
): readonly Obstacle[] => {
  const wishes = arqs.map((arq): Wish => ({ arq, bitstream, mates: arqs }))
  const whole = wholeObstacles(tree.root, { ...wishes[0]!, ...loadOf(tree, tree.root, bitstream) })
  const found = whole.map(({ rule, why }) => obstacle(rule, why, 'bind'))
  const granted = grantAll(whole.length === 0 ? tree : idleTree(tree), wishes)
  if (granted.ok || whole.some(({ rule }) => rule === granted.rule)) return found
  const why =
    granted.rule === 'no_free_handle'
      ? `${granted.granted} of the ${arqs.length} attach handles that are asked for can be granted; it has: ${handlesOf(tree)}`
      : granted.why
  return [...found, obstacle(granted.rule, why, 'bind')]
}

const imageObstacles = (tree: DeployableTree, asked: RequestedGroup): readonly Obstacle[] => {
  const image = asked.imageFor(tree.root)
  if ('refusal' in image) return [obstacle('image', image.refusal, 'bind'), ...grantObstacles(tree, asked, null)]
  return grantObstacles(tree, asked, image.bitstream)
}

/** The obstacle for each reason why units are reserved in Placement; if a rule of bind is the same, so is the code. */
const OF_RESERVING: Readonly<Record<Reserving, { readonly code: ObstacleCode; readonly why: string } | null>> = {
  'device disabled': { code: 'device_disabled', why: 'its device is in maintenance' },
  'device failing': { code: 'device_failing', why: 'its device is failing' },
  'device missing': { code: 'device_missing', why: 'its device is missing' },
  'being programmed': { code: 'being_programmed', why: 'it is being programmed' },
  'host retired': { code: 'host_retired', why: 'its host is out of service' },
  'host silent': { code: 'host_silent', why: 'its host was not heard from' },
  // these reasons reserve single units
  'handles unusable': null,
  'bound without allocation': null,
}

/** How many units of the provider Placement has left, according to the records. */
export const unitsLeft = ({ root, below }: DeployableTree, { total, reserved }: Wanted): number => {
  const used = [root, ...below].map((node) => countUnits(node, 'some', ({ state }) => state === 'held'))
  return Math.max(0, total - reserved - used.reduce((sum, units) => sum + units, 0))
}

const standingObstacles = (held: Deployable, { trouble, providers }: PlacementRecord): readonly Obstacle[] => {
  if (trouble?.state === 'waiting_for_compute_node') return [obstacle('no_compute_node', trouble.reason, 'placement')]
  const { state, reason } = providers[held.rpUuid] ?? { state: 'pending', reason: 'not compared with Placement yet' }
  if (state === 'placement_conflict') return [obstacle('placement_conflict', reason ?? state, 'placement')]
  return state === 'pending' ? [obstacle('placement_pending', reason ?? state, 'placement')] : []
}

/** The provider as Placement should show it; null: Placement should show none for the deployable. */
export const wantedFor = ({ root, below }: DeployableTree, { host, placement }: Surroundings): Wanted | null =>
  placement === null ? null : (wantedOf(host, [root, ...below], placement.silent)[0] ?? null)

const placementObstacles = (
  tree: DeployableTree,
  { group }: RequestedGroup,
  around: Surroundings,
): readonly Obstacle[] => {
  const wanted = wantedFor(tree, around)
  if (around.placement === null || wanted === null) return []
  const misses = mismatches(group, wanted.resourceClass, new Set(wanted.traits))
  const reasons = wanted.reasons.flatMap((each) => OF_RESERVING[each] ?? [])
  const left = unitsLeft(tree, wanted)
  const amount = amountOf(group, wanted.resourceClass)
  const short = reasons.length === 0 && left < amount
  const classes = classesOf(group)
  return [
    ...misses.map(({ rule, why }) => obstacle(rule, why, 'placement')),
    ...(classes.length > 1
      ? [
          obstacle(
            'several_classes',
            `it offers one resource class, the group asks for ${classes.join(', ')}`,
            'placement',
          ),
        ]
      : []),
    ...reasons.map(({ code, why }) => obstacle(code, why, 'placement')),
    ...(short
      ? [
          obstacle(
            'placement_capacity',
            `${left} of its ${wanted.total} units are left in Placement, the group asks for ${amount}`,
            'placement',
          ),
        ]
      : []),
    ...standingObstacles(tree.root, around.placement.record),
  ]
}

const hostObstacles = ({ root, below }: DeployableTree, { host }: Surroundings): readonly Obstacle[] => {
  if (!isSilent(host.liveness)) return []
  const work = [root, ...below].some(({ hostWork }) => hostWork)
    ? 'has work to do at a bind'
    : 'nobody knows whether the device is still there'
  return [obstacle('host_silent', `its host was not heard from, and ${work}`, 'work')]
}

/** Merges obstacles with the same code into one, which stops all that any of them stops. */
const merged = (found: readonly Obstacle[]): readonly Obstacle[] =>
  [...Map.groupBy(found, ({ code }) => code).values()].map((same) => ({
    ...same[0]!,
    stops: [...new Set(same.flatMap(({ stops }) => stops))],
  }))

/** The obstacles of class and traits, which can be found without the state of the deployable. */
export const mismatchObstacles = (found: readonly Mismatch[], placed: boolean): readonly Obstacle[] =>
  found.map(({ rule, why }) => obstacle(rule, why, 'bind', ...(placed ? (['placement'] as const) : [])))

export const obstaclesOf = (tree: DeployableTree, asked: RequestedGroup, around: Surroundings): readonly Obstacle[] =>
  merged([
    ...mismatches(asked.group, attributeOf(tree.root, 'rc'), traitsOf(tree.root)).map(({ rule, why }) =>
      obstacle(rule, why, 'bind'),
    ),
    ...imageObstacles(tree, asked),
    ...hostObstacles(tree, around),
    ...placementObstacles(tree, asked, around),
  ])
