/**
 * Whatever call of the store fails: what cannot be answered is refused as unavailable, nothing is half done, and the
 * same operation succeeds as soon as the store answers again.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { type Outcome, isUndecided } from '../../src/vocabulary/fault.ts'
import { type Failure, failingStore } from './failingStore.ts'
import { ADMIN, type LivedIn, NOTE, openLivedIn } from './livedIn.ts'
import { settled } from './settled.ts'
import { COMMANDS, MAKINGS, MEASURED, OF_THE_PAST, type Operation, QUESTIONS, REFUSALS, REPORTS } from './operations.ts'

/** As long as a refusal to count is kept (COUNTED-3). */
const KEPT_MS = 5000

let cloud: LivedIn
beforeAll(async () => {
  cloud = await openLivedIn()
})

type Tried = {
  readonly first: Outcome<unknown>
  /** The answer after the store has come back, if the first one was a refusal. */
  readonly answer: string
  readonly recorded: readonly string[]
  readonly reached: boolean
}
type Rules = {
  /** Done again whatever the first answer was: it says in itself what was not done. */
  readonly again?: boolean
  /** What is recorded besides, by work that is found again without a command. */
  readonly besides?: RegExp
}
const attempt = async (operation: Operation, failure: Failure, n: number, rules: Rules): Promise<Tried> => {
  let failing!: ReturnType<typeof failingStore>
  const plane = await cloud.reopen((store) => (failing = failingStore(store)).store)
  const caller = { ...ADMIN, commandId: randomUUID() }
  const run = () => settled(cloud.clock(), operation(plane.control, cloud.names, caller, plane))
  failing.fail(failure, n)
  const first = await run()
  const reached = (failure === 'untold' ? failing.appends() : failing.calls()) >= n
  failing.heal()
  await settled(cloud.clock(), plane.sweeper.idle())
  const mustRepeat = first.ok ? rules.again : isUndecided(first.fault)
  if (mustRepeat) await cloud.clock().pass(KEPT_MS)
  const last = mustRepeat ? await run() : first
  await settled(cloud.clock(), plane.sweeper.idle())
  const rows = await cloud.recorded()
  await settled(cloud.clock(), plane.stop())
  const recorded = rows.map(({ key, events }) => cloud.textOf({ key, events })).toSorted()
  return {
    first,
    answer: cloud.textOf(last),
    recorded: recorded.filter((text) => !rules.besides?.test(text)),
    reached,
  }
}

/** Answers with the number of calls that were made to fail. */
const expectCured = async (operation: Operation, failure: Failure, rules: Rules = {}): Promise<number> => {
  const { answer, recorded, first } = await attempt(operation, failure, Infinity, { ...rules, again: false })
  if (!first.ok) expect(first.fault).not.toMatchObject({ reason: 'the journal does not answer' })
  for (let n = 1; ; n++) {
    const tried = await attempt(operation, failure, n, rules)
    if (!tried.reached) return n - 1
    const where = `${failure} ${n}`
    if (!tried.first.ok && first.ok) expect([where, tried.first.fault.kind]).toEqual([where, 'unavailable'])
    if (!rules.again) expect([where, tried.answer]).toEqual([where, answer])
    expect([where, tried.recorded]).toEqual([where, recorded])
    if (recorded.length === 0) continue
    const journal = await cloud.store.journal.feed('', 100_000)
    expect(check({ journal, now: cloud.clock().now() })).toEqual([])
  }
}

const RULES: Readonly<Record<string, Rules>> = {
  // Nova is told by the next round
  'requests are bound': { besides: /NovaTold/ },
  // the device leaves with the next report of its host
  'a request on a retired host is unbound by force': { besides: /PresenceSet|LivenessSet/ },
}
// Nova is told by the next round, and a refusal that is not recorded is logged
const OF_REPORTS: Rules = { besides: /NovaTold|ReportRefused/ }
const rowsOf = (operations: Readonly<Record<string, Operation>>) =>
  Object.entries(operations).map(([name, operation]) => [name, operation, RULES[name] ?? {}] as const)

