/**
 * Which of the devices, deployables and attach handles of upstream are kept, where several rows stand for one thing (data-model 13). Pure.
 *
 * KEPT-1 what a bound request uses is kept before anything else;
 * KEPT-2 of several devices with one control path on a host the oldest is kept (W17), of several with one provider the newest (W12): the
 *   newest has the name under which the host reports, so the one that is kept gets that name;
 * KEPT-3 an attach handle that is used is kept, whatever else is left out: it goes over to the device and to the deployable that stand for its
 *   own. Of several that attach the same in one deployable one is kept, and a request that is bound to another one goes over to it;
 * KEPT-4 a device has one deployable of each name, and a provider has one root (`twins.ts`). Devices that share no more than a provider are both
 *   kept where both are used.
 */
import { pciAddressOf, pciJson } from '../../pci.ts'
import type { Notes } from './notes.ts'
import { type Card, type Live, type Slot, type Unit, canonicalOf, isUsed } from './cards.ts'
import { oneOfEachName, oneRootOfEachProvider, usedUnits } from './twins.ts'

export type KeptHandle = { readonly card: Card; readonly unit: Unit; readonly slot: Slot }
export type Kept = {
  readonly cards: readonly Card[]
  /** Recorded and retired at once: their history is known, nothing of them is offered. */
  readonly retired: readonly Card[]
  /** Where an attach handle of upstream is now, by its id; null: nowhere. */
  readonly placeOf: (handleId: number) => KeptHandle | null
  /** The device that stands for a device of upstream, by their ids. */
  readonly standsFor: (deviceId: number) => number
}

const slotsOf = ({ units }: Card): readonly Slot[] => units.flatMap(({ slots }) => slots)
const isLive = (card: Card, live: Live): boolean => slotsOf(card).some(({ row }) => live.has(row.id))
const isInUse = (card: Card, live: Live): boolean => slotsOf(card).some((slot) => isUsed(slot, live))
const liveFirst = (live: Live, one: Card, other: Card): number =>
  Number(isLive(other, live)) - Number(isLive(one, live))

/** A device without control path: a function of it that is used says which one it is. */
const identified = (card: Card, live: Live, notes: Notes): Card => {
  if (card.controlPath !== null) return card
  const used = slotsOf(card).filter((slot) => isUsed(slot, live))
  const slot = used.find(({ row }) => live.has(row.id)) ?? used[0]
  if (!slot) return card
  const address = pciAddressOf(slot.known.info)
  const controlPath = address && slot.known.type !== 'PCI' ? pciJson(address) : slot.row.info
  notes.repaired('devices', card.row, 'W14', `it has no control path, and is known by ${controlPath}, which is in use`)
  return { ...card, controlPath }
}

/** What only one device of a host, or of all hosts, may have. */
const claimsOf = ({ rpUuid, row }: Unit): readonly string[] => [`provider ${rpUuid}`, `name ${row.name}`]
const sharesName = (one: Card, other: Card): boolean => {
  const names = new Set(one.units.map(({ row }) => row.name))
  return other.units.some(({ row }) => names.has(row.name))
}

/** The devices while they are sorted: one that goes hands over what is used of it. */
type Sorting = {
  readonly live: Live
  readonly notes: Notes
  readonly stay: Map<number, Card>
  readonly go: Card[]
  /** The device that stands for one that goes, by their ids. */
  readonly owners: Map<number, number>
}
const goes = ({ live, stay, go, owners }: Sorting, card: Card, owner: Card | null): void => {
  go.push(card)
  stay.delete(card.row.id)
  if (!owner) return
  owners.set(card.row.id, owner.row.id)
  const used = usedUnits(card.units, live)
  stay.set(owner.row.id, { ...owner, units: [...owner.units, ...card.units.filter(({ row }) => used.has(row.id))] })
}

/** One device for each control path of a host. */
const byControlPath = (sorting: Sorting): void => {
  const { live, stay, notes } = sorting
  const found = new Map<string, number>()
  for (const card of [...stay.values()].toSorted(
    (one, other) => liveFirst(live, one, other) || one.row.id - other.row.id,
  )) {
    const canonical = canonicalOf(card)
    const owner = canonical === null ? undefined : stay.get(found.get(`${card.host} ${canonical}`) ?? -1)
    if (canonical !== null && !owner) {
      found.set(`${card.host} ${canonical}`, card.row.id)
      continue
    }
    goes(sorting, card, owner ?? null)
    const [rule, why] = owner
      ? (['W17', `retired: device ${owner.uuid} has the same control path on host ${card.host}`] as const)
      : (['W14', 'retired: it has no control path, so no host can show it'] as const)
    notes.repaired('devices', card.row, rule, why)
  }
}

