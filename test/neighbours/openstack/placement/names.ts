/** The routes of traits and resource classes (placement.md 5.1). */
import type { Reply, Route } from './route.ts'
import { isStandard, type PlacementState, Refusal } from './state.ts'

const NOTHING: Reply = { status: 204 }
const CUSTOM = /^CUSTOM_[A-Z0-9_]+$/

type Kind = {
  readonly path: string
  readonly known: Set<string>
  readonly since: { readonly put: number; readonly others: number }
  readonly missing: (name: string) => string
  readonly inUse: (name: string) => boolean
  readonly found: (name: string) => Reply
}
const routesOf = ({ path, known, since, missing, inUse, found }: Kind): readonly Route[] => {
  const check = (name: string): void => {
    if (!known.has(name)) throw new Refusal(404, missing(name))
  }
  const put = (name: string): Reply => {
    if (!CUSTOM.test(name) || name.length > 255)
      throw new Refusal(400, `'${name}' does not match '^CUSTOM_[A-Z0-9_]+$'`)
    if (known.has(name)) return NOTHING
    known.add(name)
    return { status: 201 }
  }
  const remove = (name: string): Reply => {
    check(name)
    if (isStandard(name)) throw new Refusal(400, `Cannot delete standard ${name}.`)
    if (inUse(name)) throw new Refusal(409, `${name} is in use by a resource provider.`)
    known.delete(name)
    return NOTHING
  }
  const get = (name: string): Reply => {
    check(name)
    return found(name)
  }
  return [
    { method: 'GET', path, since: since.others, answer: ({ name }) => get(name) },
    { method: 'PUT', path, since: since.put, answer: ({ name }) => put(name) },
    { method: 'DELETE', path, since: since.others, answer: ({ name }) => remove(name) },
  ]
}

export const nameRoutes = ({ traits, classes, providers }: PlacementState): readonly Route[] => [
  ...routesOf({
    path: '/traits/*',
    known: traits,
    since: { put: 6, others: 6 },
    missing: (name) => `No such trait(s): ${name}.`,
    inUse: (name) => [...providers.values()].some((one) => one.traits.has(name)),
    found: () => NOTHING,
  }),
  ...routesOf({
    path: '/resource_classes/*',
    known: classes,
    // before 1.7 a PUT renames a class: nobody asks for that here
    since: { put: 7, others: 2 },
    missing: (name) => `No such resource class ${name}.`,
    inUse: (name) => [...providers.values()].some((one) => one.inventories.has(name)),
    found: (name) => ({ status: 200, body: { name, links: [{ rel: 'self', href: `/resource_classes/${name}` }] } }),
  }),
]
