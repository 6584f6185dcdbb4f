/**
 * What a card says of itself, wherever it is plugged in, and when two such descriptions are of the same card. Pure.
 *
 * CARD-1 marks (hashes of serial numbers) decide where two descriptions have one in common: the same card if one is
 *    equal, another card if all differ;
 * CARD-2 otherwise another kind of card is another card; names from a list such as pci.ids are never compared;
 * CARD-3 a mark that two cards of a host share says nothing of either of them, also after one of them has left.
 */
import * as v from 'valibot'
import type { DeepReadonly } from './deepReadonly.ts'
import { jsonIn } from './jsonText.ts'
import { membersOf } from './record.ts'

const MEMBERS_MAX = 16
const texts = v.pipe(
  v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(40)), v.pipe(v.string(), v.maxLength(100))),
  v.check((all) => Object.keys(all).length <= MEMBERS_MAX, `must have at most ${MEMBERS_MAX} members`),
)
export const Card = v.object({
  /** What cards of the same make have in common, as ids of PCI, by the name of the id. */
  kind: texts,
  /**
   * What only this card has, by its source. A source may be silent at times: a driver tells the serial number only
   * while it has the card. Empty: cards of the host share it (CARD-3).
   */
  marks: texts,
})
export type Card = DeepReadonly<v.InferOutput<typeof Card>>
type Texts = Card['kind']

/** `alike`: nothing that both say tells them apart. */
export type Likeness = 'same' | 'other' | 'alike'

const inBoth = (one: Texts, other: Texts): readonly (readonly [string, string])[] =>
  Object.keys(one).flatMap((key) =>
    Object.hasOwn(other, key) && one[key] !== '' && other[key] !== '' ? [[one[key]!, other[key]!] as const] : [],
  )

export const likeness = (was: Card, is: Card): Likeness => {
  const marks = inBoth(was.marks, is.marks)
  if (marks.length > 0) return marks.some(([one, other]) => one === other) ? 'same' : 'other'
  return inBoth(was.kind, is.kind).some(([one, other]) => one !== other) ? 'other' : 'alike'
}

/** What is known of a card after it was described again. As many sources that are silent now as fit are remembered. */
export const remembered = (was: Card | undefined, is: Card): Card => {
  // stores may return members in another order
  const before = Object.entries(was?.marks ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const said = Object.entries(is.marks).map(
    ([source, mark]) => [source, was?.marks[source] === '' ? '' : mark] as const,
  )
  const silent = before.filter(([source]) => !Object.hasOwn(is.marks, source))
  const kind = Object.keys(is.kind).length > 0 ? is.kind : (was?.kind ?? {})
  return { kind, marks: Object.fromEntries([...said, ...silent].slice(0, MEMBERS_MAX)) }
}

type Described = {
  readonly vendor: string
  readonly stdBoardInfo: string | null
  readonly vendorBoardInfo: string | null
  readonly card?: Card | undefined
}
const picked = (from: Readonly<Record<string, unknown>>, names: readonly string[]): Texts =>
  Object.fromEntries(names.flatMap((name) => (name in from ? [[name, String(from[name]).slice(0, 100)]] : [])))

/** By the text that drivers report; hosts before release 0.4.0 say nothing else. */
export const cardByText = ({ vendor, stdBoardInfo, vendorBoardInfo }: Described): Card => {
  const board = { ...membersOf(jsonIn(vendorBoardInfo ?? '')), ...membersOf(jsonIn(stdBoardInfo ?? '')) }
  return {
    kind: { vendor, ...picked(board, ['product_id', 'device_id']) },
    // makers number their cards each by themselves
    marks: Object.fromEntries(
      Object.entries(picked(board, ['serial'])).map(([name, serial]) => [name, `${vendor} ${serial}`.slice(0, 100)]),
    ),
  }
}
export const cardOf = (device: Described): Card => {
  const said = cardByText(device)
  return { kind: device.card?.kind ?? said.kind, marks: { ...said.marks, ...device.card?.marks } }
}
