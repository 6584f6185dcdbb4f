/** IMAGE: what is recorded of the image on a card, and what its host is told to look at. */
import { describe, expect, it } from 'vitest'
import { type Fact, board, done, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { deciding, imageMark } from './decided.ts'

const { after, decide } = deciding('deployable')
const made = recorded({ bitstreamId: 'image' })
const still = recorded({ bitstreamId: 'image', description: { ...describedOf(board), hostWork: false } })
const away: Fact = { type: 'PresenceSet', presence: 'missing' }
const back: Fact = { type: 'PresenceSet', presence: 'present' }
const prepare = (slot: string, number: number, more: object = {}) =>
  order(slot, number, { type: 'PrepareSlot', ...more })
const program = (number: number): Fact => ({
  type: 'ProgramStarted',
  image: 'image',
  order: { ...order('d1', number, { type: 'Program', image: 'image' }), handle: undefined },
})
const read = (image: string | null): Fact => ({ type: 'BitstreamRead', bitstreamId: image })

function describedOf({ events: [event] }: typeof board): object {
  return (event as unknown as { readonly description: object }).description
}

describe('what a card says that it holds', () => {
  const said = (facts: readonly Fact[], image: string | null, seen: readonly Fact[] = facts) =>
    decide(facts, { type: 'ReadImage', image, mark: imageMark(after(...seen)) })

  it.each<[string, readonly Fact[], string | null]>([
    ['that it holds nothing that is known', [made], null],
    ['that it holds another image', [made], 'other'],
    ['that it holds one, where none was known', [recorded()], 'other'],
    ['after it was missing', [made, away, back], 'other'],
    [
      'after an order that failed',
      [made, program(1), { type: 'ProgramFailed', image: 'x', number: 1, reason: '' }],
      'image',
    ],
    ['while requests use it', [made, granted('h1', 'a1', prepare('h1', 1)), done()], null],
    ['while a slot is prepared that loads nothing', [made, granted('h1', 'a1', prepare('h1', 1))], null],
  ])('is recorded: %s', (_, facts, image) => {
    expect(said(facts, image)).toEqual([read(image)])
    expect(after(...facts, read(image)).bitstreamId).toBe(image)
  })

  it.each<[string, readonly Fact[], (readonly Fact[])?]>([
    ['is what is recorded', [recorded({ bitstreamId: 'said' })]],
    ['while it is missing', [made, away]],
    ['while it is programmed', [made, program(1)]],
    ['while a preparation may write it', [made, granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' }))]],
    [
      'after an order may have written it since',
      [made, program(1), { type: 'Programmed', image: 'image', number: 1 }],
      [made],
    ],
    [
      'after a preparation may have written it since',
      [made, granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' })), done()],
      [made],
    ],
    ['after orders were lost', [made, { type: 'OrdersRaised', to: 5 }], [made]],
    ['after another image was read', [made, read(null)], [made]],
  ])('is not recorded: %s', (_, facts, seen) => expect(said(facts, 'said', seen)).toEqual([]))

  it('is not heard of one that is gone', () => {
    const gone = [made, { type: 'PresenceSet', presence: 'retired' }] as const
    expect(said(gone, 'other')).toMatchObject({ kind: 'not_found' })
  })
})

describe('who asks for an image', () => {
  const grant = (more: object = {}) => ({
    type: 'Grant',
    arq: 'a2',
    deadline: 9000,
    requestId: 'req-1',
    bitstream: 'image',
    ...more,
  })
  /** What the host is told to do with the image. */
  const askedOfHost = (facts: readonly Fact[], more: object = {}) => {
    const events = decide(facts, grant(more))
    if (!Array.isArray(events)) return 'refused'
    const { order: given } = events[0] as {
      readonly order: { readonly bitstream?: string; readonly expects?: string } | null
    }
    return given && { load: given.bitstream, expect: given.expects }
  }
  const used = [granted('h1', 'a1', prepare('h1', 1)), done()] as const

  it.each<[string, readonly Fact[], object | string | null, object?]>([
    ['has it loaded where another one is recorded', [recorded()], { load: 'image' }],
    ['has it loaded should the card have lost it', [made], { load: 'image' }],
    ['the same where nothing else needs the host', [still], { load: 'image' }],
    ['has it compared while others use the card', [made, ...used], { expect: 'image' }],
    ['the same where nothing else needs the host', [still, granted('h1', 'a1')], { expect: 'image' }],
    [
      'has it compared while a handle may be prepared that nobody has',
      [
        made,
        ...used,
        released('h1', 'a1', order('h1', 2)),
        { type: 'OrderFailed', slot: 'h1', number: 2, reason: '', again: null },
      ],
      { expect: 'image' },
    ],
    [
      'has it compared where the card cannot be programmed',
      [recorded({ bitstreamId: 'image', description: { ...describedOf(board), programmable: false } })],
      { expect: 'image' },
    ],
    [
      'has it compared where the image divides the card',
      [recorded({ bitstreamId: 'image', description: { ...describedOf(board), nodes: 2 } })],
      { expect: 'image' },
    ],
    [
      'of the card of which this is a part, has it compared',
      [recorded()],
      { expect: 'image' },
      { bitstream: null, expects: 'image' },
    ],
    [
      'of the card of which this is a part that needs no host',
      [still],
      { expect: 'image' },
      { bitstream: null, expects: 'image' },
    ],
    [
      'is given the card while an equal one is compared',
      [made, granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' }))],
      { expect: 'image' },
    ],
    [
      'shares the load of the same image with another request',
      [recorded(), granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' }))],
      { load: 'image' },
    ],
    [
      'is refused while another image may come',
      [recorded(), granted('h1', 'a1', prepare('h1', 1, { bitstream: 'other' }))],
      'refused',
    ],
  ])('%s', (_, facts, expected, more) =>
    expect(askedOfHost(facts, more)).toEqual(
      typeof expected === 'string' ? expected : { load: undefined, expect: undefined, ...expected },
    ),
  )

  const comparing = granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' }))
  it('and is being answered leaves the other handles to those who ask for none, if the host guards what they have', () => {
    expect(askedOfHost([made, comparing], { bitstream: null })).toEqual({ load: undefined, expect: undefined })
    expect(askedOfHost([still, comparing], { bitstream: null })).toBe('refused')
    expect(askedOfHost([still, comparing])).toMatchObject({ expect: 'image' })
  })
})

describe('what an operator has said of the card', () => {
  const told = (key: string, value: string, parent?: string): Fact => ({
    type: 'AttributeAdded',
    attribute: { uuid: `${key} ${parent}`, key, value, origin: 'operator', ...(parent && { parent }) },
  })
  const facts = [
    made,
    told('board', 'PAC_A10'),
    told('owner', 'somebody'),
    told('version', '1', 'board undefined'),
    told('shell_id', 'x'.repeat(1001)),
  ]
  const ordered = (command: object) => {
    const [event] = decide(facts, command as never) as readonly { readonly order?: object }[]
    return event?.order
  }
  const asked = { type: 'Grant', arq: 'a1', deadline: 1, requestId: 'r' }
  it('comes with each order that may load an image, as far as images are compared with it', () => {
    const attributes = { board: 'PAC_A10' }
    expect(ordered({ ...asked, bitstream: 'other' })).toMatchObject({ type: 'PrepareSlot', attributes })
    expect(ordered({ type: 'Program', image: 'other', deadline: 1, requestId: 'r' })).toMatchObject({ attributes })
    expect(ordered({ ...asked, bitstream: null })).not.toHaveProperty('attributes')
    expect(ordered({ ...asked, bitstream: null, expects: 'image' })).not.toHaveProperty('attributes')
  })
})
