/**
 * The attributes of a deployable form trees (data-model 8.3): an attribute may describe another one of the same deployable. Pure.
 *
 * ATTRIBUTES-1 a key is there once among the attributes that describe the same thing;
 * ATTRIBUTES-2 what Placement is told (`rc`, `trait*`) stands at the top, and only what stands there is read by anybody else;
 * ATTRIBUTES-3 an attribute leaves together with those that describe it.
 */
import type { AttributeUuid } from '../../identifiers.ts'
import type { Attribute } from './messages.ts'

export const ATTRIBUTE_DEPTH_MAX = 8

/** Whether its value is a name of Placement. */
export const isNaming = (key: string): boolean => key === 'rc' || key.startsWith('trait')
export const topLevel = <One extends Pick<Attribute, 'parent'>>(attributes: readonly One[]): readonly One[] =>
  attributes.filter(({ parent }) => parent === undefined)

/** Each attribute with the keys that lead to it from the top, its own last. One whose parent is not there has none. */
export const pathsOf = (attributes: readonly Attribute[]): ReadonlyMap<AttributeUuid, readonly string[]> => {
  const byUuid = new Map(attributes.map((attribute) => [attribute.uuid, attribute]))
  const pathTo = ({ key, parent }: Attribute, depth = 1): readonly string[] | null => {
    if (parent === undefined) return [key]
    const above = byUuid.get(parent)
    const path = above && depth < ATTRIBUTE_DEPTH_MAX ? pathTo(above, depth + 1) : null
    return path && [...path, key]
  }
  return new Map(
    attributes.flatMap((attribute) => {
      const path = pathTo(attribute)
      return path === null ? [] : [[attribute.uuid, path] as const]
    }),
  )
}

/** Without those whose parent is not among them (any more). */
export const rooted = (attributes: readonly Attribute[]): readonly Attribute[] => {
  if (attributes.every(({ parent }) => parent === undefined)) return attributes
  const paths = pathsOf(attributes)
  return attributes.filter(({ uuid }) => paths.has(uuid))
}

/** Why an operator may not add it, as a field and a rule; null: it may be added. A key that is taken is refused elsewhere. */
export const unfitAttribute = (
  attributes: readonly Attribute[],
  { key, parent }: Pick<Attribute, 'key' | 'parent'>,
): { readonly field: string; readonly rule: string } | null => {
  if (parent === undefined) return null
  const path = pathsOf(attributes).get(parent)
  if (path === undefined) return { field: 'parent_uuid', rule: 'it must be an attribute of the same deployable' }
  if (path.length >= ATTRIBUTE_DEPTH_MAX)
    return { field: 'parent_uuid', rule: `attributes are nested at most ${ATTRIBUTE_DEPTH_MAX} deep` }
  return isNaming(key)
    ? { field: 'key', rule: 'rc and keys that begin with trait describe the deployable itself: they have no parent' }
    : null
}
