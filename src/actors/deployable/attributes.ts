/**
 * The attributes of a deployable form trees (data-model 8.3): an attribute may describe another attribute of the same
 * deployable. Pure.
 *
 * ATTRIBUTES-1 among the attributes that describe the same thing, each key occurs once;
 * ATTRIBUTES-2 attributes for Placement (`rc`, `trait*`) are at the top level, and other code reads only top-level
 *    attributes;
 * ATTRIBUTES-3 an attribute is removed together with the attributes that describe it.
 */
import type { AttributeUuid } from '../../vocabulary/identifiers.ts'
import type { Attribute } from './messages.ts'

export const ATTRIBUTE_DEPTH_MAX = 8

/** Whether the value of an attribute with this key is a name of a class or trait in Placement. */
export const isNaming = (key: string): boolean => key === 'rc' || key.startsWith('trait')
export const topLevel = <One extends Pick<Attribute, 'parent'>>(attributes: readonly One[]): readonly One[] =>
  attributes.filter(({ parent }) => parent === undefined)

/**
 * For each attribute, the keys from the top level down to its own. An attribute whose parent does not exist is left
 * out.
 */
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

/** The attributes without those whose parent is not, or no longer, among them. */
export const rooted = (attributes: readonly Attribute[]): readonly Attribute[] => {
  if (attributes.every(({ parent }) => parent === undefined)) return attributes
  const paths = pathsOf(attributes)
  return attributes.filter(({ uuid }) => paths.has(uuid))
}

/**
 * Why an operator may not add the attribute, as a field and a rule; null: it may be added. Other code refuses a key
 * that exists.
 */
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
