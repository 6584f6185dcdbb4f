/** Finds the projects of ARQs: from the rows that are read, and for older ARQs from their journal. */
import { arq, arqKey } from '../../actors/arq/decider.ts'
import type { Arq } from '../../actors/arq/state.ts'
import { arqsOf, projectGiven } from '../../actors/eventAudience.ts'
import { blank, idOf, kindOf, recallInto } from '../../actors/runtime/memory.ts'
import type { FeedRow, Journal } from '../../actors/runtime/ports.ts'
import type { ArqUuid, ProjectId } from '../../vocabulary/identifiers.ts'
import type { OwnerOf } from './entries.ts'

/** About 10 MB. */
const REMEMBERED_MAX = 50_000

export type Owners = {
  /** The projects of all ARQs that the rows name. Rejects with `Unreadable`. */
  readonly of: (rows: readonly FeedRow[]) => Promise<OwnerOf>
}

export const createOwners = (journal: Pick<Journal, 'recall'>): Owners => {
  const known = new Map<ArqUuid, ProjectId | null>()
  const learn = (uuid: ArqUuid, project: ProjectId | null): void => {
    known.delete(uuid)
    known.set(uuid, project)
    if (known.size > REMEMBERED_MAX) known.delete(known.keys().next().value!)
  }
  const recall = async (uuids: readonly ArqUuid[]): Promise<ReadonlyMap<ArqUuid, ProjectId | null>> => {
    if (uuids.length === 0) return new Map()
    const found = await journal.recall(uuids.map((uuid) => ({ key: arqKey(uuid), after: 0 })))
    return new Map(
      uuids.map((uuid) => {
        const key = arqKey(uuid)
        const { projectId } = recallInto(arq, blank(key, arq), found.get(key)).state as Arq
        return [uuid, projectId]
      }),
    )
  }
  return {
    of: async (rows) => {
      const here = new Map<ArqUuid, ProjectId | null>()
      for (const { key, events } of rows)
        for (const event of events) {
          const given = kindOf(key) === 'arq' ? projectGiven(event) : null
          if (given !== null) here.set(idOf(key), given)
        }
      const named = new Set(
        rows.flatMap(({ key, events }) => events.flatMap((event) => arqsOf(kindOf(key), idOf(key), event))),
      )
      const unknown = [...named].filter((uuid) => !here.has(uuid) && !known.has(uuid))
      for (const uuid of named) if (!here.has(uuid) && known.has(uuid)) here.set(uuid, known.get(uuid)!)
      for (const [uuid, project] of await recall(unknown)) here.set(uuid, project)
      for (const [uuid, project] of here) learn(uuid, project)
      return (uuid) => here.get(uuid) ?? null
    },
  }
}
