import { describe, expect, it } from 'vitest'
import { type Said, specOf } from '../spec.ts'
import { id } from './samples.ts'

const { given, rows } = specOf('device')
const facts = {
  driver: 'simulated_driver',
  type: 'FPGA',
  vendor: '1bf2',
  model: 'card',
  stdBoardInfo: '{}',
  vendorBoardInfo: null,
  controlPath: '{"bus": "01"}',
}
const identity = { uuid: id(0xd0), id: 1, host: 'h1' }
const recorded: Said = { type: 'DeviceRecorded', identity, facts }
const newer = { ...facts, model: 'card, second edition' }
const retired: Said = { type: 'PresenceSet', presence: 'retired' }

describe('a device', () => {
  it('is recorded once, enabled and present', () => {
    given().when({ type: 'Record', identity, facts }).follows(recorded)
    given(recorded).when({ type: 'Record', identity, facts }).follows()
    expect(given(recorded).state).toMatchObject({
      status: 'enabled',
      presence: 'present',
      createdAt: 1,
      updatedAt: null,
    })
  })
  it('that was never recorded, or is retired, is not found whatever is asked', () => {
    const questions = [
      { type: 'Describe', facts, grown: false },
      { type: 'SetStatus', status: 'enabled' },
    ] as const
    for (const question of [...questions, { type: 'SetPresence', presence: 'present' } as const])
      given().when(question).isRefused({ kind: 'not_found', resource: 'device' })
    for (const question of questions)
      given(recorded, retired).when(question).isRefused({ kind: 'not_found', id: identity.uuid })
  })
  it('fails and is well again; other reasons are no news', () => {
    const fails: Said = { type: 'HealthSet', failing: 'too hot' }
    const well: Said = { type: 'HealthSet', failing: null }
    given(recorded).when({ type: 'SetHealth', failing: 'too hot' }).follows(fails)
    given(recorded).when({ type: 'SetHealth', failing: null }).follows()
    given(recorded, fails).when({ type: 'SetHealth', failing: 'something else' }).follows()
    given(recorded, fails).when({ type: 'SetHealth', failing: null }).follows(well)
    const { state } = given(recorded, fails)
    expect(state).toMatchObject({ failing: { reason: 'too hot', since: 1 }, updatedAt: 1 })
    expect(rows(recorded, fails)).toMatchObject([{ row: { failing: 'too hot' } }])
    expect(given(recorded, fails, well).state).not.toHaveProperty('failing')
  })
  it('that is retired can come back, in the status it had, and is listed again', () => {
    const maintaining: Said = { type: 'StatusSet', status: 'maintaining' }
    const back: Said = { type: 'PresenceSet', presence: 'present' }
    const gone = given(recorded, maintaining, retired)
    gone.when({ type: 'SetPresence', presence: 'retired' }).follows()
    gone.when({ type: 'SetPresence', presence: 'present' }).follows(back)
    const { state } = given(recorded, maintaining, retired, back)
    expect(state).toMatchObject({ ...identity, status: 'maintaining', presence: 'present', createdAt: 1 })
    expect(rows(recorded, maintaining, retired, back)).toMatchObject([
      { view: 'devices', row: { status: 'maintaining' } },
    ])
  })
  it('is described anew only when something is new', () => {
    given(recorded).when({ type: 'Describe', facts, grown: false }).follows()
    given(recorded).when({ type: 'Describe', facts, grown: true }).follows({ type: 'DeviceDescribed', facts })
    given(recorded)
      .when({ type: 'Describe', facts: newer, grown: false })
      .follows({ type: 'DeviceDescribed', facts: newer })
  })
  it('is disabled and enabled any number of times, and recorded when it changes', () => {
    const maintaining: Said = { type: 'StatusSet', status: 'maintaining' }
    given(recorded).when({ type: 'SetStatus', status: 'maintaining' }).follows(maintaining)
    given(recorded, maintaining).when({ type: 'SetStatus', status: 'maintaining' }).follows()
    given(recorded, maintaining)
      .when({ type: 'SetStatus', status: 'enabled' })
      .follows({ type: 'StatusSet', status: 'enabled' })
  })
  it('is missing, present again, or retired', () => {
    const missing: Said = { type: 'PresenceSet', presence: 'missing' }
    given(recorded).when({ type: 'SetPresence', presence: 'present' }).follows()
    given(recorded).when({ type: 'SetPresence', presence: 'missing' }).follows(missing)
    given(recorded, missing).when({ type: 'SetPresence', presence: 'retired' }).follows(retired)
  })
  it('is listed until it is retired', () => {
    expect(rows(recorded)).toMatchObject([{ view: 'devices', row: { uuid: identity.uuid, model: 'card' } }])
    expect(rows(recorded, retired)).toEqual([{ view: 'devices', key: identity.uuid, row: null }])
  })
})
