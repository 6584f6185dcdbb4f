/** Invariants of attach handles: which ARQ holds which handle. */
import type { HostName } from '../vocabulary/identifiers.ts'
import { arqKey } from '../actors/arq/decider.ts'
import type { Bond } from '../actors/arq/messages.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import { dividedBy, functionOf } from '../vocabulary/attachedFunctions.ts'
import type { Deployable, SlotHandle } from '../actors/deployable/state.ts'
import { canonicalInfo } from '../vocabulary/pci.ts'
import { idOf } from '../actors/runtime/memory.ts'
import { countUnits, unitsOf } from '../actors/deployable/units.ts'
import { type Invariant, type World, arqsIn, at, deployablesIn, devicesIn, holds, inView } from './history.ts'

const heldBy = (deployable: Deployable): readonly SlotHandle[] =>
  Object.values(deployable.handles).filter(({ state }) => state === 'held')

const exclusive: Invariant = {
  name: 'S1',
  meaning: 'an attach handle belongs to at most one ARQ that is being bound or is bound',
  judge: () => {
    const holder = new Map<string, string>()
    return {
      *step(step) {
        for (const { before, key } of arqsIn(step))
          if (before.bond && holder.get(before.bond.handle.uuid) === key) holder.delete(before.bond.handle.uuid)
        for (const { after, key } of arqsIn(step)) {
          if (!holds(after) || !after.bond) continue
          const other = holder.get(after.bond.handle.uuid)
          if (other)
            yield at(
              step.rowCount,
              [key, other],
              `handle ${after.bond.handle.uuid} went to ${key} while ${other} has it`,
            )
          holder.set(after.bond.handle.uuid, key)
        }
      },
    }
  },
}

const capacity: Invariant = {
  name: 'S2',
  meaning: 'a deployable never grants more than it has accelerators',
  judge: () => {
    return {
      *step(step) {
        for (const { events, key, after } of deployablesIn(step)) {
          const granted = events.some(({ type }) => type === 'Granted')
          // a handle that the host no longer shows does not count as an accelerator, even while a request has it
          const given = granted ? countUnits(after, 'some', ({ state, unseen }) => state === 'held' && !unseen) : 0
          if (given > after.numAccelerators)
            yield at(step.rowCount, [key], `${key} gave ${given} of ${after.numAccelerators}`)
        }
      },
    }
  },
}

/** Describes a mismatch between a handle and the ARQ it names; null: they match. */
const estranged = (deployable: Deployable, handle: SlotHandle, world: World): string | null => {
  if (handle.state !== 'held') return handle.arq === null ? null : `${handle.state}, yet it names ${handle.arq}`
  if (handle.arq === null) return 'held by nobody'
  const { status, bond } = world.arq(handle.arq)
  if (!holds(world.arq(handle.arq))) return `held for ${handle.arq}, which is ${status}`
  return bond?.handle.uuid === handle.uuid && bond.deployable === deployable.uuid
    ? displaced(bond, handle)
    : `held for ${handle.arq}, which has ${bond?.handle.uuid ?? 'none'}`
}
/** A card takes its requests with it where it goes; null: the request has the address that the handle has. */
const displaced = (bond: Bond, handle: SlotHandle): string | null => {
  const [asked, own] = [canonicalInfo(bond.handle.info), canonicalInfo(handle.info)]
  return asked === own ? null : `at ${own}, and its ARQ has it at ${asked}`
}

const handleOf = (world: World, { deployable, handle }: Bond): SlotHandle | undefined =>
  world.deployable(deployable).handles[handle.uuid]

