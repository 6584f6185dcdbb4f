/**
 * Decides which deployable of a tree grants the next handle. A root and all deployables below it share one resource
 * provider (data-model R4, R6). Both binds and explanations of binds use these rules. Pure.
 */
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import { DIVIDED, PROGRAMMED_NOW, hasFree } from './granting.ts'
import type { DeployableCommand, HeldBelow } from './messages.ts'
import { type Deployable, inUse, mayBePrepared } from './state.ts'
import type { Mates } from './units.ts'

/** `below`: in the order in which they were recorded, without the retired ones. */
export type DeployableTree = { readonly root: Deployable; readonly below: readonly Deployable[] }

/**
 * The deployable with a handle for the next of these requests; null: none is known. A root without a tree is always
 * returned: it gives its own reason.
 */
export const giverIn = ({ root, below }: DeployableTree, mates: Mates): Deployable | null => {
  if (root.nodes === 0 && below.length === 0) return root
  return [root, ...below].find((node) => node.presence === 'present' && hasFree(node, mates)) ?? null
}

/**
 * How parts of a whole card that its host shows no more are still held: a request uses one, or one is quarantined.
 * Null: none is held, or the card is divided.
 */
const heldBelow = ({ root, below }: DeployableTree): HeldBelow | null => {
  if (root.nodes > 0) return null
  return below.some(inUse) ? 'in_use' : below.some(mayBePrepared) ? 'not_released' : null
}
/**
 * The image that the giver is asked to load; only a root without a tree can be programmed. `expects`: the image the
 * card must hold. `why`: the refusal.
 */
export const loadOf = (
  tree: DeployableTree,
  giver: Deployable,
  image: ImageUuid | null,
):
  | Pick<Extract<DeployableCommand, { type: 'Grant' }>, 'bitstream' | 'expects' | 'heldBelow'>
  | { readonly rule: 'being_programmed' | 'divided'; readonly why: string } => {
  const { root } = tree
  if (giver.uuid === root.uuid) {
    const held = heldBelow(tree)
    return { bitstream: image, ...(held && { heldBelow: held }) }
  }
  if (root.program) return { rule: 'being_programmed', why: PROGRAMMED_NOW }
  return image === null || image === root.bitstreamId
    ? { bitstream: null, expects: image }
    : { rule: 'divided', why: DIVIDED }
}
