/** Names for the UUIDs in recorded texts, so that one more UUID of another entity changes no other line. */

type Row = { readonly key: string; readonly events: readonly object[] }

/** Ids of requests are fixed texts of the tests. */
const UUID = /(?<!req-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/**
 * Entities are numbered by kind in the order of their first rows: `<arq 2>`. Other UUIDs are numbered within the entity
 * whose events are the first to have them: `<deployable 3 uuid 1>`. The rest is numbered as it appears in the text.
 */
export const idNames = (journal: readonly Row[]): ((text: string) => string) => {
  const names = new Map<string, string>()
  const perKind = new Map<string, number>()
  const keys = new Map<string, string>()
  for (const { key } of journal) {
    if (keys.has(key)) continue
    const [kind, id] = key.split('/') as [string, string]
    const number = (perKind.get(kind) ?? 0) + 1
    perKind.set(kind, number)
    keys.set(key, `${kind} ${number}`)
    if (id.match(UUID)?.[0] === id && !names.has(id)) names.set(id, `<${kind} ${number}>`)
  }
  const within = new Map<string, number>()
  for (const { key, events } of journal)
    for (const uuid of JSON.stringify(events).match(UUID) ?? []) {
      if (names.has(uuid)) continue
      const number = (within.get(key) ?? 0) + 1
      within.set(key, number)
      names.set(uuid, `<${keys.get(key)!} uuid ${number}>`)
    }
  return (text) => {
    const here = new Map<string, string>()
    return text.replaceAll(UUID, (uuid) => {
      const name = names.get(uuid) ?? here.get(uuid) ?? `<uuid ${here.size + 1}>`
      if (!names.has(uuid)) here.set(uuid, name)
      return name
    })
  }
}