const mutual: Invariant = {
  name: 'I1',
  meaning: 'a handle is held exactly when one ARQ that is BindStarted or Bound has it, at one address',
  judge: () => {
    return {
      *step(step, world) {
        for (const { key, after, before } of deployablesIn(step))
          for (const handle of Object.values(after.handles)) {
            const wrong = before.handles[handle.uuid] === handle ? null : estranged(after, handle, world)
            const keys = [key, ...(handle.arq ? [arqKey(handle.arq)] : [])]
            if (wrong) yield at(step.rowCount, keys, `handle ${handle.uuid} is ${wrong}`)
          }
        for (const { key, before, after } of arqsIn(step)) {
          if (!holds(after)) {
            const kept = holds(before) && before.bond ? handleOf(world, before.bond) : undefined
            if (before.bond && kept?.state === 'held' && kept.arq === idOf(key))
              yield at(
                step.rowCount,
                [key, deployableKey(before.bond.deployable)],
                `${key} is ${after.status}, its handle ${kept.uuid} is held for it`,
              )
            continue
          }
          const handle = after.bond && handleOf(world, after.bond)
          if (handle?.state !== 'held')
            yield at(
              step.rowCount,
              [key, ...(after.bond ? [deployableKey(after.bond.deployable)] : [])],
              `${key} is ${after.status}, its handle ${handle?.uuid ?? ''} is ${handle?.state ?? 'nowhere'}`,
            )
          const wrong = handle && after.bond && before.bond !== after.bond ? displaced(after.bond, handle) : null
          if (handle && wrong) yield at(step.rowCount, [key], `handle ${handle.uuid} is ${wrong}`)
        }
      },
    }
  },
}

const backReference: Invariant = {
  name: 'I2',
  meaning: 'an ARQ has a handle exactly when that handle names the ARQ, in the journal and in the views',
  judge: ({ views }) => {
    return {
      *step(step, world) {
        for (const { key, after } of arqsIn(step)) {
          if (!holds(after) || !after.bond) continue
          const named = handleOf(world, after.bond)?.arq
          if (named !== idOf(key))
            yield at(
              step.rowCount,
              [key, deployableKey(after.bond.deployable)],
              `${key} has handle ${after.bond.handle.uuid}, which names ${named ?? 'nobody'}`,
            )
        }
      },
      *end() {
        if (!views?.arqs || !views.handles) return
        const named = new Map<string, string>()
        for (const { uuid, arq_uuid } of views.handles) if (arq_uuid) named.set(uuid, arq_uuid)
        for (const { uuid, handle_uuid } of views.arqs)
          if (handle_uuid && named.get(handle_uuid) !== uuid)
            yield inView(
              'arqs',
              uuid,
              `ARQ ${uuid} has handle ${handle_uuid}, which names ${named.get(handle_uuid) ?? 'nobody'}`,
              [arqKey(uuid)],
            )
      },
    }
  },
}

/** Whether several instances share one accelerator of the deployable. */
const isDivided = (deployable: Deployable, world: World): boolean =>
  unitsOf(heldBy(deployable)).some(
    (unit) => new Set(unit.map(({ arq }) => arq && world.arq(arq).bond?.instanceUuid)).size > 1,
  )

const together: Invariant = {
  name: 'I6',
  meaning:
    'a grant is one handle of the deployable that is granted, and the handles of one accelerator are of one instance',
  judge: () => {
    return {
      *step(step, world, before) {
        for (const { key, events, after } of deployablesIn(step))
          if (events.some(({ type }) => type === 'Granted') && isDivided(after, world))
            yield at(step.rowCount, [key], `${key} gave the handles of one accelerator to several instances`)
        for (const { key, after, before: was } of arqsIn(step)) {
          if (!after.bond || was.bond) continue
          const { deployable, handle } = after.bond
          if (!before.deployable(deployable).handles[handle.uuid])
            yield at(
              step.rowCount,
              [key, deployableKey(deployable)],
              `${key} was given ${handle.uuid}, which is not of deployable ${deployable}`,
            )
        }
      },
    }
  },
}

