/**
 * Decides which deployable of a tree grants the next handle. A root and all deployables below it share one resource
 * provider (data-model R4, R6). Both binds and explanations of binds use these rules. Pure.
 */
import type { ImageUuid } from '../../identifiers.ts'
import { DIVIDED, PROGRAMMED_NOW, hasFree } from './granting.ts'
import { type Deployable, mayBePrepared } from './state.ts'
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

const USED_BELOW = 'a part of it is in use or quarantined, so it cannot be programmed now'
/**
 * The image that the giver is asked to load; only a root without a tree can be programmed, and not while a part is used
 * that its host shows no more. `expects`: the image the card must hold. `why`: the refusal.
 */
export const loadOf = (
  { root, below }: DeployableTree,
  giver: Deployable,
  image: ImageUuid | null,
):
  | { readonly bitstream: ImageUuid | null; readonly expects?: ImageUuid | null }
  | { readonly rule: 'being_programmed' | 'divided' | 'in_use'; readonly why: string } => {
  const isOther = image !== null && image !== root.bitstreamId
  if (giver.uuid === root.uuid)
    return isOther && root.nodes === 0 && below.some(mayBePrepared)
      ? { rule: 'in_use', why: USED_BELOW }
      : { bitstream: image }
  if (root.program) return { rule: 'being_programmed', why: PROGRAMMED_NOW }
  return isOther ? { rule: 'divided', why: DIVIDED } : { bitstream: null, expects: image }
}
