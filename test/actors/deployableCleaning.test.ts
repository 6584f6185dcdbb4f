/** CLEAN: what a deployable decides so that no handle is given to another request before it is clean. */
import type { Said } from '../spec.ts'
import { describe, expect, it } from 'vitest'
import { answer, done, failed, given, grant, granted, release, released } from './deployableFacts.ts'
import { ARQ, OTHER, WORD, describing, handle, recorded, releaseOrder } from './samples.ts'

const CLEANED = {
  command: '/sbin/wipe',
  startedAt: 10,
  finishedAt: 20,
  exitCode: 0,
  outputSha256: 'ab'.repeat(32),
  outputBytes: 3,
  output: 'ok\n',
}
const DIRTY = { ...CLEANED, exitCode: 3 }
const BY = 'policy of cleaning'
const WHY = 'cleaning failed: /sbin/wipe ended with exit code 3'
const NO_EVIDENCE = 'its host has released it and does not say that it was cleaned'
const byHost = (more: object = {}) =>
  recorded({ cleaning: 'by_host', hostWork: false, numAccelerators: 1, handles: [handle(1)], ...more })
const ordered = (number: number): Said => ({
  type: 'HandleReleased',
  handle: handle(1).uuid,
  arq: ARQ,
  order: { ...releaseOrder(1, number), clean: true },
})
const answered = (number: number, cleaned?: object, why: string | null = null): Said => ({
  ...answer(1, number, why, why !== null),
  ...(cleaned ? { cleaned } : {}),
})
const withheld = (reason: string): Said => ({
  type: 'HandleQuarantined',
  handle: handle(1).uuid,
  until: 'released',
  by: BY,
  reason,
})
const unclean = (number: number, reason: string, cleaned?: object | 'released'): Said => {
  const known = cleaned === 'released' ? { released: true } : { cleaned }
  return { ...failed(1, number, null), reason, ...(cleaned ? known : {}) }
}
const cleanDone = (number: number): Said => ({ ...done(1, number), cleaned: CLEANED })
const dirty = [byHost(), granted(1, null), ordered(1), unclean(1, WHY, DIRTY), withheld(WHY)]
const slot = (...events: readonly Said[]) => given(...events).state.handles[handle(1).uuid]

