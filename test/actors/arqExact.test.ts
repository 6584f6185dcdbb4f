/** An accelerator request to the letter: all that it remembers after each fact, each decision, each row. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Arq, arq, arqKey } from '../../src/actors/arq/decider.ts'
import { RESOLVED, STATUSES, UNRESOLVED, diagram } from '../../src/actors/arq/states.ts'
import {
  type Fact,
  FPGA,
  bindFailed,
  bindStarted,
  bond,
  created,
  isBound,
  removed,
  unbound,
} from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after, decide, rows } = exactly(arq)
const [made] = created('a1').events as readonly [Fact]
const releaseFailed: Fact = { type: 'ReleaseFailed', reason: 'jammed' }
const released: Fact = { type: 'Released' }
const nothingGivenUp: Fact = { type: 'Unbound', was: null }
const NEW = {
  status: 'Absent',
  uuid: '',
  projectId: null,
  profileUuid: '',
  profileName: '',
  profileVersion: null,
  groupId: 0,
  group: {},
  bond: null,
  gaveUp: null,
  reason: null,
  createdAt: 0,
  updatedAt: null,
}
const MADE = {
  ...NEW,
  status: 'Initial',
  uuid: 'a1',
  projectId: 'p1',
  profileUuid: 'pr1',
  profileName: 'p',
  group: FPGA,
  createdAt: 1000,
}
const BINDING = { ...MADE, status: 'BindStarted', bond: bond(), updatedAt: 2000 }
const GIVEN_UP = { handle: 'h1', deployable: 'd1' }
const UNBOUND = { ...MADE, status: 'Unbound', gaveUp: GIVEN_UP, updatedAt: 3000 }

describe('an accelerator request remembers', () => {
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['what it was made with', [{ ...made, groupId: 1 }], { ...MADE, groupId: 1 }],
    ['where its bind leads', [made, bindStarted()], BINDING],
    [
      'whom it belongs to since its bind',
      [made, { ...bindStarted(), projectId: 'p2' }],
      { ...BINDING, projectId: 'p2' },
    ],
    ['that it is Bound', [made, bindStarted(), isBound], { ...BINDING, status: 'Bound', updatedAt: 3000 }],
    [
      'why its bind failed, and which handle it gave up',
      [made, bindStarted(), bindFailed],
      { ...BINDING, status: 'BindFailed', reason: 'stuck', gaveUp: GIVEN_UP, updatedAt: 3000 },
    ],
    ['which handle it gave up', [made, bindStarted(), unbound], UNBOUND],
    ['no handle when it had none', [made, nothingGivenUp], { ...MADE, status: 'Unbound', updatedAt: 2000 }],
    [
      'the handle it gave up when its bind failed',
      [made, bindStarted(), bindFailed, nothingGivenUp],
      { ...UNBOUND, updatedAt: 4000 },
    ],
    [
      'why its handle was not released',
      [made, bindStarted(), unbound, releaseFailed],
      { ...UNBOUND, status: 'UnbindFailed', reason: 'jammed', updatedAt: 4000 },
    ],
    [
      'no reason after the release',
      [made, bindStarted(), unbound, releaseFailed, released],
      { ...UNBOUND, updatedAt: 5000 },
    ],
    [
      'no reason after another unbind',
      [made, bindStarted(), unbound, releaseFailed, nothingGivenUp],
      { ...UNBOUND, updatedAt: 5000 },
    ],
    [
      'neither reason nor former handle in its next bind',
      [made, bindStarted(), unbound, releaseFailed, bindStarted('h2')],
      { ...BINDING, bond: bond('h2'), updatedAt: 5000 },
    ],
    ['no bond when it is gone', [made, bindStarted(), removed], { ...MADE, status: 'Gone', updatedAt: 3000 }],
    ['nothing of an event of a later release', [made, { type: 'Polished' }], MADE],
  ])('%s', (_, facts, state) => expect(after(...facts)).toEqual(state))
})

const refusal = (state: string, ...allowed: readonly string[]) => ({
  kind: 'bad_state',
  resource: 'accelerator request',
  id: 'a1',
  state,
  allowed,
})
const gone = (id: string) => ({ kind: 'not_found', resource: 'accelerator request', id })
const forced = { by: 'op', reason: 'r' }
const failing = (handle: string) => ({ type: 'ReportReleaseFailed', handle, reason: 'jammed' })
const releasing = (handle: string) => ({ type: 'ReportReleased', handle })
describe('of an accelerator request is decided', () => {
  it.each<[string, readonly Fact[], Parameters<typeof decide>[1], unknown]>([
    ['nothing where there is none', [], { type: 'Unbind' }, gone('')],
    ['nothing when it is gone', [made, removed], { type: 'Remove' }, gone('a1')],
    [
      'nothing that its state does not allow',
      [made, bindStarted()],
      { ...bindStarted(), type: 'Bind' },
      refusal('BindStarted', 'Initial', 'Unbound'),
    ],
    ['that it is made once', [made], { ...made, type: 'Create' }, refusal('Initial', 'Absent')],
    [
      'that it is not made again when it is gone',
      [made, removed],
      { ...made, type: 'Create' },
      refusal('Gone', 'Absent'),
    ],
    ['that it is made', [], { ...made, type: 'Create' }, [made]],
    ['that it is bound', [made], { ...bindStarted(), type: 'Bind' }, [bindStarted()]],
    ['that it is Bound', [made, bindStarted()], { type: 'ReportBound', workMs: 7 }, [{ type: 'Bound', workMs: 7 }]],
    ['that its bind failed', [made, bindStarted()], { type: 'ReportBindFailed', reason: 'stuck' }, [bindFailed]],
    ['that it is unbound', [made, bindStarted()], { type: 'Unbind' }, [unbound]],
    ['that it is unbound by force', [made, bindStarted()], { type: 'Unbind', forced }, [{ ...unbound, forced }]],
    ['that it is unbound once', [made, unbound], { type: 'Unbind', forced }, []],
    ['that its release failed', [made, bindStarted(), unbound], failing('h1'), [releaseFailed]],
    ['nothing of the release of another handle', [made, bindStarted(), unbound], failing('h2'), []],
    ['nothing of a release when it gave up nothing', [made, nothingGivenUp], failing('h1'), []],
    ['that it is released after all', [made, bindStarted(), unbound, releaseFailed], releasing('h1'), [released]],
    [
      'nothing of another handle that is released after all',
      [made, bindStarted(), unbound, releaseFailed],
      releasing('h2'),
      [],
    ],
    ['nothing of a late release when it gave up nothing', [made, nothingGivenUp, releaseFailed], releasing('h1'), []],
    ['that it is removed', [made, bindStarted()], { type: 'Remove' }, [removed]],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
})

const ROW = {
  uuid: 'a1',
  state: 'Initial',
  project_id: 'p1',
  profile_uuid: 'pr1',
  profile_name: 'p',
  profile_version: null,
  group_id: 0,
  group: FPGA,
  hostname: null,
  device_rp_uuid: null,
  instance_uuid: null,
  deployable_uuid: null,
  handle_uuid: null,
  handle_type: null,
  handle_info: null,
  reason: null,
  created_at: 1000,
  updated_at: null,
}
const LEADS = { ...ROW, hostname: 'node', device_rp_uuid: 'rp1', instance_uuid: 'i1', deployable_uuid: 'd1' }
const put = (row: object) => [{ view: 'arqs', key: 'a1', row }]
describe('of an accelerator request is shown', () => {
  it.each<[string, readonly Fact[], unknown]>([
    ['what it was made with', [made], put(ROW)],
    [
      'where its bind leads, without the handle',
      [made, bindStarted()],
      put({ ...LEADS, state: 'BindStarted', updated_at: 2000 }),
    ],
    [
      'its handle when it is Bound',
      [made, bindStarted(), isBound],
      put({ ...LEADS, state: 'Bound', handle_uuid: 'h1', handle_type: 'PCI', handle_info: {}, updated_at: 3000 }),
    ],
    [
      'why its bind failed',
      [made, bindStarted(), bindFailed],
      put({ ...LEADS, state: 'BindFailed', reason: 'stuck', updated_at: 3000 }),
    ],
    ['nothing any more when it is gone', [made, removed], [{ view: 'arqs', key: 'a1', row: null }]],
    ['nothing when it never was', [removed], []],
    ['nothing new when nothing changed', [made, { type: 'Polished' }], []],
  ])('%s', (_, facts, changes) => expect(rows(...facts)).toEqual(changes))
})

describe('the states of an accelerator request', () => {
  it('are those of the printed diagram', () => {
    const printed = readFileSync(new URL('../../infra/contracts/states/arq.md', import.meta.url), 'utf8')
    expect(printed).toContain(`\n${diagram()}\n`)
    expect(diagram().split('\n')[0]).toBe('stateDiagram-v2')
    expect(diagram().match(/-->/g)).toHaveLength(20)
  })
  it('are resolved or not', () => {
    expect(RESOLVED).toEqual(['Bound', 'BindFailed', 'Deleting'])
    expect(UNRESOLVED).toEqual(['Initial', 'BindStarted', 'Unbound', 'UnbindFailed'])
    expect(STATUSES).toEqual([
      'Absent',
      'Initial',
      'BindStarted',
      'Bound',
      'Unbound',
      'BindFailed',
      'UnbindFailed',
      'Deleting',
      'Gone',
    ] satisfies readonly Arq['status'][])
  })
  it('are kept under its key', () => expect([arq.kind, arqKey('a1')]).toEqual(['arq', 'arq/a1']))
})
