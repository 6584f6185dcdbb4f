/**
 * Cards of a machine that are at other addresses after a restart of the machine, and what is done for a request is done
 * on the silicon that it was given, whatever the addresses are.
 */
import { canonicalInfo } from '../../src/vocabulary/pci.ts'
import { remember } from '../../src/actors/entities.ts'
import type { Deployable } from '../../src/actors/deployable/state.ts'
import { localNameOf } from '../../src/actors/deployable/state.ts'
import type { Evidence, Violation } from '../../src/audit/evidence.ts'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import type { Effects } from '../../src/drivers/simulated/effects.ts'
import { type MovingCards, NO_CARD, type Places } from '../support/movingCards.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'

export const SILICON = 'data-model 11.7'

/** Some cards exchange their places, go to free ones, or are taken out; others are put back, wherever there is room. */
export const shuffled = (places: Places, random: Random): Places => {
  const now = [...places]
  const free = (): readonly number[] => places.map((_, place) => place).filter((place) => !now.includes(place))
  for (let left = random.between(1, 3); left > 0; left--) {
    const [one, other] = [random.below(now.length), random.below(now.length)]
    const room = free()
    if (random.chance(0.3)) now[one] = null
    else if (room.length > 0 && (now[one] === null || random.chance(0.5))) now[one] = random.pick(room)
    else [now[one], now[other]] = [now[other] ?? null, now[one] ?? null]
  }
  return now
}
/** All cards are plugged in, those that were out wherever there is room. */
export const whole = (places: Places): Places => {
  const free = places.map((_, place) => place).filter((place) => !places.includes(place))
  return places.map((place) => place ?? free.shift() ?? null)
}

/** A driver whose calls are compared with what its hardware holds; it knows each card by itself. */
export const silicon = <One extends Driver>(
  driver: One,
  effects: () => Effects,
  complain: (line: string) => void,
): One => {
  const at = ({ deployable, info }: Pick<Slot, 'deployable' | 'info'>) => `${deployable} ${canonicalInfo(info)}`
  const heldAt = ({ deployable, info }: Effects['prepared'][string]) => `${deployable} ${info}`
  const isItsOwn = (what: string, slot: Slot): void => {
    const own = effects().prepared[slot.uuid]
    // what was taken out is released without it
    if (own && !slot.deployable.startsWith(NO_CARD) && heldAt(own) !== at(slot))
      complain(`slot ${slot.uuid} has ${heldAt(own)}, and its ${what} is on ${at(slot)}`)
  }
  return {
    ...driver,
    prepare: (io, slot, signal) => {
      isItsOwn('preparation', slot)
      for (const [other, held] of Object.entries(effects().prepared))
        if (other !== slot.uuid && heldAt(held) === at(slot))
          complain(`${at(slot)} is prepared for ${slot.uuid}, and ${other} has it`)
      return driver.prepare(io, slot, signal)
    },
    release: (io, slot, signal) => {
      isItsOwn('release', slot)
      return driver.release(io, slot, signal)
    },
  }
}

/** Requests whose attach handle leads to other hardware than what their host has prepared for them. */
export const strayed = (
  { journal }: Pick<Evidence, 'journal'>,
  machines: readonly Pick<Machine, 'name' | 'moving' | 'effects'>[],
): readonly Violation[] => {
  const rows = Map.groupBy(journal, ({ key }) => key)
  const all = [...rows].flatMap(([key, own]) =>
    key.startsWith('deployable/') ? [remember(key, own).state as Deployable] : [],
  )
  return machines.flatMap(({ name, moving, effects }) => {
    const cards: MovingCards | null = moving()
    const held = all.filter(({ host, presence }) => host === name && presence === 'present')
    return held.flatMap((deployable) =>
      Object.values(deployable.handles).flatMap(({ uuid, state, info }): Violation[] => {
        const own = effects().prepared[uuid]
        if (!cards || !own || state !== 'held') return []
        const there = cards.slotInside({ deployable: localNameOf(deployable), info })
        if (canonicalInfo(there.info) === own.info) return []
        const found = `${deployable.name}: the handle of slot ${uuid} leads to ${canonicalInfo(there.info)}, and ${own.info} is prepared`
        return [{ invariant: SILICON, meaning: 'a request has the card that it was bound to', found, proof: [] }]
      }),
    )
  })
}
