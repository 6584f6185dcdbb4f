/** What an actor of Placement records of its passes and of the providers of its host. */
import { describe, expect, test } from 'vitest'
import { type Said, specOf } from '../spec.ts'

const AT = 50
const { given, rows, due: dueOf } = specOf('placement', AT)
const UUID = '5b0dd8ca-0827-3ef3-804e-232d0228a582'
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const begun = (number: number, until = 100): Said => ({ type: 'PassBegun', host: 'h1', number, until })
const begin = (at: number, alone = false) => ({ type: 'Begin', host: 'h1', at, until: at + 100, alone }) as const
type Found = Readonly<Record<string, unknown>>
const found = (change: object = {}): Found => ({
  uuid: UUID,
  name: 'h1_card',
  deployable: 'd1',
  traits: ['OWNER_CYBORG'],
  state: 'in_sync',
  reason: null,
  reserving: [],
  ours: true,
  did: ['created'],
  ...change,
})
const reconciled = ({ did, ...provider }: Found): Said => ({ type: 'ProviderReconciled', provider, did })
const find = (number: number, ...findings: readonly Found[]) =>
  ({ type: 'Find', number, until: 200, findings }) as const
const ending = { type: 'End', number: 1, nextAt: 900, failed: false, trouble: null } as const
const WAITING = { state: 'waiting_for_compute_node', reason: 'no compute node h1' } as const
const ended: Said = { type: 'PassEnded', nextAt: 900, failed: false }
const CONTINUED: Said = { type: 'PassContinued', until: 200 }

describe('a pass', () => {
  test('is numbered from 1', () =>
    given()
      .when(begin(0))
      .follows({ ...begun(1), until: 100 } as Said))
  test('keeps others away until its end', () =>
    given(begun(1, 100)).when(begin(99)).isRefused({ kind: 'conflict', reason: 'a pass over h1 is under way' }))
  test('that is over is replaced by the next', () =>
    given(begun(1, 100))
      .when(begin(100))
      .follows({ ...begun(2), until: 200 } as Said))
  test('of a process that has died is replaced at once where no other process can write', () =>
    given(begun(1, 100))
      .when(begin(99, true))
      .follows({ ...begun(2), until: 199 } as Said))
  test('that has ended leaves the way free', () =>
    given(begun(1), ended)
      .when(begin(60))
      .follows({ ...begun(2), until: 160 } as Said))

  const late = [find(1), { type: 'FindRoot', number: 1, root: ROOT } as const, ending]
  test.each(late.map((command) => [command.type, command] as const))(
    'that was replaced records nothing more: %s',
    (_, command) => given(begun(1), begun(2)).when(command).isRefused({ reason: 'another pass has begun' }),
  )
  test('that has not begun records nothing', () => given().when(ending).isRefused({ reason: 'another pass has begun' }))
})

describe('after the database has lost rows', () => {
  const lost = { type: 'RowsLost', host: 'h1', at: 700 } as const
  const asked: Said = { type: 'PassAsked', host: 'h1', nextAt: 700 }
  const due = (...facts: readonly Said[]) => (dueOf(...facts) as { readonly at: number } | null)?.at
  test('a pass is due, also of a host that needed none', () => {
    given(begun(1), { ...ended, nextAt: null })
      .when(lost)
      .follows(asked)
    expect(due(begun(1), { ...ended, nextAt: null }, asked)).toBe(700)
    expect(due(asked)).toBe(700)
  })
  test('a pass that is under way goes on, and another one follows it', () => {
    expect(due(begun(1, 100), asked)).toBe(100)
    expect(due(begun(1, 100), asked, ended)).toBe(AT)
    expect(due(begun(1, 100), asked, begun(2), ended)).toBe(900)
  })
})

