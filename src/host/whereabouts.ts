/**
 * Where the slots of the ledger are: their hardware is their card, wherever it is plugged in now. Pure.
 *
 * WHERE-1 a slot stays where its card was while nothing shows another card there;
 * WHERE-2 where another card is there, the slot is where one of its marks is found, and otherwise away: then it has no
 *    hardware of this host;
 * WHERE-3 a slot whose order named no card, as those of controls before release 0.4.0, is where its order said.
 */
import { type Card, likeness } from '../vocabulary/card.ts'
import type { DeployableName } from '../vocabulary/identifiers.ts'
import { pciAddressOf, pciInfo } from '../vocabulary/pci.ts'
import { addressInName, atDistance, distanceFrom, movedName } from '../vocabulary/pciMoves.ts'
import { type Entry, handleKey, lastHandleOf, mayBePrepared } from './entry.ts'

/** The cards that drivers have shown last, by the names of their deployables. */
export type CardsShown = {
  readonly at: (deployable: DeployableName) => Card | null
  /** The deployable of the card with a mark of this one; null: no mark is shown, or several cards show it. */
  readonly placeOf: (card: Card) => DeployableName | null
}
export const cardsShown = (all: Iterable<readonly [DeployableName, Card | null]>): CardsShown => {
  const [cards, places] = [new Map<DeployableName, Card>(), new Map<string, Set<DeployableName>>()]
  for (const [name, card] of all) {
    if (card === null) continue
    cards.set(name, card)
    for (const [source, mark] of Object.entries(card.marks)) {
      const key = `${source} ${mark}`
      places.set(key, (places.get(key) ?? new Set()).add(name))
    }
  }
  return {
    at: (deployable) => cards.get(deployable) ?? null,
    placeOf: ({ marks }) => {
      const found = Object.entries(marks).flatMap(([source, mark]) => {
        const names = mark === '' ? undefined : places.get(`${source} ${mark}`)
        return names?.size === 1 ? [...names] : []
      })
      return new Set(found).size === 1 ? found[0]! : null
    },
  }
}

const isBack = (entry: Entry): Entry => {
  const { away: _, ...rest } = entry
  return rest
}
const moved = (entry: Entry, deployable: DeployableName): Entry => {
  const [from, to, handle] = [addressInName(entry.deployable), addressInName(deployable), lastHandleOf(entry)]
  const address = handle && pciAddressOf(handle.info)
  const distance = from && address && distanceFrom(from, address)
  if (!from || !to || !handle || distance === null) return entry
  const info = { ...handle.info, ...pciInfo(atDistance(to, distance)) }
  const place = { deployable: movedName(entry.deployable, from, to), handle: handleKey({ type: handle.type, info }) }
  return { ...isBack(entry), ...place }
}

/** The entry as of where its card is now; the same object where nothing has changed. */
export const whereNow = (entry: Entry, shown: CardsShown): Entry => {
  const { card, deployable, away } = entry
  if (card === undefined || !mayBePrepared(entry)) return entry
  const there = shown.at(deployable)
  if (there && likeness(card, there) !== 'other') return away ? isBack(entry) : entry
  const place = shown.placeOf(card)
  if (place !== null) return moved(entry, place)
  return there && !away ? { ...entry, away: true } : entry
}

/** Why the order is not for the card that its deployable has now; null: it is, as far as that is known. */
export const misplaced = (
  { card, deployable }: { readonly card?: Card | undefined; readonly deployable: DeployableName },
  shown: CardsShown,
): string | null => {
  const there = card && shown.at(deployable)
  if (there) return likeness(card, there) === 'other' ? `another card is in the place of ${deployable}` : null
  const place = card ? shown.placeOf(card) : null
  return place === null ? null : `the card of ${deployable} is at ${place} now`
}
