/** Invariants of Placement: its providers compared with the recorded state. */
import type { ResourceProviderUuid } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import { type Arq, arq } from '../actors/arq/decider.ts'
import { deployable } from '../actors/deployable/decider.ts'
import type { Deployable } from '../actors/deployable/state.ts'
import { type Host, host } from '../actors/host/decider.ts'
import {
  type PlacementEvent,
  type PlacementRecord,
  placement as placementDecider,
} from '../actors/placement/decider.ts'
import { FOREIGN_TRAITS, OWNER_TRAIT } from '../actors/placement/names.ts'
import {
  type Reserving,
  type Wanted,
  givenUnits,
  heldBy,
  unallocatedOf,
  wantedOf,
  withheld,
} from '../actors/placement/wanted.ts'
import { kindOf } from '../actors/runtime/memory.ts'
import { canonicalJson } from '../wire/canonical.ts'
import type { Loss, PlacementSeen, Proof } from './evidence.ts'
import { everOurs, oursNow } from './ownership.ts'
import type { Finding, History, Invariant } from './history.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

type Seen = Extract<Proof, { readonly of: 'placement' }>['seen']
const about = (uuid: ResourceProviderUuid, seen: Seen, found: string): Finding => ({
  found: `provider ${uuid} ${found}`,
  proof: [{ of: 'placement', uuid, seen }],
})

const ours: Invariant = {
  name: 'S11',
  meaning: 'a provider that is not ours is never written or deleted, and none with allocations is deleted',
  needs: ['placement'],
  judge: ({ placement, lost = [] }) => {
    const recorded = everOurs(lost)
    return {
      step: (step) => (recorded.step(step), []),
      *end() {
        for (const written of placement?.writes ?? []) {
          const { uuid, what, foreign, allocated } = written
          if (foreign || !recorded.has(uuid)) yield about(uuid, written, `is not ours, and was written: ${what}`)
          if (allocated && what === 'DELETE')
            yield about(uuid, written, 'was to be deleted although units are allocated')
        }
      },
    }
  },
}

/** `given`: the units that requests hold and that are allocated in Placement. */
type Judged = Wanted & { readonly given: number }
/** Returns all providers that Placement should have. */
const allWanted = (history: History, { reserveSilent, providers }: PlacementSeen): readonly Judged[] => {
  const [hosts, byHost] = [new Map<string, Host>(), new Map<string, Deployable[]>()]
  const instances = new Map<string, string>()
  for (const [key, state] of history.entities()) {
    if (kindOf(key) === arq.kind) {
      const { uuid, bond } = state as Arq
      if (bond) instances.set(uuid, bond.instanceUuid)
    }
    if (kindOf(key) === host.kind) hosts.set((state as Host).name, state as Host)
    if (kindOf(key) !== deployable.kind) continue
    const held = state as Deployable
    byHost.set(held.host, [...(byHost.get(held.host) ?? []), held])
  }
  const allocated = new Map(providers.map((provider) => [provider.uuid, provider.allocated]))
  const users = (all: readonly Deployable[], { uuid }: Wanted) =>
    all.filter(({ rpUuid }) => rpUuid === uuid).flatMap((one) => heldBy(one).flatMap((by) => instances.get(by) ?? []))
  return [...hosts].flatMap(([name, held]) => {
    const all = byHost.get(name) ?? []
    return wantedOf(held, all, reserveSilent).map((wanted) => {
      const lacking = unallocatedOf(users(all, wanted), allocated.get(wanted.uuid) ?? {})
      const units = sum(all.filter(({ rpUuid }) => rpUuid === wanted.uuid).map(givenUnits))
      return { ...withheld(wanted, lacking), given: units - sum([...lacking.values()]) }
    })
  })
}

type Shown = PlacementSeen['providers'][number]
/** A provider that another service has claimed is left alone (S11). */
const isClaimed = ({ traits }: Shown): boolean => traits.some((trait) => FOREIGN_TRAITS.includes(trait))
const isOurs = (shown: Shown): boolean => shown.traits.includes(OWNER_TRAIT) && !isClaimed(shown)
const differences = ({ name, resourceClass, total, reserved, traits }: Wanted, shown: Shown): readonly string[] => {
  const inventory = { total, reserved, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio: 1 }
  const lacking = traits.filter((trait) => !shown.traits.includes(trait))
  return [
    ...(shown.name === name ? [] : [`its name is ${shown.name}`]),
    ...(canonicalJson(shown.inventories) === canonicalJson({ [resourceClass]: inventory })
      ? []
      : [
          `its inventory is ${JSON.stringify(shown.inventories)}, not ${resourceClass} ${total} with ${reserved} reserved`,
        ]),
    ...(lacking.length > 0 ? [`it lacks ${lacking.join(', ')}`] : []),
  ]
}

