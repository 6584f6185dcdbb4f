/** The API's answer about whom a change would affect, given before the change is made. */
import type {
  ArqUuid,
  DeployableUuid,
  DeviceUuid,
  HostName,
  InstanceUuid,
  ProjectId,
} from '../../vocabulary/identifiers.ts'
import type { Row } from '../runtime/views.ts'

/** `kept`: the affected ARQs stay as they are, but nothing new is bound. `unbound`: they are unbound by force. */
export const IMPACT_EFFECTS = ['kept', 'unbound'] as const
/** The changes that an operator may make to a host. */
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
  /** The reason why the change would be refused; null: it would be made. */
  readonly refusal: string | null
  readonly effect: (typeof IMPACT_EFFECTS)[number]
  readonly devices: readonly DeviceUuid[]
  /** All affected instances, each once. */
  readonly instances: readonly InstanceUuid[]
  readonly projects: readonly ProjectId[]
  /** At most `CONCERNED_SHOWN`, ordered by UUID. */
  readonly arqs: readonly Concerned[]
  readonly arqsLeftOut: number
}
export const CONCERNED_SHOWN = 1000

const eachOnce = <Value extends string>(values: readonly (Value | null)[]): readonly Value[] =>
  [...new Set(values)].flatMap((value) => (value === null ? [] : [value])).toSorted()

/** Pure. `rows`: the view rows of the affected ARQs. */
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
