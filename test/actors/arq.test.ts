import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Said, specOf } from '../spec.ts'
import { ARQ, bond, created, FPGA, id } from './samples.ts'

const { given, after, decide } = specOf('arq')
const bindStarted: Said = { type: 'BindStarted', bond, projectId: null }
const bound: Said = { type: 'Bound', workMs: 4 }
const unbound: Said = { type: 'Unbound', was: bond }
const failed: Said = { type: 'BindFailed', reason: 'no' }
const releaseFailed: Said = { type: 'ReleaseFailed', reason: 'stuck' }
const removed: Said = { type: 'ArqRemoved', was: null }
const create: Said = { ...created, type: 'Create' }
const bind: Said = { type: 'Bind', bond, projectId: null }

describe('an accelerator request', () => {
  it('is created once, with the group as the profile has it now', () => {
    given().when(create).follows(created)
    given(created)
      .when(create)
      .isRefused({ kind: 'bad_state', state: 'Initial', allowed: ['Absent'] })
    expect(given(created).state).toMatchObject({ status: 'Initial', group: FPGA, bond: null })
  })
  it('that was never created, or is gone, is not found whatever is asked', () => {
    for (const command of [
      bind,
      { type: 'Unbind' },
      { type: 'Remove' },
      { type: 'ReportBound', workMs: null },
    ] as const) {
      given().when(command).isRefused({ kind: 'not_found' })
      given(created, removed).when(command).isRefused({ kind: 'not_found', id: ARQ })
    }
  })
  it('starts to bind and keeps where to', () => {
    given(created).when(bind).follows(bindStarted)
    expect(given(created, bindStarted).state).toMatchObject({ status: 'BindStarted', bond, projectId: 'p1' })
  })
  it('takes another owner with the bind, where one is named', () => {
    given(created)
      .when({ ...bind, projectId: 'p2' })
      .follows({ ...bindStarted, projectId: 'p2' })
    expect(given(created, { ...bindStarted, projectId: 'p2' }).state.projectId).toBe('p2')
  })
  it('that is bound, binding or failed is not bound again', () => {
    for (const facts of [
      [bindStarted],
      [bindStarted, bound],
      [bindStarted, failed],
      [bindStarted, bound, unbound, releaseFailed],
    ])
      given(created, ...facts)
        .when(bind)
        .isRefused({ kind: 'bad_state', allowed: ['Initial', 'Unbound'] })
  })
  it('is Bound when its host is done', () => {
    given(created, bindStarted).when({ type: 'ReportBound', workMs: 4 }).follows(bound)
    expect(given(created, bindStarted, bound).state).toMatchObject({ status: 'Bound', bond })
  })
  it('keeps the reason why its bind failed, and where it was to go', () => {
    given(created, bindStarted).when({ type: 'ReportBindFailed', reason: 'no' }).follows(failed)
    expect(given(created, bindStarted, failed).state).toMatchObject({ status: 'BindFailed', reason: 'no', bond })
  })
  it('that is unbound forgets host, provider and instance at once', () => {
    given(created, bindStarted, bound).when({ type: 'Unbind' }).follows(unbound)
    expect(given(created, bindStarted, bound, unbound).state).toMatchObject({
      status: 'Unbound',
      bond: null,
      reason: null,
    })
  })
  it('unbound twice records it once', () => {
    given(created, bindStarted, unbound).when({ type: 'Unbind' }).follows()
  })
  it('never bound becomes Unbound all the same', () => {
    given(created).when({ type: 'Unbind' }).follows({ type: 'Unbound', was: null })
  })
  it('is shown as UnbindFailed when the handle it gave up cannot be released', () => {
    const report: Said = { type: 'ReportReleaseFailed', handle: bond.handle.uuid, reason: 'stuck' }
    given(created, bindStarted, unbound).when(report).follows(releaseFailed)
    expect(given(created, bindStarted, unbound, releaseFailed).state).toMatchObject({
      status: 'UnbindFailed',
      reason: 'stuck',
    })
  })
  it('does not care for the release of a handle it did not give up last', () => {
    given(created, bindStarted, unbound)
      .when({ type: 'ReportReleaseFailed', handle: id(9), reason: 'x' })
      .follows()
    given(created, bindStarted, unbound, releaseFailed)
      .when({ type: 'ReportReleased', handle: id(9) })
      .follows()
  })
  it('leaves UnbindFailed when the release is done after all, or when it is asked again', () => {
    const stuck = given(created, bindStarted, unbound, releaseFailed)
    stuck.when({ type: 'ReportReleased', handle: bond.handle.uuid }).follows({ type: 'Released' })
    stuck.when({ type: 'Unbind' }).follows({ type: 'Unbound', was: null })
    expect(given(created, bindStarted, unbound, releaseFailed, { type: 'Released' }).state).toMatchObject({
      status: 'Unbound',
      reason: null,
    })
  })
  it('still knows its handle when the second release fails too', () => {
    const again: Said = { type: 'Unbound', was: null }
    given(created, bindStarted, unbound, releaseFailed, again)
      .when({ type: 'ReportReleaseFailed', handle: bond.handle.uuid, reason: 'stuck' })
      .follows(releaseFailed)
  })
  it('can be removed from every state, and is gone', () => {
    given(created, bindStarted, bound).when({ type: 'Remove' }).follows({ type: 'ArqRemoved', was: bond })
    expect(given(created, removed).state).toMatchObject({ status: 'Gone', bond: null })
  })
})

/** The arrows of the printed diagram: from a status, by a move, to a status. */
const printed = readFileSync(new URL('../../infra/contracts/states/arq.md', import.meta.url), 'utf8')
const ARROWS = [...printed.matchAll(/^ {2}(\w+) --> (\w+): (\w+)$/gm)].map(([, from, to, move]) => ({ from, to, move }))
const STATUSES = [...new Set(ARROWS.flatMap(({ from, to }) => [from!, to!]))]
/** The command that asks for each move. */
const commands: Readonly<Record<string, Said>> = {
  create,
  bind,
  bound: { type: 'ReportBound', workMs: null },
  bindFailed: { type: 'ReportBindFailed', reason: 'no' },
  unbind: { type: 'Unbind' },
  releaseFailed: { type: 'ReportReleaseFailed', handle: bond.handle.uuid, reason: 'stuck' },
  released: { type: 'ReportReleased', handle: bond.handle.uuid },
  remove: { type: 'Remove' },
}
/** A state in which nothing but the status decides. */
const inState = (status: string) => ({
  ...given(created).state,
  status,
  bond: ['BindStarted', 'Bound', 'BindFailed'].includes(status) ? bond : null,
  gaveUp: { handle: bond.handle.uuid, deployable: bond.deployable },
})

describe('every state of an accelerator request by every move is as the printed diagram says', () => {
  const pairs = STATUSES.flatMap((status) => Object.keys(commands).map((move) => [status, move] as const))
  it.each(pairs)('%s, %s', (status, move) => {
    const target = ARROWS.find((one) => one.from === status && one.move === move)?.to
    const before = inState(status)
    const decision = decide(before, commands[move])
    if (decision.ok) return expect(after(before, ...decision.events).status).toBe(target)
    const gone = (status === 'Absent' || status === 'Gone') && move !== 'create'
    const allowed = ARROWS.flatMap((one) => (one.move === move ? one.from! : []))
    expect(target).toBeUndefined()
    expect(decision.fault).toMatchObject(gone ? { kind: 'not_found' } : { kind: 'bad_state', state: status })
    if (!gone)
      expect(new Set((decision.fault as { readonly allowed?: readonly string[] }).allowed)).toEqual(new Set(allowed))
  })
})