const retired: Invariant = {
  name: 'I9',
  meaning: 'no retired device or deployable has a held handle',
  judge: () => {
    const parts = new Map<string, Set<string>>()
    return {
      *step(step, world) {
        for (const { key, after } of deployablesIn(step)) {
          parts.set(after.deviceUuid, (parts.get(after.deviceUuid) ?? new Set()).add(after.uuid))
          const gone = after.presence === 'retired' || world.device(after.deviceUuid).presence === 'retired'
          if (gone && heldBy(after).length > 0)
            yield at(step.rowCount, [key], `${key} is retired and holds ${heldBy(after)[0]!.uuid}`)
        }
        for (const { key, after } of devicesIn(step)) {
          if (after.presence !== 'retired') continue
          for (const id of parts.get(after.uuid) ?? [])
            if (heldBy(world.deployable(id)).length > 0)
              yield at(
                step.rowCount,
                [key, deployableKey(id)],
                `${key} is retired, its deployable ${id} holds a handle`,
              )
        }
      },
    }
  },
}

/** Several texts under one key. Most keys have only one text: a set for each key would need most of the memory. */
const openSets = () => {
  const sets = new Map<string, string | Set<string>>()
  return {
    add: (key: string, text: string): void => {
      const known = sets.get(key)
      if (known instanceof Set) known.add(text)
      else sets.set(key, known === undefined || known === text ? text : new Set([known, text]))
    },
    drop: (key: string, text: string): void => {
      const known = sets.get(key)
      if (known instanceof Set) known.delete(text)
      if (known === text || (known instanceof Set && known.size === 0)) sets.delete(key)
    },
    at: (key: string): Iterable<string> => {
      const known = sets.get(key) ?? []
      return typeof known === 'string' ? [known] : known
    },
  }
}

/** Held handles by the function that they attach; those of virtual functions also by their physical function. */
const openHolders = () => {
  const { add, drop, at } = openSets()
  const keysOf = (host: HostName, handle: SlotHandle) => ({
    whole: `${host} ${functionOf(handle)}`,
    parents: dividedBy(handle).map((parent) => `${host} ${parent}`),
  })
  return {
    leave: (host: HostName, handle: SlotHandle) => {
      const { whole, parents } = keysOf(host, handle)
      drop(whole, handle.uuid)
      for (const parent of parents) drop(`parts of ${parent}`, handle.uuid)
    },
    /** Adds a handle. Returns another held handle that shares hardware with it, if any. */
    join: (host: HostName, handle: SlotHandle): string | undefined => {
      const { whole, parents } = keysOf(host, handle)
      const others = [...at(whole), ...at(`parts of ${whole}`), ...parents.flatMap((parent) => [...at(parent)])]
      add(whole, handle.uuid)
      for (const parent of parents) add(`parts of ${parent}`, handle.uuid)
      return others.find((uuid) => uuid !== handle.uuid)
    },
  }
}

/** Handles that are held in `one` and different or absent in `other`. */
const heldOnlyIn = (one: Deployable, other: Deployable): readonly SlotHandle[] =>
  heldBy(one).filter((handle) => other.handles[handle.uuid] !== handle)

const hardware: Invariant = {
  name: 'I17',
  meaning:
    'no two ARQs hold the same function of a host, nor a function and a part of it: a virtual function or a mediated device (R7)',
  judge: () => {
    const holders = openHolders()
    return {
      *step(step) {
        const changes = deployablesIn(step)
        for (const { before, after } of changes)
          for (const handle of heldOnlyIn(before, after)) holders.leave(after.host, handle)
        const came = changes.flatMap(({ key, before, after }) =>
          heldOnlyIn(after, before).map((handle) => ({ key, handle, other: holders.join(after.host, handle) })),
        )
        for (const { key, handle, other } of came)
          if (other)
            yield at(step.rowCount, [key], `handle ${handle.uuid} is held, and so is ${other}: the same hardware`)
      },
    }
  },
}

export const handleInvariants: readonly Invariant[] = [
  exclusive,
  capacity,
  mutual,
  backReference,
  together,
  retired,
  hardware,
]
