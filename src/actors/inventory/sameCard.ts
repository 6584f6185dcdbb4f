/**
 * Finds for each reported device the recorded device that is the same card, at whatever address of the host it was
 * (data-model.md 11.4). Pure.
 *
 * SAME-CARD-1 a mark finds a card at every address; without one, a card is taken for the one that was at its address,
 *    unless it is of another kind;
 * SAME-CARD-2 a card is found once: whatever else is shown at its old address is another card;
 * SAME-CARD-3 a device whose address another card has now is displaced: it is missing, and kept under a key of its own.
 */
import { type Card, cardByText, cardOf, likeness } from '../../vocabulary/card.ts'
import { ownValue } from '../../vocabulary/record.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import type { DeviceFacts } from '../device/decider.ts'
import type { Departed, HeldDevice, Host } from '../host/decider.ts'
import { addressOf, displacedKey } from '../host/held.ts'
import { type Move, movedHandle, movedName } from './moving.ts'
import type { Handles, RecordedHandles } from './rivalry.ts'

type Shown = { readonly canonical: string; readonly device: ReportedDevice; readonly card?: Card }

/** The card at each reported address; marks that several of them claim are empty (CARD-3). */
export type Cards = ReadonlyMap<string, Card>
type Entry = { readonly canonical: string; readonly device: ReportedDevice }

const PCI = ({ device }: Entry): boolean => device.controlPath.type === 'PCI'
const markKeys = ({ marks }: Card): readonly string[] =>
  Object.entries(marks).flatMap(([source, mark]) => (mark === '' ? [] : [`${source} ${mark}`]))

const NO_CARD: Card = { kind: {}, marks: {} }

/** Of a device that is not described at present only its marks count, which others may claim. */
export const cardsIn = (all: readonly Entry[]): Cards => {
  const [entries, stubs] = [all.filter(PCI), new Set(all.filter(({ device }) => device.stub))]
  const described = new Set(entries.filter((one) => !stubs.has(one)).map(({ canonical }) => canonical))
  const cards = new Map(
    entries
      .filter((one) => !stubs.has(one) || !described.has(one.canonical))
      .map(({ canonical, device }) => [canonical, cardOf(device)] as const),
  )
  const claimed = Map.groupBy([...cards.values()].flatMap(markKeys), (one) => one)
  const isShared = (source: string, mark: string) => (claimed.get(`${source} ${mark}`)?.length ?? 0) > 1
  const told = [...cards].filter(([canonical]) => described.has(canonical))
  return new Map(
    told.map(([canonical, { kind, marks }]) => [
      canonical,
      {
        kind,
        marks: Object.fromEntries(
          Object.entries(marks).map(([source, mark]) => [source, isShared(source, mark) ? '' : mark]),
        ),
      },
    ]),
  )
}

type Found = ReadonlyMap<string, string>
/** The keys under which the cards are recorded, by their present addresses. */
const findAll = ({ devices }: Host, cards: Cards): Found => {
  const found = new Map<string, string>()
  const taken = new Set<string>()
  const take = (canonical: string, key: string | undefined): void => {
    if (key === undefined || found.has(canonical) || taken.has(key)) return
    found.set(canonical, key)
    taken.add(key)
  }
  const compared = (canonical: string, key: string) => {
    const { card } = ownValue(devices, key) ?? {}
    return card ? likeness(card, cards.get(canonical)!) : 'alike'
  }
  const marked = Map.groupBy(
    Object.entries(devices).flatMap(([key, { card }]) => (card ? markKeys(card).map((mark) => [mark, key]) : [])),
    ([mark]) => mark!,
  )
  const byMark = (canonical: string): ReadonlySet<string> =>
    new Set(
      markKeys(cards.get(canonical)!)
        .flatMap((mark) => marked.get(mark) ?? [])
        .map(([, key]) => key!)
        .filter((key) => compared(canonical, key) === 'same'),
    )
  for (const canonical of cards.keys()) {
    const keys = byMark(canonical)
    if (keys.has(canonical)) take(canonical, canonical)
    else if (keys.size === 1) take(canonical, [...keys][0])
  }
  for (const canonical of cards.keys())
    if (ownValue(devices, canonical) && compared(canonical, canonical) !== 'other') take(canonical, canonical)
  for (const [key, held] of Object.entries(devices))
    if (held.displaced !== undefined && cards.has(held.displaced) && compared(held.displaced, key) !== 'other')
      take(held.displaced, key)
  return found
}