describe('UNCLEAN-1 where hosts clean', () => {
  it('a handle that is given up is ordered to be cleaned, also where nothing else is to be done on the host', () => {
    given(byHost(), granted(1, null)).when(release()).follows(ordered(1))
    expect(slot(byHost(), granted(1, null), ordered(1))).toMatchObject({ state: 'releasing' })
  })
  it('it is not granted before its host has proved that it is clean', () => {
    given(byHost(), granted(1, null), ordered(1))
      .when(grant(OTHER))
      .isRefused({ kind: 'conflict', reason: 'deployable h1_card: no free attach handle' })
    given(byHost(), granted(1, null), ordered(1)).when(answered(1, CLEANED)).follows(cleanDone(1))
    expect(slot(byHost(), granted(1, null), ordered(1), cleanDone(1))).toMatchObject({
      state: 'free',
      cleaned: CLEANED,
    })
  })
  it('a policy that is taken back counts from the next release on', () => {
    const { cleaning: _, ...without }: Readonly<Record<string, unknown>> = describing({
      cleaning: 'by_host',
      hostWork: false,
    })
    const described: Said = { type: 'DeployableDescribed', description: without }
    given(byHost(), granted(1, null), described).when(release()).follows(released(1, null))
    given(byHost(), granted(1, null), ordered(1), described)
      .when(answered(1))
      .follows(unclean(1, NO_EVIDENCE, 'released'), withheld(NO_EVIDENCE))
  })
})
describe('UNCLEAN-2 what was not cleaned', () => {
  const waiting = [byHost(), granted(1, null), ordered(1)]
  it('is withheld with the reason and the evidence, and not tried again by itself', () => {
    given(...waiting)
      .when(answered(1, DIRTY, WHY))
      .follows(unclean(1, WHY, DIRTY), withheld(WHY))
    expect(slot(...dirty)).toMatchObject({
      state: 'quarantined',
      cleaned: DIRTY,
      quarantine: { by: BY, reason: WHY },
    })
    given(...dirty)
      .when({ type: 'Due', at: 10_000_000, deadline: 1 })
      .follows()
  })
  it.each([
    ['without evidence, as a host of an earlier release does', answered(1), 'released'],
    ['with the evidence of a failure', answered(1, DIRTY), DIRTY],
  ] as const)('is also what was answered as done %s', (_, command, cleaned) => {
    given(...waiting)
      .when(command)
      .follows(unclean(1, NO_EVIDENCE, cleaned), withheld(NO_EVIDENCE))
  })
  it('keeps the reason of an operator who withholds it already', () => {
    const kept: Said = { type: 'HandleQuarantined', handle: handle(1).uuid, until: 'released', ...WORD }
    given(...waiting, kept)
      .when(answered(1, DIRTY, WHY))
      .follows(unclean(1, WHY, DIRTY))
  })
  it('a release that failed before its cleaning is ordered again, as any release', () => {
    const again = { ...failed(1, 1, 2), again: { ...releaseOrder(1, 2), clean: true } }
    given(...waiting)
      .when({ ...answer(1, 1, 'stuck') })
      .follows(again)
  })
  it('stays quarantined while its card does not show it, and when it is shown again, where its release has failed', () => {
    const description = describing({ cleaning: 'by_host', hostWork: false, numAccelerators: 1, handles: [] })
    const vanished: Said = { type: 'DeployableDescribed', description, quarantinedStay: true }
    given(...waiting, failed(1, 1, null))
      .when({ type: 'Describe', description })
      .follows(vanished)
    const facts = [...waiting, failed(1, 1, null), vanished]
    expect(slot(...facts)).toMatchObject({ state: 'quarantined', unseen: true })
    const back: Said = {
      type: 'DeployableDescribed',
      description: { ...description, handles: [handle(1)] },
    }
    expect(slot(...facts, back)).toMatchObject({ state: 'quarantined', unseen: false })
  })
  it('an operator may declare it clean, or have it cleaned again', () => {
    const uuid = handle(1).uuid
    given(...dirty)
      .when({ type: 'Clear', handle: uuid, deadline: 9000, ...WORD })
      .follows({ type: 'HandleCleared', handle: uuid, ...WORD })
    const again: Said[] = [
      { type: 'HandleCleared', handle: uuid, ...WORD },
      { type: 'HandleQuarantined', handle: uuid, until: 'confirmed', ...WORD },
      { ...ordered(2), arq: ARQ } as Said,
    ]
    given(...dirty)
      .when({ type: 'Clean', handle: uuid, deadline: 9000, ...WORD })
      .follows(...again)
    expect(slot(...dirty, ...again)).toMatchObject({ state: 'releasing' })
    expect(slot(...dirty, ...again, cleanDone(2))).toMatchObject({ state: 'free', cleaned: CLEANED })
    expect(slot(...dirty, ...again, cleanDone(2))).not.toHaveProperty('quarantine')
  })
  it('is cleaned again only where that is possible', () => {
    const clean: Said = { type: 'Clean', handle: handle(1).uuid, deadline: 9000, ...WORD }
    const because = (state: string, why: string) =>
      ({ kind: 'conflict', reason: `handle ${handle(1).uuid} is ${state}: ${why}` }) as const
    given(...waiting)
      .when(clean)
      .isRefused(because('releasing', 'its host is at work on it'))
    given(recorded())
      .when(clean)
      .isRefused(because('free', 'neither a command nor a playbook that cleans it is chosen on its host'))
    given(byHost(), granted(1, null))
      .when(clean)
      .isRefused(
        because('held', `accelerator request ${ARQ} has it; unbind that first, by force where nobody else can`),
      )
  })
})
describe('UNCLEAN-3 where operators clean', () => {
  const REASON = 'it was given up, and an operator has to clean it'
  const byOperator = recorded({ cleaning: 'by_operator', hostWork: false })
  it('a handle is withheld from the moment when it is given up', () => {
    given(byOperator, granted(1, null)).when(release()).follows(released(1, null), withheld(REASON))
    expect(slot(byOperator, granted(1, null), released(1, null), withheld(REASON))).toMatchObject({
      state: 'quarantined',
    })
  })
  it('also when its host has released it', () => {
    const worked = [recorded({ cleaning: 'by_operator' }), granted(1, 1), done(1, 1), released(1, 2), withheld(REASON)]
    expect(slot(...worked, done(1, 2))).toMatchObject({ state: 'quarantined', pending: null })
  })
})