describe('what a pass finds', () => {
  test('of a new provider is recorded', () =>
    given(begun(1)).when(find(1, found())).follows(reconciled(found()), CONTINUED))
  test('and recorded before is not recorded again', () =>
    given(begun(1), reconciled(found()))
      .when(find(1, found({ did: [] })))
      .follows(CONTINUED))
  test('and changed is recorded, also when everything is as before', () =>
    given(begun(1), reconciled(found()))
      .when(find(1, found({ did: ['inventory'] })))
      .follows(reconciled(found({ did: ['inventory'] })), CONTINUED))
  const changes: readonly object[] = [
    { name: 'other' },
    { deployable: null },
    { traits: ['OWNER_CYBORG', 'CUSTOM_A'] },
    { state: 'pending' },
    { reason: 'why' },
    { reserving: ['device disabled'] },
    { ours: false },
  ]
  test.each(changes)('is recorded when it differs: %o', (change) =>
    given(begun(1), reconciled(found()))
      .when(find(1, found({ ...change, did: [] })))
      .follows(reconciled(found({ ...change, did: [] })), CONTINUED),
  )
  test('gone is forgotten', () => {
    const gone = found({ did: ['removed'], gone: true })
    given(begun(1), reconciled(found()))
      .when(find(1, gone))
      .follows({ type: 'ProviderForgotten', uuid: UUID, did: ['removed'] }, CONTINUED)
    const { state } = given(begun(1), reconciled(found()), { type: 'ProviderForgotten', uuid: UUID, did: [] })
    expect(state.providers).toEqual({})
  })
  test('gone and never recorded is told only if something was done', () => {
    given(begun(1))
      .when(find(1, found({ did: [], gone: true })))
      .follows(CONTINUED)
    given(begun(1))
      .when(find(1, found({ did: ['removed'], gone: true })))
      .follows({ type: 'ProviderForgotten', uuid: UUID, did: ['removed'] }, CONTINUED)
  })
  describe('the generation in which it agreed', () => {
    const [agreed, later] = [
      { generation: 2, digest: 'a' },
      { generation: 3, digest: 'a' },
    ]
    const continued = (one: typeof agreed): Said => ({ ...CONTINUED, agreed: { [UUID]: one } })
    const held = [begun(1), reconciled(found()), continued(agreed)]
    test('is recorded, and not again while it is the same', () => {
      given(begun(1))
        .when(find(1, found({ agreed })))
        .follows(reconciled(found()), continued(agreed))
      given(...held)
        .when(find(1, found({ did: [], agreed })))
        .follows(CONTINUED)
      given(...held)
        .when(find(1, found({ did: [], agreed: later })))
        .follows(continued(later))
      given(...held)
        .when(find(1, found({ did: [], agreed: { ...agreed, digest: 'b' } })))
        .follows(continued({ ...agreed, digest: 'b' }))
    })
    test('is kept with the provider, until something else is found of it', () => {
      const kept = (...events: readonly Said[]) => given(...events).state.providers[UUID]?.agreed
      expect(kept(...held)).toEqual(agreed)
      expect(kept(...held, { type: 'PassContinued', until: 300 })).toEqual(agreed)
      expect(kept(...held, reconciled(found({ state: 'pending' })))).toBeUndefined()
      expect(kept(...held, { type: 'ProviderForgotten', uuid: UUID, did: [] }, continued(later))).toBeUndefined()
    })
  })
  test('of the compute node is recorded once', () => {
    const command = { type: 'FindRoot', number: 1, root: ROOT } as const
    given(begun(1)).when(command).follows({ type: 'RootFound', root: ROOT, former: null })
    const rooted: Said = { type: 'RootFound', root: ROOT, former: null }
    given(begun(1), rooted).when(command).follows()
    given(begun(1), { ...rooted, root: UUID })
      .when(command)
      .follows({ type: 'RootFound', root: ROOT, former: UUID })
  })
})

describe('the end of a pass', () => {
  const pageError: Said = { type: 'TroubleFound', trouble: WAITING }
  test('tells of trouble once, and when it is over', () => {
    given(begun(1))
      .when({ ...ending, trouble: WAITING })
      .follows(pageError, ended)
    given(begun(1), pageError)
      .when({ ...ending, trouble: WAITING })
      .follows(ended)
    const other = { ...WAITING, reason: 'another' }
    given(begun(1), pageError)
      .when({ ...ending, trouble: other })
      .follows({ type: 'TroubleFound', trouble: other }, ended)
    const unreachable = { ...WAITING, state: 'unreachable' } as const
    given(begun(1), pageError)
      .when({ ...ending, trouble: unreachable })
      .follows({ type: 'TroubleFound', trouble: unreachable }, ended)
    given(begun(1), pageError).when(ending).follows({ type: 'TroubleOver' }, ended)
  })
  test('counts the failures in a row', () => {
    const failed: Said = { ...ended, failed: true }
    expect(given(begun(1), failed, begun(2), failed).state).toMatchObject({ failures: 2, endedAt: 50, nextAt: 900 })
    expect(given(begun(1), failed, begun(2), ended).state).toMatchObject({ failures: 0, pass: null })
  })
})

describe('the recorded moments', () => {
  const due = (at: number | null) => ({
    view: 'due',
    key: 'placement/h1',
    row: at === null ? null : { entity: 'placement/h1', kind: 'placement in_sync', at },
  })
  const unmarked = { view: 'due', key: 'placement-mark/h1', row: null }
  test('of a pass: its end, and no mark any more', () => expect(rows(begun(1))).toEqual([unmarked, due(100)]))
  test('of a pass that goes on: its new end', () => expect(rows(begun(1), CONTINUED)).toEqual([due(200)]))
  test('after a pass: the next one', () => expect(rows(begun(1), ended)).toEqual([due(900)]))
  test('after the last pass: none', () => expect(rows(begun(1), { ...ended, nextAt: null })).toEqual([due(null)]))
  test('are not written when they stay', () => expect(rows(begun(1), reconciled(found()))).toEqual([]))
})
