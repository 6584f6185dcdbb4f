/** What Placement should show of a journal, and how that is spoilt. */
import type { Evidence } from '../../src/audit/evidence.ts'
import { remember } from '../../src/actors/entities.ts'
import { wantedOf } from '../../src/actors/placement/wanted.ts'

/** The states at the end of the journal of all entities of a kind. */
export const statesOf = (journal: Evidence['journal'], kind: string): readonly unknown[] =>
  [...Map.groupBy(journal, ({ key }) => key)].flatMap(([key, rows]) =>
    key.startsWith(`${kind}/`) ? [remember(key, rows).state] : [],
  )
type Host = Parameters<typeof wantedOf>[0]
type Deployable = Parameters<typeof wantedOf>[1][number]
type Arq = { readonly bond: { readonly deployable: string; readonly instanceUuid: string } | null }

/** As Placement should show the cloud of this journal. */
const providersOf = (journal: Evidence['journal']): Seen['providers'] => {
  const deployables = statesOf(journal, 'deployable') as readonly Deployable[]
  const arqs = statesOf(journal, 'arq') as readonly Arq[]
  const hosts = statesOf(journal, 'host') as readonly Host[]
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