/**
 * Providers that nobody may touch until an operator decides: the rows that said they are ours are lost, and whoever
 * adopted the rest cannot tell them from those of others, because they were renamed meanwhile. Such a provider is
 * recorded as a conflict.
 */
const disowned = (history: History, lost: readonly Loss[]): ReadonlySet<string> => {
  const named = new Set(
    lost
      .flatMap(({ rows }) => rows)
      .flatMap(({ key, events }) =>
        kindOf(key) === placementDecider.kind ? (events as readonly PlacementEvent[]) : [],
      )
      .flatMap((event) => (event.type === 'ProviderReconciled' ? [event.provider.uuid] : [])),
  )
  const conflicts = [...history.entities()].flatMap(([key, state]) =>
    kindOf(key) === placementDecider.kind ? Object.entries((state as PlacementRecord).providers) : [],
  )
  return new Set(
    conflicts.flatMap(([uuid, { state }]) => (state === 'placement_conflict' && named.has(uuid) ? [uuid] : [])),
  )
}

const inStep: Invariant = {
  name: 'L3',
  meaning: 'Placement equals the wanted state within 60 s after it can be reached again',
  needs: ['placement', 'settled'],
  judge: ({ placement, quiet, lost = [] }) => ({
    *end(history): Generator<Finding> {
      if (!placement || !quiet) return
      const shown = new Map(placement.providers.map((provider) => [provider.uuid, provider]))
      const wanted = allWanted(history, placement)
      const leftAlone = disowned(history, lost)
      for (const one of wanted) {
        const provider = shown.get(one.uuid)
        if (provider && leftAlone.has(one.uuid)) continue
        const found = provider ? (isClaimed(provider) ? [] : differences(one, provider)) : ['it does not exist']
        for (const line of found) yield about(one.uuid, provider ?? null, `of ${one.name}: ${line}`)
      }
      const [names, recorded] = [new Set<string>(wanted.map(({ uuid }) => uuid)), oursNow(history)]
      for (const provider of placement.providers)
        if (isOurs(provider) && recorded.has(provider.uuid) && !names.has(provider.uuid))
          yield about(provider.uuid, provider, `(${provider.name}) is ours, and nothing recorded wants it`)
    },
  }),
}

/**
 * Reasons that reserve single units. For any other reason all units are reserved, whether requests hold them or not.
 */
const OF_UNITS: ReadonlySet<Reserving> = new Set(['handles unusable', 'bound without allocation'])
const Counted = v.object({ total: v.number(), reserved: v.number() })

const notOverbooked: Invariant = {
  name: 'I16',
  meaning:
    'what is reserved of a provider and what requests hold of it never exceed its total, unless all of it is reserved',
  needs: ['placement', 'settled'],
  judge: ({ placement, quiet }) => ({
    *end(history): Generator<Finding> {
      if (!placement || !quiet) return
      const shown = new Map(placement.providers.map((provider) => [provider.uuid, provider]))
      for (const { uuid, name, resourceClass, reasons, given } of allWanted(history, placement)) {
        const provider = shown.get(uuid)
        const counted = v.safeParse(Counted, provider?.inventories[resourceClass])
        if (!provider || isClaimed(provider) || !counted.success || reasons.some((one) => !OF_UNITS.has(one))) continue
        const { total, reserved } = counted.output
        if (reserved + given > total)
          yield about(uuid, provider, `of ${name}: ${reserved} of ${total} are reserved, and requests hold ${given}`)
      }
    },
  }),
}

/** Judged by the numbers of Placement alone: a provider may have all of its units reserved, whatever the reason. */
const covered: Invariant = {
  name: 'S2 placement',
  meaning: 'what Placement does not reserve of a provider covers the allocations of those who hold its units',
  needs: ['placement', 'settled'],
  judge: ({ placement, quiet }) => ({
    *end(history): Generator<Finding> {
      if (!placement || !quiet) return
      const shown = new Map(placement.providers.map((provider) => [provider.uuid, provider]))
      for (const { uuid, name, resourceClass, given } of allWanted(history, placement)) {
        const provider = shown.get(uuid)
        const counted = v.safeParse(Counted, provider?.inventories[resourceClass])
        if (!provider || isClaimed(provider) || !counted.success) continue
        const { total, reserved } = counted.output
        if (reserved !== total && total - reserved < given)
          yield about(uuid, provider, `of ${name}: ${total} less ${reserved} reserved do not cover ${given} allocated`)
      }
    },
  }),
}

export const placementInvariants: readonly Invariant[] = [ours, inStep, notOverbooked, covered]
