/** A case for each condition of the invariants of `src/audit/cleaning.ts`. */
import {
  type Append,
  type Case,
  type Fact,
  deployable,
  described,
  granted,
  here,
  of,
  order,
  recorded,
  released,
} from './scene.ts'

const CLEANED = {
  command: '/sbin/wipe',
  startedAt: 1,
  finishedAt: 2,
  exitCode: 0,
  outputSha256: 'ab'.repeat(32),
  outputBytes: 0,
  output: '',
}
const DEPLOYABLE = ['deployable/d1']
const policy = (cleaning?: string) => described(['h1', 'h2'], cleaning === undefined ? {} : { cleaning })
const card = (cleaning?: string) => deployable('d1', recorded({ description: policy(cleaning) }))
const on = (...events: readonly Fact[]): Append => deployable('d1', ...events)
const done = (cleaned?: object, slot = 'h1'): Fact => ({
  type: 'OrderDone',
  slot,
  number: 2,
  ...(cleaned ? { cleaned } : {}),
})
const cleared: Fact = { type: 'HandleCleared', handle: 'h1', by: 'op', reason: 'clean' }
const changed = (cleaning?: string): Fact => ({ type: 'DeployableDescribed', description: policy(cleaning) })
const first = on(granted('h1', 'a1'))
const again = on(granted('h1', 'a2'))
const dirty = (rowCount: number) => [here(rowCount, DEPLOYABLE, 'handle h1 went to a2, and was not clean after a1')]
const asking = (cleaning: string) => on({ ...granted('h1', 'a1'), cleaning })
const failedAgain: Fact = { type: 'OrderFailed', slot: 'h1', number: 2, reason: 'busy', again: order('h1', 3) }
const givenUp = on(released())
const trace = (...cleaned: readonly string[]) => ({ hosts: [{ name: 'host1', steps: [], cleaned }] })
const cleanedOnce = of(card('by_host'), first, givenUp, on(done(CLEANED)))