describe('UNCLEAN-4 what the profile of a request asks for', () => {
  const REASON = 'it was given up, and an operator has to clean it: the device profile of its last request asks for it'
  const asking = (cleaning: string, number: number | null = null): Said => ({ ...granted(1, number), cleaning })
  const unpolicied = recorded({ hostWork: false })
  it('is recorded with the grant', () => {
    given(unpolicied)
      .when({ ...grant(), requestedCleaning: 'by_host' } as Said)
      .follows(asking('by_host'))
  })
  it('its host cleans where it has a command, as it would without being asked', () => {
    given(byHost(), asking('by_host')).when(release()).follows(ordered(1))
  })
  it('where its host has none, the handle is withheld', () => {
    given(unpolicied, asking('by_host')).when(release()).follows(released(1, null), withheld(REASON))
  })
  it('a quarantine withholds it also where its host cleans, which it does all the same', () => {
    given(byHost(), asking('by_operator')).when(release()).follows(ordered(1), withheld(REASON))
    const cleaned = [byHost(), asking('by_operator'), ordered(1), withheld(REASON), cleanDone(1)]
    expect(slot(...cleaned)).toMatchObject({ state: 'quarantined', cleaned: CLEANED })
  })
  it('takes nothing from the policy of the host', () => {
    given(recorded({ cleaning: 'by_operator', hostWork: false }), asking('by_host'))
      .when(release())
      .follows(released(1, null), withheld('it was given up, and an operator has to clean it'))
  })
  it('still counts when its host prepared the handle again, and when a failed release is tried again under another policy', () => {
    const again = { ...granted(1, 2), repeated: 'lost' }
    given(recorded(), asking('by_host', 1), done(1, 1), again, done(1, 2))
      .when(release())
      .follows(released(1, 3), withheld(REASON))
    const described: Said = {
      type: 'DeployableDescribed',
      description: describing({ hostWork: false, numAccelerators: 1, handles: [handle(1)] }),
    }
    given(byHost(), asking('by_host'), ordered(1), failed(1, 1, null), described)
      .when({ type: 'Due', at: 10_000_000, deadline: 9000 })
      .follows(released(1, 2), withheld(REASON))
  })
  it('counts for that request alone', () => {
    const cleared: Said = { type: 'HandleCleared', handle: handle(1).uuid, ...WORD }
    const facts = [unpolicied, asking('by_host'), released(1, null), withheld(REASON), cleared]
    given(...facts, granted(1, null, OTHER))
      .when(release(OTHER))
      .follows(released(1, null, OTHER))
  })
})
it('UNCLEAN-3 holds also where operators clean only since the release has failed', () => {
  const described: Said = {
    type: 'DeployableDescribed',
    description: describing({ cleaning: 'by_operator', numAccelerators: 1, handles: [handle(1)] }),
  }
  const failing = [recorded(), granted(1, 1), done(1, 1), released(1, 2), failed(1, 2, null), described]
  given(...failing)
    .when({ type: 'Due', at: 10_000_000, deadline: 9000 })
    .follows(released(1, 3), withheld('it was given up, and an operator has to clean it'))
})

