/** A device, to the letter. */
import { describe, expect, it } from 'vitest'
import { device, deviceKey } from '../../src/actors/device/decider.ts'
import { type Fact, card } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

type Decisions = readonly [string, readonly Fact[], Fact, unknown]
const [made] = card.events as readonly [Fact]
const FACTS = made['facts'] as Readonly<Record<string, unknown>>
const NO_FACTS = {
  driver: '',
  type: '',
  vendor: '',
  model: '',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: '',
}
const NEW = {
  exists: false,
  uuid: '',
  id: 0,
  host: '',
  facts: NO_FACTS,
  status: 'enabled',
  presence: 'present',
  createdAt: 0,
  updatedAt: null,
}
const MADE = { ...NEW, exists: true, uuid: 'c1', id: 1, host: 'host1', facts: FACTS, createdAt: 1000 }
const described: Fact = { type: 'DeviceDescribed', facts: { ...FACTS, model: 'n' } }
const status = (to: string): Fact => ({ type: 'StatusSet', status: to })
const presence = (to: string): Fact => ({ type: 'PresenceSet', presence: to })
const health = (failing: string | null): Fact => ({ type: 'HealthSet', failing })

describe('a device', () => {
  const { after, decide, rows } = exactly(device)
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['what it was recorded with', [made], MADE],
    ['what it is described as', [made, described], { ...MADE, facts: { ...FACTS, model: 'n' }, updatedAt: 2000 }],
    [
      'that it is disabled, and since when',
      [made, status('maintaining')],
      { ...MADE, status: 'maintaining', disabledSince: 2000, updatedAt: 2000 },
    ],
    ['that it is enabled again', [made, status('maintaining'), status('enabled')], { ...MADE, updatedAt: 3000 }],
    [
      'that it is missing, and since when',
      [made, presence('missing')],
      { ...MADE, presence: 'missing', missingSince: 2000, updatedAt: 2000 },
    ],
    ['that it is there again', [made, presence('missing'), presence('present')], { ...MADE, updatedAt: 3000 }],
    [
      'why it fails, and since when',
      [made, health('hot')],
      { ...MADE, failing: { reason: 'hot', since: 2000 }, updatedAt: 2000 },
    ],
    ['that it is well again', [made, health('hot'), health(null)], { ...MADE, updatedAt: 3000 }],
    ['nothing of an event of a later release', [made, { type: 'Polished' }], MADE],
  ])('remembers %s', (_, facts, state) => expect(after(...facts)).toStrictEqual(state))

  const gone = (id: string) => ({ kind: 'not_found', resource: 'device', id })
  const describing = (facts: object, grown: boolean): Fact => ({ type: 'Describe', facts, grown })
  const setStatus = (to: string): Fact => ({ type: 'SetStatus', status: to })
  const setPresence = (to: string): Fact => ({ type: 'SetPresence', presence: to })
  it.each<Decisions>([
    ['is recorded', [], { ...made, type: 'Record' }, [made]],
    ['is recorded once', [made], { ...made, type: 'Record' }, []],
    ['that is not there is not found', [], setStatus('maintaining'), gone('')],
    ['that is retired is not found', [made, presence('retired')], setStatus('maintaining'), gone('c1')],
    ['that is retired comes back', [made, presence('retired')], setPresence('present'), [presence('present')]],
    ['that is missing is found', [made, presence('missing')], setStatus('maintaining'), [status('maintaining')]],
    ['is disabled once', [made, status('maintaining')], setStatus('maintaining'), []],
    ['is missing', [made], setPresence('missing'), [presence('missing')]],
    ['is missing once', [made, presence('missing')], setPresence('missing'), []],
    ['fails', [made], { type: 'SetHealth', failing: 'hot' }, [health('hot')]],
    ['fails once, whatever the reason', [made, health('hot')], { type: 'SetHealth', failing: 'loud' }, []],
    ['is well, as before', [made], { type: 'SetHealth', failing: null }, []],
    ['is well again', [made, health('hot')], { type: 'SetHealth', failing: null }, [health(null)]],
    ['is not described anew when nothing changed', [made], describing(FACTS, false), []],
    [
      'is described anew when it has grown',
      [made],
      describing(FACTS, true),
      [{ type: 'DeviceDescribed', facts: FACTS }],
    ],
    ...Object.keys(NO_FACTS).map((fact): Decisions => [
      `is described anew with another ${fact}`,
      [made],
      describing({ ...FACTS, [fact]: 'new' }, false),
      [{ type: 'DeviceDescribed', facts: { ...FACTS, [fact]: 'new' } }],
    ]),
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  const ROW = {
    uuid: 'c1',
    id: 1,
    type: 'FPGA',
    vendor: '1bf2',
    model: 'm',
    std_board_info: 'std',
    vendor_board_info: 'own',
    hostname: 'host1',
    status: 'enabled',
    presence: 'present',
    driver: 'simulated_driver',
    failing: null,
    created_at: 1000,
    updated_at: null,
  }
  const boards: Fact = { ...made, facts: { ...FACTS, stdBoardInfo: 'std', vendorBoardInfo: 'own' } }
  const put = (row: object) => [{ view: 'devices', key: 'c1', row }]
  it.each<[string, readonly Fact[], unknown]>([
    ['with all its facts', [boards], put(ROW)],
    ['while it is missing', [boards, presence('missing')], put({ ...ROW, presence: 'missing', updated_at: 2000 })],
    ['with why it fails', [boards, health('hot')], put({ ...ROW, failing: 'hot', updated_at: 2000 })],
    ['no more when it is retired', [boards, presence('retired')], [{ view: 'devices', key: 'c1', row: null }]],
    ['no more once', [boards, presence('retired'), status('maintaining')], []],
    ['again when it is back', [boards, presence('retired'), presence('present')], put({ ...ROW, updated_at: 3000 })],
    ['not at all before it is recorded', [status('maintaining')], []],
    ['not at all when it never was', [presence('retired')], []],
    ['not anew when nothing changed', [boards, { type: 'Polished' }], []],
  ])('is shown %s', (_, facts, changes) => expect(rows(...facts)).toEqual(changes))
  it('is kept under its key', () => expect([device.kind, deviceKey('c1')]).toEqual(['device', 'device/c1']))
})
