/** Deployables with parts in different states: which of them decides, and which of them changes. */
import { describe, expect, it } from 'vitest'
import { type Fact, described, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { type Case, deciding } from './decided.ts'

const { after, decide } = deciding('deployable')
const WORD = { by: 'op', reason: 'r' }
const made = recorded()
const quiet = recorded({ description: described(['h1', 'h2'], { hostWork: false }) })
const keeps = (handle: string, more: object = {}): Fact => ({
  type: 'HandleQuarantined',
  handle,
  until: 'released',
  ...WORD,
  ...more,
})
const shows = (handles: readonly string[], more: object = {}): Fact => ({
  type: 'DeployableDescribed',
  description: described(handles, more),
})
const describes = (handles: readonly string[]): Fact => ({ type: 'Describe', description: described(handles) })
const release: Fact = { type: 'Release', arq: 'a1', deadline: 9000 }
const program: Fact = { type: 'Program', image: 'image', deadline: 9000, requestId: 'req-1' }
const programs: Fact = {
  type: 'ProgramStarted',
  image: 'image',
  order: { ...order('d1', 1, { type: 'Program', image: 'image', requestId: 'req-1' }), handle: undefined },
}
describe('a deployable', () => {
  const evidence = {
    command: 'c',
    startedAt: 1,
    finishedAt: 2,
    exitCode: 1,
    outputSha256: '',
    outputBytes: 0,
    output: '',
  }
  it.each<Case>([
    [
      'that needs its host only since a grant has it release the handle',
      [quiet, granted(), shows(['h1', 'h2'])],
      release,
      [released('h1', 'a1', order('h1', 1))],
    ],
    [
      'has its host release what was given up while it was withheld, when that is asked again',
      [quiet, granted(), keeps('h1'), released()],
      release,
      [released('h1', 'a1', order('h1', 1))],
    ],
    [
      'leaves a preparation that failed to its conversation, whatever is said of a cleaning',
      [made, granted('h1', 'a1', order('h1', 1, { type: 'PrepareSlot', arq: 'a1', requestId: 'r' }))],
      {
        type: 'Answer',
        slot: 'h1',
        number: 1,
        failed: 'r',
        final: true,
        retryBy: 1,
        cleaned: evidence,
      },
      [],
    ],
    ['is programmed while a handle is withheld that nobody had prepared', [made, keeps('h1')], program, [programs]],
    [
      'says that a handle in quarantine is not shown and stays',
      [made, keeps('h1')],
      describes(['h2']),
      [{ ...shows(['h2']), quarantinedStay: true }],
    ],
    ['says nothing of one that is shown', [made, keeps('h1')], describes(['h1']), [shows(['h1'])]],
    ['says nothing of one that is free', [made], describes(['h2']), [shows(['h2'])]],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  it('remembers of what is not shown that only what is in quarantine stays', () => {
    const states = (...facts: readonly Fact[]) =>
      // oxlint-disable-next-line typescript/no-explicit-any -- a state is looked into freely
      Object.values<any>(after(...facts).handles).map(({ uuid, state, unseen }) => [uuid, state, unseen])
    const stuck: Fact = { type: 'OrderFailed', slot: 'h1', number: 2, reason: 'r', again: null }
    const failing = [made, granted(), released('h1', 'a1', order('h1', 2)), stuck] as const
    expect(states(...failing, { ...shows([]), quarantinedStay: true })).toEqual([
      ['h1', 'quarantined', true],
      ['h2', 'missing', true],
    ])
    // as releases before 0.3.0 have recorded it
    expect(states(...failing, shows([]))).toEqual([
      ['h1', 'missing', true],
      ['h2', 'missing', true],
    ])
  })
  it('says who withholds a handle where operators clean', () => {
    const cleaned = recorded({ description: described(['h1'], { hostWork: false, cleaning: 'by_operator' }) })
    expect(decide([cleaned, granted()], release)).toEqual([
      released(),
      keeps('h1', { by: 'policy of cleaning', reason: 'it was given up, and an operator has to clean it' }),
    ])
  })
})

describe('a grant', () => {
  const grants = (more: object = {}): Fact => ({
    type: 'Grant',
    arq: 'a9',
    bitstream: null,
    deadline: 9000,
    requestId: 'req-1',
    ...more,
  })
  const refused = (why: string) => ({ kind: 'conflict', reason: `deployable board: ${why}` })
  const gives = (handle: string, arq = 'a9') => [{ type: 'Granted', handle, arq, order: null }]
  const on = (fn: number, more: object = {}) => ({ uuid: `h${fn}`, info: at(fn), ...more })
  const at = (fn: number) => ({ domain: '0000', bus: '18', device: '00', function: String(fn) })
  const part = { physfn: '0000:18:00.0' }
  const still = (...handles: readonly object[]) =>
    recorded({ description: described(handles, { hostWork: false, programmable: false }) })
  const pair = still({ uuid: 'h1', set: 0 }, { uuid: 'h2', set: 0 })
  const WHOLE = 'it is given as a whole: its 2 functions need 2 accelerator requests of one instance, not 1'
  const card = recorded({ bitstreamId: 'image' })
  const loading = granted('h1', 'a1', order('h1', 1, { type: 'PrepareSlot', bitstream: 'image' }))
  it.each<Case>([
    ['of a part of a unit is refused', [pair], grants(), refused(WHOLE)],
    ['of a part of a unit is accepted with its mates', [pair], grants({ mates: ['a9', 'a8'] }), gives('h1')],
    ['of a part of a unit is accepted where the handle is named', [pair], grants({ handle: 'h2' }), gives('h2')],
    ['of a handle that is not there is refused', [pair], grants({ handle: 'h9' }), refused('no free attach handle')],
    [
      'gives no virtual function while a request has the physical one (R7)',
      [still(on(0)), granted('h0'), { type: 'DeployableDescribed', description: described([on(1, part)]) }],
      grants(),
      refused('no free attach handle'),
    ],
    [
      'gives no physical function while a request has a virtual one',
      [still(on(0), on(1, part)), granted('h1')],
      grants(),
      refused('no free attach handle'),
    ],
    [
      'gives one virtual function beside another',
      [still(on(1, part), on(2, part)), granted('h1')],
      grants(),
      gives('h2'),
    ],
    [
      'of another image is refused while a part of the card is used',
      [card],
      grants({ bitstream: 'other', heldBelow: 'in_use' }),
      refused('another request uses a part of it, so it cannot be programmed now'),
    ],
    [
      'of another image is refused while a part of the card is withheld',
      [card],
      grants({ bitstream: 'other', heldBelow: 'not_released' }),
      refused('a part of it is quarantined, so it cannot be programmed now'),
    ],
    [
      'of another image than a request of the same bind asks for is refused as such',
      [recorded(), loading],
      grants({ bitstream: 'other', mates: ['a1', 'a9'] }),
      refused('another request of the same bind asks for another image on it'),
    ],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
})