describe('UNCLEAN-5 an operator says that a handle is clean before its host has released it', () => {
  const REASON = 'it was given up, and an operator has to clean it'
  const given1 = [recorded({ cleaning: 'by_operator' }), granted(1, 1), done(1, 1), released(1, 2), withheld(REASON)]
  const clear = { type: 'Clear', handle: handle(1).uuid, ...WORD, deadline: 9000 } as const
  const cleared: Said = { type: 'HandleCleared', handle: handle(1).uuid, ...WORD, releasing: true }
  it('the release goes on, and the handle is free when its host has answered', () => {
    given(...given1)
      .when(clear)
      .follows(cleared)
    expect(slot(...given1, cleared)).toMatchObject({ state: 'releasing', pending: { number: 2 } })
    expect(slot(...given1, cleared)?.quarantine).toBeUndefined()
    given(...given1, cleared)
      .when(grant(OTHER))
      .follows(granted(2, 3, OTHER))
    expect(slot(...given1, cleared, done(1, 2))).toMatchObject({ state: 'free', pending: null })
  })
  it('where the host has answered before, it is free at once', () => {
    const { releasing: _, ...atOnce } = cleared
    given(...given1, done(1, 2))
      .when(clear)
      .follows(atOnce)
  })
  it('an operator who has withheld it by hand decides alone, also where its host does not answer', () => {
    const byHand: Said = { type: 'HandleQuarantined', handle: handle(1).uuid, until: 'released', ...WORD }
    const facts = [recorded(), granted(1, 1), done(1, 1), released(1, 2), byHand]
    given(...facts)
      .when(clear)
      .follows({ type: 'HandleCleared', handle: handle(1).uuid, ...WORD })
    expect(slot(...facts, { type: 'HandleCleared', handle: handle(1).uuid, ...WORD })).toMatchObject({ state: 'free' })
  })
  it('where the host tries in vain, it is still the word of the operator that counts until the release is tried anew', () => {
    const again: Said = { ...failed(1, 2, 3) }
    expect(slot(...given1, cleared, again)).toMatchObject({ state: 'releasing', pending: { number: 3 } })
  })
  it('a host that is gone: released, withheld by hand and released again, it is free without its host', () => {
    const byHand: Said = { type: 'HandleQuarantined', handle: handle(1).uuid, until: 'released', ...WORD }
    given(...given1, cleared)
      .when({ type: 'Quarantine', handle: handle(1).uuid, ...WORD })
      .follows(byHand)
    const { releasing: _, ...atOnce } = cleared
    given(...given1, cleared, byHand)
      .when(clear)
      .follows(atOnce)
    expect(slot(...given1, cleared, byHand, atOnce)).toMatchObject({ state: 'free', pending: null })
  })
  it('also one that is withheld and releasing, because its release is tried again', () => {
    const again = [...given1, failed(1, 2, 3)]
    given(...again)
      .when(clear)
      .follows(cleared)
    given(...again)
      .when({ type: 'Quarantine', handle: handle(1).uuid, ...WORD })
      .follows({ type: 'HandleQuarantined', handle: handle(1).uuid, until: 'released', ...WORD })
  })
})
describe('a release that is tried again at once, under another policy than before', () => {
  const described = (cleaning?: string): Said => ({
    type: 'DeployableDescribed',
    description: describing({ ...(cleaning && { cleaning }), numAccelerators: 1, handles: [handle(1)] }),
  })
  const retried = answer(1, 1, 'stuck')
  it('where operators clean by now, the handle is withheld (UNCLEAN-3)', () => {
    given(byHost(), granted(1, 1), done(1, 1), ordered(1), described('by_operator'))
      .when(retried)
      .follows(failed(1, 1, 2), withheld('it was given up, and an operator has to clean it'))
  })
  it('so it is where nobody cleans by now and the profile asks for it (UNCLEAN-4)', () => {
    const asked = { ...granted(1, null), cleaning: 'by_host' }
    given(byHost(), asked, ordered(1), described())
      .when(retried)
      .follows(
        failed(1, 1, 2),
        withheld(
          'it was given up, and an operator has to clean it: the device profile of its last request asks for it',
        ),
      )
  })
  it('what its last request asks for is over when the handle is free, not when its host has released it', () => {
    const asked = { ...granted(1, 1), cleaning: 'by_host' }
    const facts = [recorded(), asked, done(1, 1), released(1, 2), withheld('why'), done(1, 2)]
    expect(slot(...facts)).toMatchObject({ state: 'quarantined', requestedCleaning: 'by_host' })
    const cleared: Said = { type: 'HandleCleared', handle: handle(1).uuid, ...WORD }
    expect(slot(...facts, cleared)?.requestedCleaning).toBeUndefined()
  })
})

