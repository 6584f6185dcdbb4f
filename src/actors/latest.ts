/** The latest state of entities that have a state topic, read from their view rows at the moment of publishing. */
import type { EntityKey } from '../vocabulary/identifiers.ts'
import type { BusRecord } from '../wire/envelope.ts'
import { type StateChannel, stateRecord } from '../wire/message.ts'
import { idOf, kindOf } from './runtime/memory.ts'
import type { FeedRow, PageQuery, Reads } from './runtime/ports.ts'
import { VIEWS, keyOfRow } from './runtime/views.ts'

type StateView = 'arqs' | 'devices' | 'hosts'
type Topic = { readonly channel: StateChannel; readonly view: StateView; readonly gone: (row: Cells) => boolean }
type Cells = Readonly<Record<string, unknown>>

const TOPICS: Readonly<Record<string, Topic>> = {
  arq: { channel: 'arqState', view: 'arqs', gone: () => false },
  device: { channel: 'deviceState', view: 'devices', gone: (row) => row['presence'] === 'retired' },
  host: { channel: 'hostState', view: 'hosts', gone: (row) => row['liveness'] === 'removed' },
}
const topicOf = (key: EntityKey): Topic => TOPICS[kindOf(key)]!
const ROWS_MAX = 1000

export type Latest = {
  readonly tells: (key: EntityKey) => boolean
  /**
   * The state of each key as text; null: the entity does not exist, or no longer exists. Makes one query for each view.
   */
  readonly read: (keys: readonly EntityKey[]) => Promise<ReadonlyMap<EntityKey, string | null>>
  readonly record: (
    mark: Pick<FeedRow, 'key' | 'version' | 'at' | 'position'>,
    latest: string | null,
    id: string,
  ) => BusRecord
}

export const createLatest = ({ page }: Pick<Reads, 'page'>): Latest => {
  const rowsOf = async (view: StateView, ids: readonly string[]): Promise<readonly Cells[]> => {
    const { key } = VIEWS[view]
    const query = { view, where: { [key]: ids }, sort: key, limit: ids.length } as unknown as PageQuery<StateView>
    return (await page(query)) ?? []
  }
  const readKind = async (
    kind: string,
    keys: readonly EntityKey[],
  ): Promise<readonly (readonly [EntityKey, string | null])[]> => {
    const { view, gone } = TOPICS[kind]!
    if (keys.length > ROWS_MAX) throw new Error(`${keys.length} states at once, more than ${ROWS_MAX}`)
    const rows = await rowsOf(view, keys.map(idOf))
    const found = new Map(rows.map((row) => [keyOfRow(view, row), gone(row) ? null : JSON.stringify(row)]))
    return keys.map((key) => [key, found.get(idOf(key)) ?? null])
  }
  return {
    tells: (key) => Object.hasOwn(TOPICS, kindOf(key)),
    read: async (keys) => {
      const kinds = [...Map.groupBy(keys, kindOf)]
      return new Map((await Promise.all(kinds.map(([kind, of]) => readKind(kind, of)))).flat())
    },
    record: ({ key, version, at, position }, latest, id) => {
      const state = latest === null ? null : (JSON.parse(latest) as object)
      return stateRecord(topicOf(key).channel, idOf(key), { entity: key, version }, state, { id, time: at, position })
    },
  }
}