describe('when a call of the store fails', () => {
  test.each(rowsOf(QUESTIONS))('%s', async (_, operation) => {
    expect(await expectCured(operation, 'lost')).toBeGreaterThan(0)
  })
  test.each(rowsOf(OF_THE_PAST))('%s of the past', async (_, operation) => {
    expect(await expectCured(operation, 'lost')).toBeGreaterThan(0)
  })
  test.each(rowsOf(REFUSALS))('%s is refused, or unavailable', async (_, operation) => {
    expect(await expectCured(operation, 'lost')).toBeGreaterThan(0)
  })
  test.each(rowsOf({ ...COMMANDS, ...MAKINGS }))('%s', async (_, operation, rules) => {
    expect(await expectCured(operation, 'lost', rules)).toBeGreaterThan(0)
  })
  test.each(Object.entries(REPORTS))('%s is taken when it is delivered again', async (_, reportOf) => {
    const report = reportOf(cloud.names)
    expect(
      await expectCured((..._given) => _given[3].reports.take(report, 'the id'), 'lost', OF_REPORTS),
    ).toBeGreaterThan(0)
  })
  test('a bad device is recorded with the next reading', async () => {
    const take: Operation = (_, __, ___, { reports }) => reports.take(MEASURED, randomUUID())
    expect(await expectCured(take, 'lost', { again: true })).toBeGreaterThan(0)
  })
  test('the adoption of lost rows says what it has not done, and does it when it is repeated', async () => {
    const adopt: Operation = (_, { journal }, caller, { adoption }) => {
      const rows = journal.map(({ key, events, commandId }) => ({ key, events, command: commandId }))
      const ofParts = rows.filter(({ key }) => key.startsWith('deployable/')).slice(-2)
      const others = rows.filter(({ key }) => key.startsWith('arq/')).map((row) => ({ ...row, command: 'another' }))
      return adoption(caller, [...ofParts, ...others], NOTE)
    }
    expect(await expectCured(adopt, 'lost', { again: true, besides: /PassAsked/ })).toBeGreaterThan(0)
  })
})
test.each<readonly [what: string, remove: Operation]>([
  ['a request', ({ arqs }, { left }, caller) => arqs.remove(caller, [left])],
  ['a profile', ({ profiles }, { unused }, caller) => profiles.remove(caller, [unused])],
])('the repeated deletion of %s is unavailable, and never unknown, while the store fails', async (_, remove) => {
  const caller = { ...ADMIN, commandId: randomUUID() }
  let failing!: ReturnType<typeof failingStore>
  const plane = await cloud.reopen((store) => (failing = failingStore(store)).store)
  const run = () => settled(cloud.clock(), remove(plane.control, cloud.names, caller, plane))
  expect(await run()).toMatchObject({ ok: true })
  const answers: unknown[] = []
  for (let n = 1; ; n++) {
    failing.fail('lost', n)
    const answer = await run()
    if (failing.calls() < n) break
    answers.push(answer.ok ? 'done' : answer.fault.kind)
  }
  expect(new Set(answers)).toEqual(new Set(['unavailable']))
  await settled(cloud.clock(), plane.stop())
})
describe('when the writer of an append is not told that it is written, and the store is away afterwards', () => {
  test.each(rowsOf(COMMANDS))('%s once, although it is repeated', async (_, operation, rules) => {
    expect(await expectCured(operation, 'untold', rules)).toBeGreaterThan(0)
  })
  test.each(Object.entries(REPORTS).slice(1))(
    '%s is taken once, although it is delivered again',
    async (_, reportOf) => {
      const report = reportOf(cloud.names)
      await expectCured((..._given) => _given[3].reports.take(report, 'the id'), 'untold', OF_REPORTS)
    },
  )
})

describe('when others are always faster', () => {
  test.each(rowsOf({ ...COMMANDS, ...MAKINGS }))('%s is unavailable, and nothing is recorded', async (_, operation) => {
    let failing!: ReturnType<typeof failingStore>
    const plane = await cloud.reopen((store) => (failing = failingStore(store)).store)
    failing.fail('overtaken', Infinity)
    const caller = { ...ADMIN, commandId: randomUUID() }
    const answer = await settled(cloud.clock(), operation(plane.control, cloud.names, caller, plane))
    expect(answer).toMatchObject({ ok: false, fault: { kind: 'unavailable', retryAfterSeconds: 1 } })
    expect(await cloud.recorded()).toEqual([])
    await settled(cloud.clock(), plane.stop())
  })
})
