/** A Placement that writes only while the caller may, and one that only notes what would be written. */
import type { Placement, PlacementFault, Told } from '../placement/port.ts'

const SUPERSEDED: PlacementFault = {
  ok: false,
  trouble: 'unanswered',
  reason: 'another process works on this host now',
}

/** Asks before each call that changes something. */
export const fenced = (port: Placement, mayCall: () => Promise<boolean>): Placement => {
  const guarded =
    <Argument, Value>(call: (argument: Argument) => Promise<Told<Value>>) =>
    async (argument: Argument): Promise<Told<Value>> =>
      (await mayCall()) ? call(argument) : SUPERSEDED
  return {
    ...port,
    create: guarded(port.create),
    update: guarded(port.update),
    remove: guarded(port.remove),
    setInventories: guarded(port.setInventories),
    setTraits: guarded(port.setTraits),
    ensureTrait: guarded(port.ensureTrait),
    ensureClass: guarded(port.ensureClass),
  }
}

/** Answers each write as if it had been done, and reads of what was created as if it were there. */
export const unwritten = (port: Placement): Placement => {
  const made = new Set<string>()
  const ok = <Value>(value: Value): Told<Value> => ({ ok: true, value })
  return {
    ...port,
    create: async ({ uuid, name, parent }) => {
      made.add(uuid)
      return ok({ uuid, name, parent, root: parent, generation: 0 })
    },
    update: async ({ uuid, name, parent }) => ok({ uuid, name, parent, root: parent, generation: 0 }),
    remove: async () => ok(null),
    inventories: async (uuid) => (made.has(uuid) ? ok({ generation: 0, inventories: {} }) : port.inventories(uuid)),
    setInventories: async ({ generation }) => ok(generation),
    traits: async (uuid) => (made.has(uuid) ? ok({ generation: 0, traits: [] }) : port.traits(uuid)),
    setTraits: async ({ generation }) => ok(generation),
    ensureTrait: async () => ok(null),
    ensureClass: async () => ok(null),
  }
}