type Rival = { readonly owner: Card; readonly isSame: boolean }
/** The device that another one goes over to; undefined: it stays. */
const rivalOf = (card: Card, rivals: readonly Card[], live: Live): Rival | undefined => {
  const named = rivals.filter((one) => sharesName(one, card))
  const same =
    named.find(({ host }) => host === card.host) ?? named.find((one) => canonicalOf(one) === canonicalOf(card))
  if (same) return { owner: same, isSame: true }
  const [first] = rivals
  return first && !isInUse(card, live) ? { owner: first, isSame: false } : undefined
}

/** One device for each name and provider of its deployables. */
const byProvider = (sorting: Sorting): void => {
  const { live, stay, notes } = sorting
  const claimed = new Map<string, number[]>()
  for (const card of [...stay.values()].toSorted(
    (one, other) => liveFirst(live, one, other) || other.row.id - one.row.id,
  )) {
    const claims = card.units.flatMap(claimsOf)
    const rivals = new Set(claims.flatMap((claim) => claimed.get(claim) ?? []))
    const rival = rivalOf(
      card,
      [...rivals].map((id) => stay.get(id)!),
      live,
    )
    for (const claim of claims)
      claimed.set(claim, [...new Set([...(claimed.get(claim) ?? []), (rival?.owner ?? card).row.id])])
    if (!rival) continue
    const { owner, isSame } = rival
    goes(sorting, card, owner)
    notes.repaired('devices', card.row, 'W12', `retired: device ${owner.uuid} stands for the same resource provider`)
    if (!isSame || card.row.id <= owner.row.id || card.host === owner.host) continue
    notes.repaired(
      'devices',
      owner.row,
      'W12',
      `moved from host ${owner.host} to ${card.host}, under which it was found later`,
    )
    stay.set(owner.row.id, { ...stay.get(owner.row.id)!, host: card.host })
  }
}

const uniqueSlots = ({ slots }: Unit, live: Live, notes: Notes): readonly Slot[] => {
  const first = new Map<string, Slot>()
  const ranked = slots.toSorted(
    ({ row: one }, { row: other }) =>
      Number(live.has(other.id)) - Number(live.has(one.id)) ||
      Number(other.inUse) - Number(one.inUse) ||
      one.id - other.id,
  )
  for (const slot of ranked) {
    const known = first.get(slot.known.canonical)
    if (known) notes.leftOut('attach_handles', slot.row, 'W17', `attach handle ${known.known.uuid} attaches the same`)
    else first.set(slot.known.canonical, slot)
  }
  return [...first.values()].toSorted(({ row: one }, { row: other }) => one.id - other.id)
}

const key = (unit: Unit, { known }: Slot): string => `${unit.row.name} ${known.canonical}`
const placesIn = (all: readonly Card[], cards: readonly Card[]): Kept['placeOf'] => {
  const [places, alike] = [new Map<number, KeptHandle>(), new Map<string, KeptHandle>()]
  for (const card of cards)
    for (const unit of card.units)
      for (const slot of unit.slots) {
        places.set(slot.row.id, { card, unit, slot })
        alike.set(key(unit, slot), { card, unit, slot })
      }
  const former = new Map(
    all.flatMap(({ units }) =>
      units.flatMap((unit) => unit.slots.map((slot) => [slot.row.id, key(unit, slot)] as const)),
    ),
  )
  return (id) => places.get(id) ?? alike.get(former.get(id) ?? '') ?? null
}

export const keep = (all: readonly Card[], live: Live, notes: Notes): Kept => {
  const stay = new Map(all.map((card) => [card.row.id, identified(card, live, notes)]))
  const sorting: Sorting = { live, notes, stay, go: [], owners: new Map() }
  // a device that was moved to another host, or that took something over, may meet another one there
  for (let before = Number.POSITIVE_INFINITY; stay.size < before;) {
    before = stay.size
    byControlPath(sorting)
    byProvider(sorting)
  }
  const named = [...stay.values()]
    .map((card) => oneOfEachName(card, live, notes))
    .map((card) => ({
      ...card,
      units: card.units.map((unit) => ({ ...unit, slots: uniqueSlots(unit, live, notes) })),
    }))
    .toSorted((one, other) => one.row.id - other.row.id)
  const cards = oneRootOfEachProvider(named, live, notes)
  const standsFor = (id: number): number => {
    const owner = sorting.owners.get(id)
    return owner === undefined ? id : standsFor(owner)
  }
  return { cards, retired: sorting.go, placeOf: placesIn(all, cards), standsFor }
}