describe('UNCLEAN-6 a cleaning that its host was ordered to do', () => {
  const OWED =
    'it was given up, and an operator has to clean it: its host was to clean it when it was given up, and has neither a command nor a playbook for it any more'
  const NOT_HERE = 'it has to be cleaned, and this host has neither a command nor a playbook'
  const described = (cleaning?: string): Said => ({
    type: 'DeployableDescribed',
    description: describing({ ...(cleaning && { cleaning }), numAccelerators: 1, handles: [handle(1)] }),
  })
  const owing = [byHost(), granted(1, 1), done(1, 1), ordered(2)]
  const givenUp = [...owing, failed(1, 2, null)]
  const due: Said = { type: 'Due', at: 10_000_000, deadline: 9000 }
  it('is owed where its host has lost its policy, and answers that it cannot clean', () => {
    for (const facts of [owing, [...owing, described()]])
      given(...facts)
        .when(answered(2, undefined, NOT_HERE))
        .follows(unclean(2, NOT_HERE), withheld(NOT_HERE))
  })
  it('is owed when its host releases it only after it has lost its policy', () => {
    given(...givenUp, described())
      .when(due)
      .follows(released(1, 3), withheld(OWED))
    const facts = [...givenUp, described(), released(1, 3), withheld(OWED)]
    expect(slot(...facts, done(1, 3))).toMatchObject({ state: 'quarantined', owesCleaning: true })
    given(...facts, done(1, 3))
      .when(due)
      .follows()
    given(...owing, described())
      .when(answer(1, 2, 'stuck'))
      .follows(failed(1, 2, 3), withheld(OWED))
  })
  it('is done by its host when it has a policy again', () => {
    given(...givenUp, described(), described('by_host'))
      .when(due)
      .follows(ordered(3))
    expect(slot(...givenUp, ordered(3), cleanDone(3))).toMatchObject({ state: 'free' })
    expect(slot(...givenUp, ordered(3), cleanDone(3))).not.toHaveProperty('owesCleaning')
  })
  it('stays owed while its card is out of the inventory, and when it returns', () => {
    const retired: Said = { type: 'PresenceSet', presence: 'retired' }
    const back: Said = { type: 'PresenceSet', presence: 'present' }
    given(...givenUp, retired, back, described())
      .when(due)
      .follows(released(1, 3), withheld(OWED))
  })
  it('is no longer owed by the next request', () => {
    const facts = [...owing, cleanDone(2), described(), granted(1, 3, OTHER), done(1, 3)]
    given(...facts)
      .when(release(OTHER))
      .follows(released(1, 4, OTHER))
  })
  it('is ended by an operator, who first has its host release it', () => {
    const uuid = handle(1).uuid
    const clear: Said = { type: 'Clear', handle: uuid, deadline: 9000, ...WORD }
    const facts = [...owing, described(), unclean(2, NOT_HERE), withheld(NOT_HERE)]
    const decided: Said[] = [
      { type: 'HandleCleared', handle: uuid, ...WORD },
      { type: 'HandleQuarantined', handle: uuid, until: 'confirmed', ...WORD },
      released(1, 3),
    ]
    given(...facts)
      .when(clear)
      .follows(...decided)
    expect(slot(...facts, ...decided, done(1, 3))).toMatchObject({ state: 'free' })
  })
  it('an operator who takes it into their own hands decides without the host', () => {
    const uuid = handle(1).uuid
    const facts = [...owing, described(), unclean(2, NOT_HERE), withheld(NOT_HERE)]
    const byHand: Said = { type: 'HandleQuarantined', handle: uuid, until: 'released', ...WORD }
    given(...facts)
      .when({ type: 'Quarantine', handle: uuid, ...WORD })
      .follows(byHand)
    given(...facts, byHand)
      .when({ type: 'Clear', handle: uuid, deadline: 9000, ...WORD })
      .follows({ type: 'HandleCleared', handle: uuid, ...WORD })
  })
})
