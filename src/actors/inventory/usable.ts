/** Decides which of the reported deployables of a known device can be recorded now (GROW-2, GROW-5). Pure. */
import type { DeployableName, DeployableUuid } from '../../vocabulary/identifiers.ts'
import type { ReportedDeployable } from '../../vocabulary/hardware.ts'
import { openClaims } from '../../vocabulary/attachedFunctions.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { type Deployable, localNameOf, takenHandles } from '../deployable/state.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { attachingOf } from './describe.ts'
import type { Shown } from './reconcile.ts'
import { treeOf } from './trees.ts'

/** Each with the name under which its host knows it. */
export const statesOf = (
  draft: Draft,
  deployables: Readonly<Record<DeployableName, DeployableUuid>>,
): readonly Deployable[] =>
  Object.values(deployables).map((uuid) => {
    const held = draft.state(deployable, deployableKey(uuid))
    return { ...held, name: localNameOf(held) }
  })

/** The names of all deployables in trees, recorded or shown, whose root is being programmed (GROW-2). */
const changingIn = (draft: Draft, shown: Shown, { deployables }: HeldDevice): ReadonlySet<DeployableName> => {
  const states = statesOf(draft, deployables)
  const { above } = treeOf(shown.device.deployables)
  const nodes = shown.device.deployables.map((one) => ({ name: one.name, root: above(one)?.root ?? null }))
  const names = states
    .filter(({ program }) => program !== null)
    .flatMap((root) => {
      const recorded = states.filter(({ tree }) => tree?.rootUuid === root.uuid)
      const below = [...recorded, ...nodes.filter((one) => one.root === root.name)]
      return below.length > 0 ? [root.name, ...below.map(({ name }) => name)] : []
    })
  return new Set(names)
}
export type Usable = {
  readonly usable: readonly ReportedDeployable[]
  /** Names of deployables that stay as they are recorded, whatever is reported. */
  readonly changing: ReadonlySet<DeployableName>
}
/**
 * The reported deployables that can be recorded now. Left out are those with hardware that an accelerator request still
 * uses through another deployable of the device, also as a virtual function, unless it is a part of theirs (GROW-5);
 * those whose tree is being programmed; and all deployables below these.
 */
export const usableOf = (draft: Draft, shown: Shown, held: HeldDevice): Usable => {
  const states = statesOf(draft, held.deployables)
  const used = claimsOf(states)
  const { inOrder, above } = treeOf(shown.device.deployables)
  const changing = changingIn(draft, shown, held)
  const left = new Set<DeployableName>(changing)
  const usable = inOrder.flatMap((one) => {
    const stays = left.has(one.name) || left.has(above(one)?.parent ?? one.name)
    const isUsable = !stays && used.against(one.name, one.handles.map(attachingOf)) === null
    const rest = stays || isUsable || above(one) !== null ? null : withoutParts(one, states)
    if (!isUsable && rest === null) left.add(one.name)
    return isUsable ? [one] : (rest ?? [])
  })
  return { usable, changing }
}

const claimsOf = (states: readonly Deployable[]) => {
  const used = openClaims()
  for (const held of states) used.add(held.name, takenHandles(held))
  return used
}
/** The root without the hardware of its recorded parts (GROW-5); null: something else uses its hardware. */
const withoutParts = (root: ReportedDeployable, states: readonly Deployable[]): ReportedDeployable | null => {
  const uuid = states.find(({ name }) => name === root.name)?.uuid
  const isPart = ({ tree }: Deployable): boolean => tree !== undefined && tree.rootUuid === uuid
  const others = claimsOf(states.filter((held) => !isPart(held)))
  if (others.against(root.name, root.handles.map(attachingOf)) !== null) return null
  const parts = claimsOf(states.filter(isPart))
  const handles = root.handles.filter((one) => parts.against(root.name, [attachingOf(one)]) === null)
  return { ...root, handles }
}
