/** The state of an accelerator request, and how each event changes it. */
import type { ArqUuid, DeployableUuid, HandleUuid, ProfileUuid, ProjectId } from '../../vocabulary/identifiers.ts'
import type { ArqEvent, Bond, Group } from './messages.ts'
import type { Status } from './states.ts'

export type Arq = {
  readonly status: Status
  readonly uuid: ArqUuid
  readonly projectId: ProjectId | null
  readonly profileUuid: ProfileUuid
  readonly profileName: string
  readonly profileVersion: number | null
  readonly groupId: number
  /** The group as it was in the profile at creation; later changes of the profile have no effect on it (S15). */
  readonly group: Group
  readonly bond: Bond | null
  /** The handle that the ARQ gave up last; the host may still fail to release it. */
  readonly gaveUp: { readonly handle: HandleUuid; readonly deployable: DeployableUuid } | null
  readonly reason: string | null
  readonly createdAt: number
  readonly updatedAt: number | null
}

export const initial: Arq = {
  status: 'Absent',
  uuid: '',
  projectId: null,
  profileUuid: '',
  profileName: '',
  profileVersion: null,
  groupId: 0,
  group: {},
  bond: null,
  gaveUp: null,
  reason: null,
  createdAt: 0,
  updatedAt: null,
}

const givenUp = (bond: Bond | null): Arq['gaveUp'] =>
  bond ? { handle: bond.handle.uuid, deployable: bond.deployable } : null
const unbound = (arq: Arq, was: Bond | null): Partial<Arq> => ({
  status: 'Unbound',
  bond: null,
  gaveUp: givenUp(was) ?? arq.gaveUp,
  reason: null,
})

const change = (arq: Arq, event: ArqEvent): Partial<Arq> | null => {
  switch (event.type) {
    case 'ArqCreated':
      return { ...event, status: 'Initial' }
    case 'BindStarted':
      return {
        status: 'BindStarted',
        bond: event.bond,
        gaveUp: null,
        reason: null,
        projectId: event.projectId ?? arq.projectId,
      }
    case 'Bound':
      return { status: 'Bound' }
    case 'BindFailed':
      return { status: 'BindFailed', reason: event.reason, gaveUp: givenUp(arq.bond) }
    case 'Unbound':
      return unbound(arq, event.was)
    case 'ReleaseFailed':
      return { status: 'UnbindFailed', reason: event.reason }
    case 'Released':
      return { status: 'Unbound', reason: null }
    case 'HandleRelocated':
      return arq.bond && { bond: { ...arq.bond, handle: { ...arq.bond.handle, info: event.info } } }
    case 'ArqRemoved':
      return { status: 'Gone', bond: null }
    default:
      // An event of a later release, which this release ignores.
      return null
  }
}

export const evolve = (arq: Arq, event: ArqEvent, at: number): Arq => {
  const known = change(arq, event)
  if (!known) return arq
  const { type: _type, ...changed } = { type: event.type, ...known }
  // the last change of a bound request is its binding, from which its use is counted
  if (event.type === 'HandleRelocated') return { ...arq, ...changed }
  return { ...arq, ...changed, ...(event.type === 'ArqCreated' ? { createdAt: at } : { updatedAt: at }) }
}
