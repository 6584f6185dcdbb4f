/** Invariants of accelerator requests (ARQs): data that must not change, and how they take part in binds. */
import { canonicalJson } from '../wire/canonical.ts'
import type { ArqEvent } from '../actors/arq/messages.ts'
import { idOf } from '../actors/runtime/memory.ts'
import { type Arq, arqKey } from '../actors/arq/decider.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import { instanceKey } from '../actors/instance/decider.ts'
import { profileKey } from '../actors/profile/decider.ts'
import { type History, type Invariant, arqsIn, at, holds, inView, instancesIn, profileStates } from './history.ts'

/** The most time between the read of a profile and the record of its ARQs, in which the profile may change. */
const READ_MS = 60_000
/** The texts of the group in the states that the profile had when the ARQ was created, or up to `READ_MS` before. */
const pinnedGroups = (history: History, { profileUuid, groupId, createdAt }: Arq, rowCount: number) => {
  const states = profileStates(history, profileUuid, 0, rowCount)
  return states.flatMap(({ facts }, n) => {
    const next = states[n + 1]
    const over = next?.facts ? (next.updatedAt ?? next.createdAt) : Number.POSITIVE_INFINITY
    return facts?.groups[groupId] && over >= createdAt - READ_MS ? [JSON.stringify(facts.groups[groupId])] : []
  })
}

const pinned: Invariant = {
  name: 'S15',
  meaning: 'an ARQ keeps its group as the profile had it at creation, whatever happens to the profile (I14)',
  judge: ({ views }) => {
    const groups = new Map<string, string>()
    // many requests have groups with the same text, so each text is kept once
    const texts = new Map<string, string>()
    const known = (text: string): string => texts.get(text) ?? (texts.set(text, text), text)
    return {
      *step(step, _, __, history) {
        for (const { rowCount, key, after, before } of arqsIn(step)) {
          const now = JSON.stringify(after.group)
          if (before.status !== 'Absent') {
            if (groups.get(key) !== now) yield at(rowCount, [key], `the group of ${key} changed`)
            continue
          }
          groups.set(key, known(now))
          const allowed = pinnedGroups(history, after, rowCount)
          if (allowed.length > 0 && !allowed.includes(now))
            yield at(
              rowCount,
              [key, profileKey(after.profileUuid)],
              `${key} was made with a group that its profile does not have`,
            )
        }
      },
      *end() {
        for (const { uuid, group } of views?.arqs ?? [])
          if (canonicalJson(group) !== canonicalJson(JSON.parse(groups.get(arqKey(uuid)) ?? 'null')))
            yield inView('arqs', uuid, `the group of ${uuid} is not the one it was made with`, [arqKey(uuid)])
      },
    }
  },
}

/** Whether that version of the profile had the group at any time up to `rowCount`. Null: it is not known. */
const hadGroup = (history: History, { profileUuid, profileVersion, groupId }: Arq, group: string, rowCount: number) => {
  const named = profileStates(history, profileUuid, 0, rowCount)
    .flatMap(({ versions }) => versions)
    .filter(({ version }) => version === profileVersion)
  return named.length === 0 ? null : named.some(({ groups }) => JSON.stringify(groups[groupId]) === group)
}
const versioned: Invariant = {
  name: 'S17',
  meaning:
    'the group of an ARQ is the one of the version of its profile that it names, and stays so whatever version is the newest',
  judge: ({ views }) => {
    const names = new Map<string, number | null>()
    return {
      *step(step, _, __, history) {
        for (const { rowCount, key, after, before } of arqsIn(step)) {
          const { profileVersion: version } = after
          if (before.status !== 'Absent') {
            if (names.get(key) !== version)
              yield at(rowCount, [key], `${key} names version ${version} of its profile now`)
            continue
          }
          names.set(key, version)
          const had = version === null ? true : hadGroup(history, after, JSON.stringify(after.group), rowCount)
          if (had === true) continue
          const found = had === null ? 'which its profile does not have' : 'which has another group'
          yield at(rowCount, [key, profileKey(after.profileUuid)], `${key} names version ${version}, ${found}`)
        }
      },
      *end() {
        for (const { uuid, profile_version: version } of views?.arqs ?? [])
          if ((names.get(arqKey(uuid)) ?? null) !== (version ?? null))
            yield inView('arqs', uuid, `${uuid} names version ${version}, and was made with another`, [arqKey(uuid)])
      },
    }
  },
}

