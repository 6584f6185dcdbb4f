/** Whom a change would concern, said before it is made. */
import type { ArqUuid, DeployableUuid, DeviceUuid, HostName, InstanceUuid, ProjectId } from '../../identifiers.ts'
import type { Row } from '../runtime/views.ts'

/** `kept`: the requests stay as they are, and nothing new is bound. `unbound`: they are unbound by force. */
export const IMPACT_EFFECTS = ['kept', 'unbound'] as const
/** What an operator may do to a host. */
export type HostChange = 'retire' | 'remove' | 'remove by force'
export type Concerned = {
  readonly arq: ArqUuid
  readonly state: Row<'arqs'>['state']
  readonly instance: InstanceUuid | null
  readonly project: ProjectId | null
  readonly host: HostName | null
  readonly deployable: DeployableUuid | null
}
export type Impact = {
  /** Why the change would be refused; null: it would be made. */
  readonly refusal: string | null
  readonly effect: (typeof IMPACT_EFFECTS)[number]
  readonly devices: readonly DeviceUuid[]
  /** All of them, each once. */
  readonly instances: readonly InstanceUuid[]
  readonly projects: readonly ProjectId[]
  /** At most `CONCERNED_SHOWN`, in the order of their UUIDs. */
  readonly arqs: readonly Concerned[]
  readonly arqsLeftOut: number
}
export const CONCERNED_SHOWN = 1000

const eachOnce = <Value extends string>(values: readonly (Value | null)[]): readonly Value[] =>
  [...new Set(values)].flatMap((value) => (value === null ? [] : [value])).toSorted()

/** Pure. `rows`: of the requests that are concerned. */
export const impactOf = (
  rows: readonly Row<'arqs'>[],
  about: Pick<Impact, 'refusal' | 'effect' | 'devices'>,
): Impact => {
  const arqs = rows
    .map((row): Concerned => ({
      arq: row.uuid,
      state: row.state,
      instance: row.instance_uuid,
      project: row.project_id,
      host: row.hostname,
      deployable: row.deployable_uuid,
    }))
    .toSorted((one, other) => (one.arq < other.arq ? -1 : 1))
  return {
    ...about,
    instances: eachOnce(arqs.map(({ instance }) => instance)),
    projects: eachOnce(arqs.map(({ project }) => project)),
    arqs: arqs.slice(0, CONCERNED_SHOWN),
    arqsLeftOut: Math.max(0, arqs.length - CONCERNED_SHOWN),
  }
}