export type Moved = Move & {
  /** The key under which the device is recorded, and the one under which it belongs now. */
  readonly was: string
  readonly is: string
}
export type Placement = {
  readonly host: Host
  readonly handles: RecordedHandles
  /** By the key under which the device belongs now. */
  readonly moves: ReadonlyMap<string, Moved>
}

const renamed = (names: HeldDevice['deployables'], move: Move): HeldDevice['deployables'] =>
  Object.fromEntries(Object.entries(names).map(([name, uuid]) => [movedName(name, move), uuid]))
export const movedDevice = (held: HeldDevice, key: string, move: Move): HeldDevice => {
  const { displaced: _, ...rest } = held
  const first = { first: held.first ?? addressOf(key, held) }
  if (move.to === null) return { ...rest, ...first, displaced: move.from }
  const { deployables, away } = held
  return { ...rest, ...first, deployables: renamed(deployables, move), ...(away ? { away: renamed(away, move) } : {}) }
}

const movesOf = ({ devices }: Host, cards: Cards, found: Found): readonly Moved[] => {
  const at = new Map([...found].map(([canonical, key]) => [key, canonical]))
  return Object.entries(devices).flatMap(([was, held]): Moved[] => {
    const [from, device] = [addressOf(was, held), held.uuid]
    const to = at.get(was)
    if (to !== undefined) return to === was ? [] : [{ device, from, to, was, is: to }]
    const isTaken = held.displaced === undefined && cards.has(was)
    return isTaken ? [{ device, from, to: null, was, is: displacedKey(device) }] : []
  })
}

/** Handles of a device that has left, of which the report says that it is not where it was, block nobody. */
const departedHandles = (handles: Handles, departed: readonly Departed[], cards: Cards): Handles => {
  const moved = new Map(
    departed.flatMap(({ canonical, device }) => {
      const from = addressOf(canonical, device)
      const card = cards.get(from)
      const isOther = card && device.card && likeness(device.card, card) === 'other'
      return isOther ? [[canonical, { device: device.uuid, from, to: null }] as const] : []
    }),
  )
  return new Map([...handles].map(([canonical, all]) => [canonical, movedAll(all, moved.get(canonical))]))
}
const movedAll = <One extends Parameters<typeof movedHandle>[0]>(all: readonly One[], move: Move | undefined) =>
  move ? all.map((one) => ({ ...one, ...movedHandle(one, move) })) : all

/** The host as it is recorded, with each device at the address at which the report shows its card. */
export const placed = (host: Host, cards: Cards, handles: RecordedHandles): Placement => {
  const all = movesOf(host, cards, findAll(host, cards))
  const byWas = new Map(all.map((move) => [move.was, move]))
  const departed = departedHandles(handles.departed, host.departed, cards)
  if (all.length === 0) return { host, handles: { ...handles, departed }, moves: new Map() }
  const keyOf = (key: string) => byWas.get(key)?.is ?? key
  const devices = Object.entries(host.devices).map(([key, held]): [string, HeldDevice] => {
    const move = byWas.get(key)
    return [keyOf(key), move ? movedDevice(held, key, move) : held]
  })
  const present = [...handles.present].map(([key, some]) => [keyOf(key), movedAll(some, byWas.get(key))] as const)
  return {
    host: { ...host, devices: Object.fromEntries(devices) },
    handles: { present: new Map(present), departed },
    moves: new Map(all.map((move) => [move.is, move])),
  }
}

/** Finds devices that have left and may be the card that is shown: by a mark first, then those that were last there. */
export const candidatesAmong = (departed: readonly Departed[]): ((shown: Shown) => readonly Departed[]) => {
  const latest = departed.toReversed()
  const atHome = Map.groupBy(latest, ({ canonical, device }) => addressOf(canonical, device))
  const marked = Map.groupBy(
    latest.flatMap((one) => markKeys(one.device.card ?? NO_CARD).map((mark) => ({ mark, one }))),
    ({ mark }) => mark,
  )
  return ({ canonical, card = NO_CARD }) => {
    const alikeTo = ({ device }: Departed) => (device.card ? likeness(device.card, card) : 'alike')
    const same = markKeys(card).flatMap((mark) => (marked.get(mark) ?? []).map(({ one }) => one))
    const there = (atHome.get(canonical) ?? []).filter((one) => alikeTo(one) === 'alike')
    return [...new Set([...same, ...there])]
  }
}
/** `facts`: what was recorded of the device; compared where nothing else was kept of its card. */
export const isSameCard = ({ device }: Departed, facts: DeviceFacts, shown: Shown): boolean =>
  (device.card && shown.card
    ? likeness(device.card, shown.card)
    : likeness(cardByText(facts), cardByText(shown.device))) !== 'other'
