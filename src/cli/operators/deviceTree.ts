/** The content of one device: its deployables in order, and below each its attach handles with their holders. */
import { type Columns, columnsOf } from '../output.ts'
import type { Api } from './api.ts'
import type { Deployable, DeviceDetail, Handle } from './apiShapes.ts'

export type TreeRow = {
  readonly kind: 'device' | 'deployable' | 'handle'
  readonly uuid: string
  readonly parent_uuid: string | null
  readonly name: string | null
  readonly state: string | null
  readonly resource_provider: string | null
  readonly arq_uuid: string | null
}
export const TREE: Columns<TreeRow> = columnsOf<TreeRow>(
  ['kind', 'uuid', 'parent_uuid', 'name', 'state', 'resource_provider', 'arq_uuid'],
  { arq_uuid: 'arq', parent_uuid: 'parent' },
)

const handleRow = ({ uuid, deployable_uuid: parent, state, arq_uuid: arq }: Handle): TreeRow => ({
  kind: 'handle',
  uuid,
  parent_uuid: parent,
  name: null,
  state,
  resource_provider: null,
  arq_uuid: arq,
})
/**
 * The API shows `parent_uuid` from 2.4 on; a root has none. A deployable without it is shown directly below the device.
 */
const parentOf = ({ parent_uuid: parent }: Deployable, device: string): string => parent ?? device
const deployableRow = (each: Deployable, device: string): TreeRow => ({
  kind: 'deployable',
  uuid: each.uuid,
  parent_uuid: parentOf(each, device),
  name: each.name,
  state: each.placement?.state ?? null,
  resource_provider: each.rp_uuid,
  arq_uuid: null,
})

/** Parents before their children. */
const inOrder = (rows: readonly TreeRow[], parent: string): readonly TreeRow[] =>
  rows.filter((row) => row.parent_uuid === parent).flatMap((row) => [row, ...inOrder(rows, row.uuid)])

export const deviceTree = async (api: Api, uuid: string): Promise<readonly TreeRow[]> => {
  const device = await api<DeviceDetail>('GET', `/devices/${encodeURIComponent(uuid)}`)
  type Parts = { readonly deployables: readonly Deployable[] }
  const { deployables } = await api<Parts>('GET', `/deployables?device_uuid=${device.uuid}`)
  const handles = await Promise.all(
    deployables.map((each) =>
      api<{ readonly handles: readonly Handle[] }>('GET', `/handles?deployable_uuid=${each.uuid}`),
    ),
  )
  const parts = [
    ...deployables.map((each) => deployableRow(each, device.uuid)),
    ...handles.flatMap((each) => each.handles.map(handleRow)),
  ]
  const root: TreeRow = {
    kind: 'device',
    uuid: device.uuid,
    parent_uuid: null,
    name: device.model,
    state: device.state ?? device.status ?? null,
    resource_provider: null,
    arq_uuid: null,
  }
  return [root, ...inOrder(parts, device.uuid)]
}

const WORDS: Readonly<Record<TreeRow['kind'], (row: TreeRow) => string>> = {
  device: ({ uuid, name, state }) => `device ${uuid}  ${name ?? ''}  ${state ?? ''}`.trimEnd(),
  deployable: ({ uuid, name, resource_provider: provider }) =>
    `deployable ${uuid}  ${name ?? ''}  resource provider ${provider ?? '-'}`,
  handle: ({ uuid, state, arq_uuid: arq }) => `handle ${uuid}  ${state ?? ''}${arq === null ? '' : `  arq ${arq}`}`,
}
export const treeLines = (rows: readonly TreeRow[]): readonly string[] => {
  const depths = new Map<string, number>()
  return rows.map((row) => {
    const depth = row.parent_uuid === null ? 0 : (depths.get(row.parent_uuid) ?? 0) + 1
    depths.set(row.uuid, depth)
    return `${'  '.repeat(depth)}${WORDS[row.kind](row)}`
  })
}