export const cleaningCases: readonly Case[] = [
  ['S18', 'without a policy nothing has to be cleaned', of(card(), first, givenUp, again), []],
  ['S18', 'with one it has', of(card('by_host'), first, givenUp, again), dirty(4)],
  ['S18', 'also by operators', of(card('by_operator'), first, givenUp, on(done()), again), dirty(5)],
  ['S18', 'the evidence of its host is enough', of(card('by_host'), first, givenUp, on(done(CLEANED)), again), []],
  ['S18', 'an answer without evidence is not', of(card('by_host'), first, givenUp, on(done()), again), dirty(5)],
  [
    'S18',
    'nor is the evidence of a failure',
    of(card('by_host'), first, givenUp, on(done({ ...CLEANED, exitCode: 1 })), again),
    dirty(5),
  ],
  ['S18', 'nor that of another handle', of(card('by_host'), first, givenUp, on(done(CLEANED, 'h2')), again), dirty(5)],
  ['S18', 'the word of an operator is', of(card('by_operator'), first, givenUp, on(cleared), again), []],
  [
    'S18',
    'but not when its host is to clean it then',
    of(card('by_host'), first, givenUp, on(cleared, released()), again),
    dirty(5),
  ],
  [
    'S18',
    'a policy counts from when it is there',
    of(card(), first, on(changed('by_host'), released()), again),
    dirty(4),
  ],
  ['S18', 'and not for what was given up before', of(card(), first, givenUp, on(changed('by_host')), again), []],
  ['S18', 'nor when it is taken back', of(card('by_host'), first, on(changed(), released()), again), []],
  [
    'S18',
    'what a request has is prepared again for it',
    of(card('by_host'), first, on({ ...granted('h1', 'a1'), repeated: 'lost' })),
    [],
  ],
  ['S18', 'the profile of a request counts too', of(card(), asking('by_host'), givenUp, again), dirty(4)],
  [
    'S18',
    'where its host cleans, that is enough',
    of(card('by_host'), asking('by_host'), givenUp, on(done(CLEANED)), again),
    [],
  ],
  [
    'S18',
    'for a quarantine it is not',
    of(card('by_host'), asking('by_operator'), givenUp, on(done(CLEANED)), again),
    dirty(5),
  ],
  ['S18', 'the word of an operator is then', of(card(), asking('by_operator'), givenUp, on(cleared), again), []],
  [
    'S18',
    'it counts also for what is prepared again',
    of(card(), asking('by_host'), on({ ...granted('h1', 'a1'), repeated: 'lost' }), givenUp, again),
    dirty(5),
  ],
  [
    'S18',
    'and for its own request alone',
    of(card(), asking('by_host'), givenUp, on(cleared), again, on(released('h1', 'a2')), on(granted('h1', 'a3'))),
    [],
  ],
  [
    'S18',
    'a policy counts from the row that records it',
    of(deployable('d1', recorded({ description: policy('by_host') }), granted('h1', 'a1'), released()), again),
    dirty(2),
  ],
  [
    'S18',
    'where operators clean, the evidence of its host is not enough',
    of(card('by_operator'), first, givenUp, on(done(CLEANED)), again),
    dirty(5),
  ],
  [
    'S18',
    'what a former request asked for is over, also when the policy is',
    of(
      card('by_host'),
      asking('by_host'),
      givenUp,
      on(done(CLEANED)),
      again,
      on(changed(), released('h1', 'a2')),
      on(granted('h1', 'a3')),
    ),
    [],
  ],
  ['S18', 'it is named once', of(card('by_host'), first, givenUp, again, on(granted('h1', 'a3'))), dirty(4)],
  [
    'S18',
    'who gave it up is not known',
    of(card('by_host'), on(failedAgain), again),
    [here(3, DEPLOYABLE, 'handle h1 went to a2, and was not clean after ')],
  ],
  [
    'S18',
    'a release that is tried again by itself is still of the request that gave it up',
    of(card('by_host'), first, givenUp, on(released('h1', '')), again),
    dirty(5),
  ],
  [
    'S18',
    'the word of an operator ends what the request asks for, also when its release fails later',
    of(card(), asking('by_host'), givenUp, on(cleared), on(failedAgain), again),
    [],
  ],
  [
    'S18',
    'a release that is given up is not judged by a later policy',
    of(card(), first, givenUp, on(changed('by_operator')), on({ ...failedAgain, again: null }), again),
    [],
  ],
  ['S18 host', 'it was cleaned by that order', { ...cleanedOnce, ...trace('h1 2') }, []],
  [
    'S18',
    'what is owed is not forgiven when the policy is taken back',
    of(card('by_host'), first, givenUp, on(changed()), on(failedAgain), again),
    dirty(6),
  ],
  [
    'S18',
    'also not when the release is ordered again by itself, and done without evidence',
    of(card('by_host'), first, givenUp, on(changed(), released('h1', '')), on(done()), again),
    dirty(6),
  ],
  [
    'S18',
    'what an operator has declared clean may still have to be released by its host',
    of(card('by_operator'), first, givenUp, on(cleared, released()), on(done()), again),
    [],
  ],
  [
    'S18',
    'which counts for one request alone',
    of(card('by_operator'), first, givenUp, on(cleared), again, on(released('h1', 'a2')), on(granted('h1', 'a3'))),
    [here(7, DEPLOYABLE, 'handle h1 went to a3, and was not clean after a2')],
  ],
  [
    'S18',
    'also where that asks for more',
    of(card(), first, givenUp, on(changed('by_operator')), on(failedAgain), again),
    dirty(6),
  ],
  [
    'S18',
    'of a handle that a request has, the word of an operator leaves what the request asks for',
    of(card(), asking('by_host'), on(cleared), givenUp, again),
    dirty(5),
  ],
  [
    'S18 host',
    'it was cleaned by another one',
    { ...cleanedOnce, ...trace('h1 1') },
    [here(4, DEPLOYABLE, 'order 2 of h1 is recorded as cleaned, and host1 cleaned nothing')],
  ],
  ['S18 host', 'what a host did is not known', { ...cleanedOnce, hosts: [{ name: 'host1', steps: [] }] }, []],
  [
    'S18 host',
    'what another host did says nothing',
    { ...cleanedOnce, hosts: [{ name: 'h9', steps: [], cleaned: [] }] },
    [],
  ],
  [
    'S18 host',
    'an answer without evidence claims nothing',
    { ...of(card(), first, givenUp, on(done())), ...trace() },
    [],
  ],
]
