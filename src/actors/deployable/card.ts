/**
 * What gives the handles of one resource provider: a root and all deployables below it (data-model R4, R6). A bind and whoever explains binds
 * choose by these rules. Pure.
 */
import { DIVIDED, PROGRAMMED_NOW, hasFree } from './granting.ts'
import type { Deployable } from './state.ts'
import type { Mates } from './units.ts'

/** `below`: without those that are retired, in the order in which they were recorded. */
export type Card = { readonly root: Deployable; readonly below: readonly Deployable[] }

/** The deployable that has a handle for the next of these requests; null: as far as they are known, none has. A lone root answers for itself. */
export const giverIn = ({ root, below }: Card, mates: Mates): Deployable | null => {
  if (root.nodes === 0 && below.length === 0) return root
  return [root, ...below].find((node) => node.presence === 'present' && hasFree(node, mates)) ?? null
}

/** What the giver is asked to load: only a root can be programmed, and only while nothing stands below it. `expects`: what the card has to hold. `why`: it gives nothing. */
export const loadOf = (
  root: Deployable,
  giver: Deployable,
  image: string | null,
):
  | { readonly bitstream: string | null; readonly expects?: string | null }
  | { readonly rule: 'being_programmed' | 'divided'; readonly why: string } => {
  if (giver.uuid === root.uuid) return { bitstream: image }
  if (root.program) return { rule: 'being_programmed', why: PROGRAMMED_NOW }
  return image === null || image === root.bitstreamId
    ? { bitstream: null, expects: image }
    : { rule: 'divided', why: DIVIDED }
}
