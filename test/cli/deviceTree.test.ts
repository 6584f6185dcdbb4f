/** The tree of one device: what is asked, in which order the parts stand, and how deep. */
import { expect, test } from 'vitest'
import type { Api } from '../../src/cli/operators/api.ts'
import { TREE, deviceTree, treeLines } from '../../src/cli/operators/deviceTree.ts'

const handle = (uuid: string, deployable: string, state: string, arq: string | null = null) => ({
  uuid,
  deployable_uuid: deployable,
  state,
  arq_uuid: arq,
})
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/devices/a%2Fb': { uuid: 'v1', model: 'A100', status: 'enabled' },
  '/deployables?device_uuid=v1': {
    deployables: [
      { uuid: 'below', parent_uuid: 'root', name: 'part', rp_uuid: 'rp2', placement: { state: 'pending' } },
      { uuid: 'root', parent_uuid: null, name: 'board', rp_uuid: null, placement: null },
      { uuid: 'old', name: 'of an older API', rp_uuid: 'rp3' },
    ],
  },
  '/handles?deployable_uuid=below': { handles: [handle('k1', 'below', 'held', 'q1'), handle('k2', 'below', 'free')] },
  '/handles?deployable_uuid=root': { handles: [handle('k3', 'root', 'missing')] },
  '/handles?deployable_uuid=old': { handles: [] },
}
const api: Api = async <Document>(method: string, path: string) => {
  if (method !== 'GET' || !(path in ANSWERS)) throw new Error(`${method} ${path} is not expected`)
  return ANSWERS[path] as Document
}

test('parents stand before their children, and a deployable without a parent stands below the device', async () => {
  const rows = await deviceTree(api, 'a/b')
  const nothing = { name: null, state: null, resource_provider: null, arq_uuid: null }
  expect(rows).toEqual([
    { ...nothing, kind: 'device', uuid: 'v1', parent_uuid: null, name: 'A100', state: 'enabled' },
    { ...nothing, kind: 'deployable', uuid: 'root', parent_uuid: 'v1', name: 'board' },
    {
      ...nothing,
      kind: 'deployable',
      uuid: 'below',
      parent_uuid: 'root',
      name: 'part',
      state: 'pending',
      resource_provider: 'rp2',
    },
    { ...nothing, kind: 'handle', uuid: 'k1', parent_uuid: 'below', state: 'held', arq_uuid: 'q1' },
    { ...nothing, kind: 'handle', uuid: 'k2', parent_uuid: 'below', state: 'free' },
    { ...nothing, kind: 'handle', uuid: 'k3', parent_uuid: 'root', state: 'missing' },
    {
      ...nothing,
      kind: 'deployable',
      uuid: 'old',
      parent_uuid: 'v1',
      name: 'of an older API',
      resource_provider: 'rp3',
    },
  ])
  expect(treeLines(rows)).toEqual([
    'device v1  A100  enabled',
    '  deployable root  board  resource provider -',
    '    deployable below  part  resource provider rp2',
    '      handle k1  held  arq q1',
    '      handle k2  free',
    '    handle k3  missing',
    '  deployable old  of an older API  resource provider rp3',
  ])
})
test('a device without model and status, and a deployable without a name, are shown with what there is', () => {
  const nothing = { name: null, state: null, resource_provider: null, arq_uuid: null }
  expect(
    treeLines([
      { ...nothing, kind: 'device', uuid: 'v1', parent_uuid: null },
      { ...nothing, kind: 'deployable', uuid: 'd1', parent_uuid: 'v1' },
      { ...nothing, kind: 'handle', uuid: 'k1', parent_uuid: 'd1' },
    ]),
  ).toEqual(['device v1', '  deployable d1    resource provider -', '    handle k1  '])
})
test('the columns have heads for people', () => {
  expect(TREE.map(({ name, head }) => head ?? name)).toEqual([
    'kind',
    'uuid',
    'parent',
    'name',
    'state',
    'resource_provider',
    'arq',
  ])
})
