/** A case for each condition of the invariants of jobs and of what requests are bound to (`src/audit/programs.ts`). */
import type { Evidence, HostTrace } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Append,
  type Case,
  FPGA,
  type Fact,
  arq,
  bindStarted,
  board,
  created,
  deployable,
  done,
  granted,
  here,
  isBound,
  of,
  order,
  recorded,
  released,
} from './scene.ts'

const card = deployable('d1', recorded({ bitstreamId: 'image' }))
const fact = (event: Fact): Append => deployable('d1', event)
const program: Fact = { type: 'ProgramStarted', image: 'other', order: order('d1', 1) }
const failed: Fact = { type: 'ProgramFailed', image: 'other', number: 1, reason: 'r' }

const job = (image = 'image', number = 1): Fact => ({ type: 'ProgramStarted', image, order: order('d1', number) })
const ended = (image = 'image', number = 1): Fact => ({ type: 'Programmed', image, number })
const loads = (handle: string, by: string, number: number, image = 'image'): Fact =>
  granted(handle, by, order(handle, number, { type: 'PrepareSlot', bitstream: image }))
const read = (image: string | null): Fact => ({ type: 'BitstreamRead', bitstreamId: image })
const story = (...facts: readonly Fact[]): Partial<Evidence> => of(board, ...facts.map(fact))
const wrong = (row: number, line: string) => [here(row, ['deployable/d1'], `deployable/d1${line}`)]
const unproved = (row: number, image: string, is: string) =>
  wrong(row, ` is recorded with image ${image}, and what is proved is ${is}`)

export const jobCases: readonly Case[] = [
  ['S14 jobs', 'one after the other', story(job(), ended(), job('other', 2), ended('other', 2)), []],
  ['S14 jobs', 'one after a failure', story(program, failed, job('image', 2)), []],
  [
    'S14 jobs',
    'two at once',
    story(job(), job('other', 2)),
    wrong(3, ': order 2 loads image other while order 1 loads image'),
  ],
  [
    'S14 jobs',
    'one while a preparation loads',
    story(loads('h1', 'a1', 1), job('other', 2)),
    wrong(3, ': order 2 loads image other while order 1 loads image'),
  ],
  [
    'S14 jobs',
    'a preparation loads while a job goes on',
    story(job('other'), loads('h1', 'a1', 2)),
    wrong(3, ': order 2 loads image image while order 1 loads other'),
  ],
  [
    'S14 jobs',
    'two preparations load different images',
    story(loads('h1', 'a1', 1), loads('h2', 'a2', 2, 'other')),
    wrong(3, ': order 2 loads image other while order 1 loads image'),
  ],
  ['S14 jobs', 'two preparations share one image', story(loads('h1', 'a1', 1), loads('h2', 'a2', 2)), []],
  [
    'S14 jobs',
    'one while a request uses it',
    story(granted('h1', 'a1'), job('image', 1)),
    wrong(3, ': order 1 loads image image while handle h1 is held'),
  ],
  [
    'S14 jobs',
    'a preparation loads while a request uses it',
    story(granted('h1', 'a1'), loads('h2', 'a2', 1)),
    wrong(3, ': order 1 loads image image while handle h1 is held'),
  ],
  [
    'S14 jobs',
    'a preparation compares what is there while a request uses it',
    story(read('image'), granted('h1', 'a1'), loads('h2', 'a2', 1)),
    [],
  ],
  ['S14 jobs', 'one after it was given up', story(granted('h1', 'a1'), released('h1', 'a1'), job()), []],
  [
    'S14 jobs',
    'one ends that was not begun',
    story(ended('image', 4)),
    wrong(2, ': order 4 is said to have ended with image image, and was not begun'),
  ],
  [
    'S14 jobs',
    'one ends with another image',
    story(job(), ended('other')),
    wrong(3, ': order 1 is said to have ended with image other, and was not begun'),
  ],
  [
    'S14 jobs',
    'a preparation ends as a job of an operator',
    story(loads('h1', 'a1', 1), ended()),
    wrong(3, ': order 1 is said to have ended with image image, and was not begun'),
  ],

  ['I13', 'what was loaded', story(job(), ended()), []],
  ['I13', 'what was loaded that nobody began', story(ended()), unproved(2, 'image', 'none')],
  ['I13', 'what a preparation has loaded', story(loads('h1', 'a1', 1), done('h1', 1)), []],
  ['I13', 'what was read', story(read('image'), read('other')), []],
  ['I13', 'what was read, and lost', story(read('image'), read(null)), []],
  ['I13', 'nothing after a failure', story(read('image'), program, failed), []],
  ['I13', 'nothing after it was given up', story(read('image'), loads('h1', 'a1', 1, 'other'), released()), []],
  [
    'I13',
    'nothing after rows were lost',
    story(read('image'), { type: 'OrdersRaised', to: 7, imageUnknown: true }),
    [],
  ],
  ['I13', 'what it held when it was recorded', of(card), []],
  [
    'I13',
    'what it holds when it is back',
    of(
      card,
      fact({ type: 'PresenceSet', presence: 'retired' }),
      fact({ type: 'PresenceSet', presence: 'present', bitstreamId: 'new' }),
    ),
    [],
  ],
]

const wants = created('a1', { group: { ...FPGA, 'accel:bitstream_id': 'image' } })
const binds = (order: number | null, more: readonly Append[] = []): readonly Append[] => [
  board,
  wants,
  ...more,
  arq('a1', bindStarted('h1', { order })),
  arq('a1', isBound),
]
const looked = (held: string | null | undefined, number = 3): HostTrace => ({
  name: 'host1',
  steps: [{ did: 'prepare', slot: 'h1', number, ...(held === undefined ? {} : { holds: held }) }],
  loaded: {},
})
const bound = (trace: HostTrace | null, order: number | null = 3, ...more: readonly Append[]): Partial<Evidence> => ({
  ...of(...binds(order, more)),
  ...(trace ? { hosts: [trace] } : {}),
})
const says = (what: string) => `arq/a1 asks for image image, and is bound to d1, which ${what}`
const onWrong = (held: string | null, what: string): readonly Finding[] => [
  {
    ...here(4, ['arq/a1'], says(what)),
    proof: [{ of: 'host', host: 'host1', step: { did: 'prepare', slot: 'h1', number: 3, holds: held } }],
  },
]

export const boundCases: readonly Case[] = [
  ['S14 bound', 'the card held it', bound(looked('image')), []],
  ['S14 bound', 'the card held another one', bound(looked('other')), onWrong('other', 'held other')],
  ['S14 bound', 'the card held none', bound(looked(null)), onWrong(null, 'held no image')],
  ['S14 bound', 'nobody looked', bound(looked(null), null), [here(4, ['arq/a1'], says('nobody looked at'))]],
  ['S14 bound', 'what it held is not known', bound(looked(undefined)), []],
  ['S14 bound', 'another order prepared it', bound(looked('other', 2)), []],
  ['S14 bound', 'another host was watched', bound({ ...looked('other'), name: 'host2' }), []],
  ['S14 bound', 'no host was watched', bound(null), []],
  ['S14 bound', 'the cards were not watched', bound({ name: 'host1', steps: looked('other').steps }), []],
  [
    'S14 bound',
    'it asks for none',
    { ...bound(looked('other')), ...of(board, created('a1'), ...binds(3).slice(2)) },
    [],
  ],
]
