/**
 * Which of the devices, deployables and attach handles of upstream are kept, where several rows stand for one thing (data-model 13). Pure.
 *
 * KEPT-1 what a bound request uses is kept before anything else;
 * KEPT-2 of several devices with one control path on a host the oldest is kept (W17), of several with one provider the newest (W12): the
 *   newest has the name under which the host reports, so the one that is kept gets that name;
 * KEPT-3 a request that is bound to a row that is not kept goes over to the same attach handle of the row that is.
 */
import type { Notes } from './notes.ts'
import { type Card, type Slot, type Unit, canonicalOf } from './cards.ts'

export type KeptHandle = { readonly card: Card; readonly unit: Unit; readonly slot: Slot }
export type Kept = {
  readonly cards: readonly Card[]
  /** Recorded and retired at once: their history is known, nothing of them is offered. */
  readonly retired: readonly Card[]
  /** Where an attach handle of upstream is now, by its id; null: nowhere. */
  readonly placeOf: (handleId: number) => KeptHandle | null
}
type Live = ReadonlySet<number>

const isLive = ({ units }: Card, live: Live): boolean =>
  units.some(({ slots }) => slots.some(({ row }) => live.has(row.id)))
const liveFirst = (live: Live, one: Card, other: Card): number =>
  Number(isLive(other, live)) - Number(isLive(one, live))

/** A device without control path: a function that a bound request has of it says which one it is. */
const identified = (card: Card, live: Live, notes: Notes): Card => {
  if (card.controlPath !== null) return card
  const slots = card.units.flatMap((unit) => unit.slots)
  const used = slots.find(({ row, known }) => live.has(row.id) && known.type === 'PCI')
  if (!used) return card
  notes.repaired(
    'devices',
    card.row,
    'W14',
    `it has no control path, and is known by ${used.row.info}, which a request has`,
  )
  return { ...card, controlPath: used.row.info }
}

type Sorting = { readonly stay: readonly Card[]; readonly go: readonly Card[] }

/** One device for each control path of a host. */
const byControlPath = (cards: readonly Card[], live: Live, notes: Notes): Sorting => {
  const owners = new Map<string, Card>()
  const go: Card[] = []
  for (const card of cards.toSorted((one, other) => liveFirst(live, one, other) || one.row.id - other.row.id)) {
    const canonical = canonicalOf(card)
    const owner = canonical === null ? undefined : owners.get(`${card.host} ${canonical}`)
    if (canonical !== null && !owner) {
      owners.set(`${card.host} ${canonical}`, card)
      continue
    }
    go.push(card)
    if (owner)
      notes.repaired(
        'devices',
        card.row,
        'W17',
        `retired: device ${owner.uuid} has the same control path on host ${card.host}`,
      )
    else notes.repaired('devices', card.row, 'W14', 'retired: it has no control path, so no host can show it')
  }
  return { stay: [...owners.values()], go }
}

/** What only one deployable may have. */
const claimsOf = ({ rpUuid, row }: Unit): readonly string[] => [`provider ${rpUuid}`, `name ${row.name}`]

/** One deployable for each name and provider: of a device, the first; of several devices, all of one. */
const byProvider = (cards: readonly Card[], live: Live, notes: Notes): Sorting => {
  const owners = new Map<string, Card>()
  const [stay, go] = [new Map<Card, Card>(), [] as Card[]]
  for (const card of cards.toSorted((one, other) => liveFirst(live, one, other) || other.row.id - one.row.id)) {
    const claims = card.units.flatMap(claimsOf)
    const owner = claims.map((claim) => owners.get(claim)).find((one) => one !== undefined)
    if (!owner) {
      for (const claim of claims) owners.set(claim, card)
      stay.set(card, card)
      continue
    }
    go.push(card)
    notes.repaired('devices', card.row, 'W12', `retired: device ${owner.uuid} stands for the same resource provider`)
    const present = stay.get(owner)!
    if (card.row.id <= present.row.id || card.host === present.host) continue
    notes.repaired(
      'devices',
      owner.row,
      'W12',
      `moved from host ${present.host} to ${card.host}, under which it was found later`,
    )
    stay.set(owner, { ...present, host: card.host })
  }
  return { stay: [...stay.values()], go }
}

const withoutTwins = (card: Card, live: Live, notes: Notes): Card => {
  const liveUnit = ({ slots }: Unit) => slots.some(({ row }) => live.has(row.id))
  const taken = new Set<string>()
  const units = card.units
    .toSorted((one, other) => Number(liveUnit(other)) - Number(liveUnit(one)) || one.row.id - other.row.id)
    .filter((unit) => {
      const twin = claimsOf(unit).find((claim) => taken.has(claim) && !isChild(unit))
      for (const claim of twin === undefined ? claimsOf(unit) : []) taken.add(claim)
      if (twin !== undefined)
        notes.leftOut('deployables', unit.row, 'W17', `another deployable of device ${card.uuid} has ${twin}`)
      return twin === undefined
    })
    .map((unit) => ({ ...unit, slots: uniqueSlots(unit, live, notes) }))
  return { ...card, units: units.toSorted((one, other) => one.row.id - other.row.id) }
}
/** One that has the provider of its parent by right. */
const isChild = ({ row }: Unit): boolean => row.parentId !== null && row.rpUuid === null

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

export const keep = (all: readonly Card[], live: Live, notes: Notes): Kept => {
  const known = all.map((card) => identified(card, live, notes))
  const located = byControlPath(known, live, notes)
  const provided = byProvider(located.stay, live, notes)
  // a device that was moved to another host may meet one there
  const again = byControlPath(provided.stay, live, notes)
  const cards = again.stay
    .map((card) => withoutTwins(card, live, notes))
    .toSorted((one, other) => one.row.id - other.row.id)
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
  return {
    cards,
    retired: [...located.go, ...provided.go, ...again.go],
    placeOf: (id) => places.get(id) ?? alike.get(former.get(id) ?? '') ?? null,
  }
}
