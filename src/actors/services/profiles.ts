/** The device profiles part of the control port. */
import type { ProfileUuid } from '../../identifiers.ts'
import { type Outcome, refuse } from '../../fault.ts'
import { isUuid } from '../../uuid.ts'
import type { Control, ProfileRow } from '../control.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import { createNaming } from './profileNames.ts'
import { profile, profileKey, profileName, profileNameKey, profileRow } from '../profile/decider.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device profile', id })
const GUESSES_MAX = 10_000

/** Finds a profile by UUID or by name, from the actors of both. */
const createFinder = ({ region }: Kernel) => {
  const byUuid = async (uuid: ProfileUuid): Promise<Outcome<ProfileRow>> => {
    const looked = await region.readCurrent(profile, profileKey(uuid))
    if (!looked.ok) return looked
    const held = looked.value.state
    return held.facts ? { ok: true, value: profileRow({ ...held, facts: held.facts }) } : missing(uuid)
  }
  /** The actor of the name knows which profile holds it. */
  const holderOf = async (name: string): Promise<Outcome<ProfileUuid>> => {
    const looked = await region.readCurrent(profileName, profileNameKey(name))
    if (!looked.ok) return looked
    const { holder } = looked.value.state
    return holder ? { ok: true, value: holder } : missing(name)
  }
  /** The profile that held a name last: a guess, so that both actors can be asked at the same time. */
  const guesses = new Map<string, ProfileUuid>()
  const byName = async (name: string) => {
    const guess = guesses.get(name)
    const [holder, guessed] = await Promise.all([holderOf(name), guess === undefined ? null : byUuid(guess)])
    if (!holder.ok) return holder
    if (guessed && guess === holder.value) return guessed
    if (guesses.size >= GUESSES_MAX) guesses.clear()
    guesses.set(name, holder.value)
    return byUuid(holder.value)
  }
  return { byUuid, byName }
}
type Finder = ReturnType<typeof createFinder>

const createRemove = (kernel: Kernel, { byUuid, byName }: Finder): Control['profiles']['remove'] => {
  const { readers, units } = kernel
  const inUse = async (uuid: ProfileUuid): Promise<Outcome<boolean>> => {
    const first = await readers.first('arqs', { profile_uuid: uuid })
    return first.ok ? { ok: true, value: first.value !== null } : first
  }
  const removable = async (selector: string): Promise<Outcome<ProfileRow>> => {
    const found = isUuid(selector) ? await byUuid(selector) : await byName(selector)
    if (!found.ok) return found
    const used = await inUse(found.value.uuid)
    if (!used.ok) return used
    if (used.value)
      return refuse({
        kind: 'conflict',
        reason: `device profile ${found.value.name} is in use by accelerator requests`,
      })
    return found
  }

  return async (caller, selectors) => {
    const found = await Promise.all(selectors.map(removable))
    const refused = found.find((one) => !one.ok)
    if (refused && !refused.ok) return refused
    const leaving = new Map(found.flatMap((one) => (one.ok ? [[one.value.uuid, one.value.name] as const] : [])))
    const keys = [...leaving].flatMap(([uuid, name]) => [profileKey(uuid), profileNameKey(name)])
    const plan = newWork(kernel, causeOf(caller), (draft) => {
      for (const [uuid, name] of leaving) {
        if (!draft.state(profile, profileKey(uuid)).facts)
          draft.refuse({ kind: 'not_found', resource: 'device profile', id: name })
        draft.decide(profile, profileKey(uuid), { type: 'Remove' })
        draft.decide(profileName, profileNameKey(name), { type: 'Free' })
      }
      return null
    })
    return units.together(keys, plan)
  }
}

export const createProfiles = (kernel: Kernel): Control['profiles'] => {
  const { readers, units, ids } = kernel
  const finder = createFinder(kernel)
  const nameInPlacement = createNaming(kernel)
  return {
    ...finder,
    list: (names, page) => readers.list('profiles', names ? { name: names } : {}, page),
    create: async (caller, { uuid = ids.uuid(), name, description, groups }) => {
      const facts = { uuid, name, description, groups }
      const work = newWork(kernel, causeOf(caller), (draft) => {
        draft.decide(profileName, profileNameKey(name), { type: 'Take', name, holder: uuid })
        draft.decide(profile, profileKey(uuid), { type: 'Create', profile: facts })
        return profileRow({ facts, createdAt: draft.at })
      })
      const made = await units.together([profileKey(uuid), profileNameKey(name)], work)
      if (made.ok) nameInPlacement(groups)
      return made.ok ? { ok: true, value: made.value ?? profileRow({ facts, createdAt: work.at }) } : made
    },
    remove: createRemove(kernel, finder),
    regroup: async (caller, changes, reason) => {
      const plan = newWork(kernel, causeOf(caller), (draft) => {
        for (const { uuid, was, groups } of changes)
          draft.decide(profile, profileKey(uuid), {
            type: 'Regroup',
            was,
            groups,
            by: caller.userId,
            reason,
          })
        return null
      })
      const keys = changes.map(({ uuid }) => profileKey(uuid))
      const regrouped = await units.together(keys, plan)
      if (regrouped.ok) nameInPlacement(changes.flatMap(({ groups }) => groups))
      return regrouped
    },
  }
}
