/** The device profiles part of the control port. */
import type { ProfileUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done, refuse } from '../../vocabulary/fault.ts'
import { impactOf } from '../../actors/answers/impact.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import type { Caller, Control, ProfileRow } from '../../actors/control.ts'
import { createExplain } from './explain.ts'
import { type Kernel, causeOf, commandOf, hasRecorded, newWork } from '../kernel/kernel.ts'
import { WOULD_BE_DONE, refusalFound } from '../kernel/dryRun.ts'
import { createNaming } from './profileNames.ts'
import {
  type Groups,
  type Profile,
  profile,
  profileKey,
  profileName,
  profileNameKey,
  profileRow,
} from '../../actors/profile/decider.ts'
import { type Viewer, seenBy } from '../../actors/profile/usable.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device profile', id })
const GUESSES_MAX = 10_000
const rowOf = (held: Profile): ProfileRow | null => (held.facts ? profileRow({ ...held, facts: held.facts }) : null)

/** Finds a profile by UUID or by name; the UUID's actor and the name's actor are both asked. */
const createFinder = ({ region }: Kernel) => {
  const byUuid = async (uuid: ProfileUuid, viewer?: Viewer): Promise<Outcome<ProfileRow>> => {
    const looked = await region.readCurrent(profile, profileKey(uuid))
    if (!looked.ok) return looked
    const row = rowOf(looked.value.state)
    return row && (!viewer || seenBy(viewer, row)) ? { ok: true, value: row } : missing(uuid)
  }
  /** The actor of the name knows which profile holds it. */
  const holderOf = async (name: string): Promise<Outcome<ProfileUuid>> => {
    const looked = await region.readCurrent(profileName, profileNameKey(name))
    if (!looked.ok) return looked
    const { holder } = looked.value.state
    return holder ? { ok: true, value: holder } : missing(name)
  }
  /** The profile that last held a name, cached: a guess, so that both actors can be asked at the same time. */
  const guesses = new Map<string, ProfileUuid>()
  const anyByName = async (name: string) => {
    const guess = guesses.get(name)
    const [holder, guessed] = await Promise.all([holderOf(name), guess === undefined ? null : byUuid(guess)])
    if (!holder.ok) return holder
    if (guessed && guess === holder.value) return guessed
    if (guesses.size >= GUESSES_MAX) guesses.clear()
    guesses.set(name, holder.value)
    return byUuid(holder.value)
  }
  const byName = async (name: string, viewer?: Viewer) => {
    const found = await anyByName(name)
    return !found.ok || !viewer || seenBy(viewer, found.value) ? found : missing(name)
  }
  /** A name may look like a UUID, so what no UUID finds may still be a name. */
  const find = async (selector: string, viewer?: Viewer): Promise<Outcome<ProfileRow>> => {
    const uuid = canonicalUuid(selector)
    const found = uuid === null ? null : await byUuid(uuid, viewer)
    return found === null || (!found.ok && found.fault.kind === 'not_found') ? byName(selector, viewer) : found
  }
  return { byUuid, byName, find }
}
type Finder = ReturnType<typeof createFinder>

type Selected = Outcome<readonly ProfileRow[]>
const createSelect =
  ({ find }: Finder) =>
  async (selectors: readonly string[]): Promise<Selected> =>
    allOf(selectors.map((selector) => find(selector)))

const createImpact =
  (kernel: Kernel, select: (selectors: readonly string[]) => Promise<Selected>): Control['profiles']['impact'] =>
  async (selectors) => {
    const found = await select(selectors)
    if (!found.ok) return found
    const uuids = found.value.map(({ uuid }) => uuid)
    const arqs = await kernel.readers.list('arqs', { profile_uuid: uuids }, {})
    if (!arqs.ok) return arqs
    const used = found.value.find(({ uuid }) => arqs.value.items.some((row) => row.profile_uuid === uuid))
    return done(impactOf(arqs.value.items, { refusal: used ? inUseReason(used) : null, effect: 'kept', devices: [] }))
  }
const inUseReason = ({ name }: ProfileRow) => `device profile ${name} is in use by accelerator requests`

