/** An accelerator request: who asked for which group of which profile, and what it is bound to. */
import { type Decider, type Decision, accept, refuse } from '../decider.ts'
import type { ArqCommand, ArqEvent, Bond, Group } from './messages.ts'
import { rows } from './rows.ts'
import { type Move, type Status, next, statesThatAllow } from './states.ts'

export type Arq = {
  readonly status: Status
  readonly uuid: string
  readonly projectId: string | null
  readonly profileUuid: string
  readonly profileName: string
  readonly groupId: number
  /** As it was in the profile at creation, whatever happens to the profile (S15). */
  readonly group: Group
  readonly bond: Bond | null
  /** The handle it gave up last, whose release may still fail on the host. */
  readonly gaveUp: { readonly handle: string; readonly deployable: string } | null
  readonly reason: string | null
  readonly createdAt: number
  readonly updatedAt: number | null
}

const initial: Arq = {
  status: 'Absent',
  uuid: '',
  projectId: null,
  profileUuid: '',
  profileName: '',
  groupId: 0,
  group: {},
  bond: null,
  gaveUp: null,
  reason: null,
  createdAt: 0,
  updatedAt: null,
}

const MOVE_OF: Record<ArqCommand['type'], Move> = {
  Create: 'create',
  Bind: 'bind',
  ReportBound: 'bound',
  ReportBindFailed: 'bindFailed',
  Unbind: 'unbind',
  ReportReleaseFailed: 'releaseFailed',
  ReportReleased: 'released',
  Remove: 'remove',
}

const decide = (arq: Arq, command: ArqCommand): Decision<ArqEvent> => {
  if (command.type !== 'Create' && (arq.status === 'Absent' || arq.status === 'Gone'))
    return refuse({ kind: 'not_found', resource: 'accelerator request', id: arq.uuid })
  const move = MOVE_OF[command.type]
  if (!next(arq.status, move))
    return refuse({
      kind: 'bad_state',
      resource: 'accelerator request',
      id: arq.uuid,
      state: arq.status,
      allowed: statesThatAllow(move),
    })
  switch (command.type) {
    case 'Create':
      return accept({ ...command, type: 'ArqCreated' })
    case 'Bind':
      return accept({ type: 'BindStarted', bond: command.bond, projectId: command.projectId })
    case 'ReportBound':
      return accept({ type: 'Bound', workMs: command.workMs })
    case 'ReportBindFailed':
      return accept({ type: 'BindFailed', reason: command.reason })
    case 'Unbind':
      return arq.status === 'Unbound' ? accept() : accept({ type: 'Unbound', was: arq.bond })
    case 'ReportReleaseFailed':
      return arq.gaveUp?.handle === command.handle
        ? accept({ type: 'ReleaseFailed', reason: command.reason })
        : accept()
    case 'ReportReleased':
      return arq.gaveUp?.handle === command.handle ? accept({ type: 'Released' }) : accept()
    case 'Remove':
      return accept({ type: 'ArqRemoved', was: arq.bond })
  }
}

const givenUp = (bond: Bond | null): Arq['gaveUp'] =>
  bond ? { handle: bond.handle.uuid, deployable: bond.deployable } : null
const unbound = (arq: Arq, was: Bond | null): Partial<Arq> => ({
  status: 'Unbound',
  bond: null,
  gaveUp: givenUp(was) ?? arq.gaveUp,
  reason: null,
})

const change = (arq: Arq, event: ArqEvent): Partial<Arq> => {
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
    case 'ArqRemoved':
      return { status: 'Gone', bond: null }
  }
}

const evolve = (arq: Arq, event: ArqEvent, at: number): Arq => {
  const { type: _type, ...changed } = { type: event.type, ...change(arq, event) }
  return { ...arq, ...changed, ...(event.type === 'ArqCreated' ? { createdAt: at } : { updatedAt: at }) }
}

export const arq: Decider<Arq, ArqCommand, ArqEvent> = { kind: 'arq', initial, decide, evolve, rows }
export const arqKey = (uuid: string): string => `arq/${uuid}`