const complete: Invariant = {
  name: 'I3',
  meaning: 'a Bound ARQ names its handle, deployable, host, provider and instance, and they belong together',
  judge: ({ views }) => {
    return {
      *step(step, world) {
        for (const { key, after } of arqsIn(step)) {
          if (after.status !== 'Bound') continue
          const { bond } = after
          const target = bond && world.deployable(bond.deployable)
          const whole =
            bond &&
            target?.rpUuid === bond.deviceRpUuid &&
            target.host === bond.host &&
            bond.hostname &&
            bond.instanceUuid &&
            bond.handle.uuid
          if (!whole)
            yield at(
              step.rowCount,
              [key, ...(bond ? [deployableKey(bond.deployable)] : [])],
              `${key} is Bound with ${JSON.stringify(bond)}, of deployable ${target?.rpUuid ?? ''} on ${target?.host ?? ''}`,
            )
        }
      },
      *end() {
        for (const row of views?.arqs ?? []) {
          const empty = [
            row.handle_uuid,
            row.deployable_uuid,
            row.hostname,
            row.device_rp_uuid,
            row.instance_uuid,
          ].includes(null)
          if (row.state === 'Bound' && empty)
            yield inView('arqs', row.uuid, `ARQ ${row.uuid} is Bound and lacks a field`, [arqKey(row.uuid)])
        }
      },
    }
  },
}

const empty: Invariant = {
  name: 'I4',
  meaning: 'an ARQ that is Initial or Unbound has no handle and takes part in no conversation',
  judge: () => {
    return {
      *step(step, world) {
        for (const { key, after, before } of arqsIn(step)) {
          if (!['Initial', 'Unbound', 'Gone'].includes(after.status)) continue
          if (after.bond)
            yield at(step.rowCount, [key], `${key} is ${after.status} and has handle ${after.bond.handle.uuid}`)
          const was = before.bond && world.instance(before.bond.instanceUuid)
          if (was?.arqs[idOf(key)])
            yield at(
              step.rowCount,
              [key, instanceKey(was.uuid)],
              `${key} is ${after.status} and still takes part in instance ${was.uuid}`,
            )
        }
      },
    }
  },
}

/** The ARQs that have an event of that type in this step. */
const said = (changes: ReturnType<typeof arqsIn>, type: ArqEvent['type']): readonly string[] =>
  changes.filter(({ events }) => events.some((event) => event.type === type)).map(({ key }) => idOf(key))
const same = (one: readonly string[], other: readonly string[]) => [...one].sort().join() === [...other].sort().join()

const whole: Invariant = {
  name: 'S16',
  meaning: 'the ARQs of one bind are accepted together and end alike, in one append',
  judge: () => {
    return {
      *step(step) {
        const arqs = arqsIn(step)
        const events = instancesIn(step).flatMap((change) => change.events)
        const accepted = events.flatMap((event) =>
          event.type === 'BindAccepted' ? event.parts.map(({ arq }) => arq) : [],
        )
        const [bound, failed] = (['completed', 'failed'] as const).map((outcome) =>
          events.flatMap((event) => (event.type === 'BindSettled' && event.outcome === outcome ? event.arqs : [])),
        )
        if (!same(accepted, said(arqs, 'BindStarted')))
          yield at(
            step.rowCount,
            [],
            `accepted ${accepted.join() || 'nothing'}, started ${said(arqs, 'BindStarted').join() || 'nothing'}`,
          )
        if (!same(bound!, said(arqs, 'Bound')))
          yield at(
            step.rowCount,
            [],
            `settled ${bound!.join() || 'nothing'}, bound ${said(arqs, 'Bound').join() || 'nothing'}`,
          )
        if (!same(failed!, said(arqs, 'BindFailed')))
          yield at(
            step.rowCount,
            [],
            `failed ${failed!.join() || 'nothing'}, ARQs ${said(arqs, 'BindFailed').join() || 'nothing'}`,
          )
      },
    }
  },
}

const announced: Invariant = {
  name: 'I15',
  meaning:
    'every ARQ that became Bound or BindFailed is in exactly one ended conversation, which says whether Nova is notified',
  judge: () => {
    return {
      *step(step, world) {
        for (const { key, events, after } of arqsIn(step)) {
          const final = events.some(({ type }) => type === 'Bound' || type === 'BindFailed')
          if (!final || (!holds(after) && after.status !== 'BindFailed')) continue
          const instance = after.bond && world.instance(after.bond.instanceUuid)
          const owed = instance?.telling?.statuses[idOf(key)]
          const silent = instance?.tellUntil === null
          if (!silent && owed !== (after.status === 'Bound' ? 'completed' : 'failed'))
            yield at(
              step.rowCount,
              [key, ...(instance ? [instanceKey(instance.uuid)] : [])],
              `${key} is ${after.status}, Nova is to hear ${owed ?? 'nothing'}`,
            )
        }
      },
    }
  },
}

export const arqInvariants: readonly Invariant[] = [pinned, versioned, complete, empty, whole, announced]