const createRemove = (kernel: Kernel, { find }: Finder): Control['profiles']['remove'] => {
  const { readers, region, units } = kernel
  const inUse = async (uuid: ProfileUuid): Promise<Outcome<boolean>> => {
    const first = await readers.first('arqs', { profile_uuid: uuid })
    return first.ok ? { ok: true, value: first.value !== null } : first
  }
  const removable = async (selector: string): Promise<Outcome<ProfileRow>> => {
    const found = await find(selector)
    if (!found.ok) return found
    const used = await inUse(found.value.uuid)
    if (!used.ok) return used
    if (used.value) return refuse({ kind: 'conflict', reason: inUseReason(found.value) })
    return found
  }

  const wasRemoved = async (caller: Caller, selector: string): Promise<Outcome<boolean>> => {
    const uuid = canonicalUuid(selector)
    const byUuid =
      uuid === null ? done(false) : hasRecorded(await region.readCurrent(profile, profileKey(uuid)), caller)
    return !byUuid.ok || byUuid.value
      ? byUuid
      : hasRecorded(await region.readCurrent(profileName, profileNameKey(selector)), caller)
  }

  return async (caller, selectors) => {
    if (caller.commandId !== undefined) {
      const removed = await allOf(selectors.map((selector) => wasRemoved(caller, selector)))
      if (!removed.ok) return removed
      if (removed.value.every(Boolean)) return done(null)
    }
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
    return units.together(keys, { ...plan, ...commandOf(caller) })
  }
}

const createList =
  ({ readers }: Kernel): Control['profiles']['list'] =>
  (names, page, viewer) => {
    const where = names ? { name: names } : {}
    if (!viewer) return readers.list('profiles', where, page)
    const { isAdmin } = viewer.caller
    const visible = viewer.disabled && isAdmin ? {} : { enabled: true }
    return readers.list('profiles', where, page, visible, isAdmin ? undefined : (row) => seenBy(viewer, row))
  }

const createVersions =
  ({ region }: Kernel): Control['profiles']['versions'] =>
  async (uuid) => {
    const looked = await region.readCurrent(profile, profileKey(uuid))
    if (!looked.ok) return looked
    const { facts, versions } = looked.value.state
    return facts ? done(versions) : missing(uuid)
  }

type Updating = Parameters<Control['profiles']['update']>
/** Decides the change; a dry run records nothing and ends with the refusal `WOULD_BE_DONE`. */
const decideUpdate = (kernel: Kernel, dryRun: boolean, [caller, uuid, change, reason]: Updating) => {
  const key = profileKey(uuid)
  const work = newWork(kernel, causeOf(caller), (draft) => {
    if (!draft.state(profile, key).facts) draft.refuse({ kind: 'not_found', resource: 'device profile', id: uuid })
    draft.decide(profile, key, { type: 'Update', ...change, by: caller.userId, reason })
    if (dryRun) draft.refuse(WOULD_BE_DONE)
    return rowOf(draft.state(profile, key))
  })
  return kernel.units.together([key], dryRun ? work : { ...work, ...commandOf(caller) })
}
const createUpdate =
  (kernel: Kernel, { byUuid }: Finder, nameInPlacement: (groups: Groups) => void): Control['profiles']['update'] =>
  async (caller, uuid, change, reason) => {
    const updated = await decideUpdate(kernel, false, [caller, uuid, change, reason])
    if (!updated.ok) return updated
    if (change.groups) nameInPlacement(change.groups)
    // a repeated command that was already carried out returns no answer, so the profile is read
    return updated.value ? done(updated.value) : byUuid(uuid)
  }
const createUpdateImpact =
  (kernel: Kernel): Control['profiles']['updateImpact'] =>
  async (...asked) => {
    const refusal = refusalFound(await decideUpdate(kernel, true, asked))
    if (!refusal.ok) return refusal
    const arqs = await kernel.readers.list('arqs', { profile_uuid: asked[1] }, {})
    return arqs.ok ? done(impactOf(arqs.value.items, { refusal: refusal.value, effect: 'kept', devices: [] })) : arqs
  }

export const createProfiles = (kernel: Kernel): Control['profiles'] => {
  const { units, ids } = kernel
  const finder = createFinder(kernel)
  const nameInPlacement = createNaming(kernel)
  return {
    ...finder,
    list: createList(kernel),
    versions: createVersions(kernel),
    update: createUpdate(kernel, finder, nameInPlacement),
    updateImpact: createUpdateImpact(kernel),
    create: async (caller, { uuid = ids.uuid(), name, description, groups }) => {
      const facts = { uuid, name, description, groups }
      const work = newWork(kernel, causeOf(caller), (draft) => {
        draft.decide(profileName, profileNameKey(name), { type: 'Take', name, holder: uuid })
        draft.decide(profile, profileKey(uuid), { type: 'Create', profile: facts })
        return rowOf(draft.state(profile, profileKey(uuid)))
      })
      const made = await units.together([profileKey(uuid), profileNameKey(name)], { ...work, ...commandOf(caller) })
      if (made.ok) nameInPlacement(groups)
      if (!made.ok) return made
      // a repeated command would have made another UUID
      return made.value ? done(made.value) : finder.byName(name)
    },
    check: createExplain(kernel),
    impact: createImpact(kernel, createSelect(finder)),
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
