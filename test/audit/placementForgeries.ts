/** What Placement should show of a journal, and how that is spoilt. */
import type { Evidence } from '../../src/audit/evidence.ts'
import { arq } from '../../src/actors/arq/decider.ts'
import { deployable } from '../../src/actors/deployable/decider.ts'
import { remember } from '../../src/actors/entities.ts'
import { host as hostDecider } from '../../src/actors/host/decider.ts'
import { wantedOf } from '../../src/actors/placement/wanted.ts'
import { memoryOf } from '../../src/actors/runtime/memory.ts'

/** As Placement should show the cloud of this journal. */
const providersOf = (journal: Evidence['journal']): Seen['providers'] => {
  const states = [...Map.groupBy(journal, ({ key }) => key)].map(([key, rows]) => remember(key, rows))
  const deployables = states.flatMap((memory) => memoryOf(deployable, memory)?.state ?? [])
  const arqs = states.flatMap((memory) => memoryOf(arq, memory)?.state ?? [])
  const hosts = states.flatMap((memory) => memoryOf(hostDecider, memory)?.state ?? [])
  return hosts
    .flatMap((held) =>
      wantedOf(
        held,
        deployables.filter((one) => one.host === held.name),
        'never',
      ),
    )
    .map(({ uuid, name, deployable: of, resourceClass, total, reserved, traits }) => ({
      uuid,
      name,
      inventories: {
        [resourceClass]: { total, reserved, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio: 1 },
      },
      traits,
      allocated: Object.fromEntries(
        arqs.flatMap(({ bond }) => (bond?.deployable === of ? [[bond.instanceUuid, total]] : [])),
      ),
    }))
}
type Seen = NonNullable<Evidence['placement']>
type Write = Seen['writes'][number]
/** Of the first provider, if nothing else is said. */
export const WRITTEN: Omit<Write, 'uuid'> & Partial<Write> = { what: 'PUT', foreign: false, allocated: false }
/** Placement as it should be, but for this. */
export const placed =
  ({
    writes = [WRITTEN],
    providers = (all) => all,
  }: {
    readonly writes?: readonly (typeof WRITTEN)[]
    readonly providers?: (all: Seen['providers']) => Seen['providers']
  }): ((evidence: Evidence) => Partial<Evidence>) =>
  ({ journal }) => {
    const all = providersOf(journal)
    return {
      quiet: true,
      placement: {
        writes: writes.map((one) => ({ uuid: all[0]!.uuid, ...one })),
        providers: providers(all),
        reserveSilent: 'never',
      },
    }
  }
