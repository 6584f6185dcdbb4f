/**
 * The decider of an accelerator request (ARQ): a project's request for one group of a device profile, and its binding.
 */
import type { ArqUuid, EntityKey } from '../../vocabulary/identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import type { ArqCommand, ArqEvent, Relocation } from './messages.ts'
import { rows } from './rows.ts'
import { type Arq, evolve, initial } from './state.ts'
import { type Move, next, statesThatAllow } from './states.ts'

type Moving = Exclude<ArqCommand, { readonly type: 'Relocate' }>
const MOVE_OF: Record<Moving['type'], Move> = {
  Create: 'create',
  Bind: 'bind',
  ReportBound: 'bound',
  ReportBindFailed: 'bindFailed',
  Unbind: 'unbind',
  ReportReleaseFailed: 'releaseFailed',
  ReportReleased: 'released',
  Remove: 'remove',
}

/** The state stays: the request has the same part of the same card. */
const relocate = ({ bond }: Arq, { handle, info }: Relocation): Decision<ArqEvent> =>
  bond?.handle.uuid === handle ? accept({ type: 'HandleRelocated', handle, info }) : accept()

const decide = (arq: Arq, command: ArqCommand): Decision<ArqEvent> => {
  if (command.type === 'Relocate') return relocate(arq, command)
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
      return arq.status === 'Unbound'
        ? accept()
        : accept({ type: 'Unbound', was: arq.bond, ...(command.forced ? { forced: command.forced } : {}) })
    case 'ReportReleaseFailed':
      return arq.gaveUp?.handle === command.handle
        ? accept({ type: 'ReleaseFailed', reason: command.reason })
        : accept()
    case 'ReportReleased':
      return arq.gaveUp?.handle === command.handle ? accept({ type: 'Released' }) : accept()
    case 'Remove':
      return accept({ type: 'ArqRemoved', was: arq.bond, ...(command.orphan ? { orphan: true } : {}) })
  }
}

export type { Arq } from './state.ts'
export const arq: Decider<Arq, ArqCommand, ArqEvent, 'arq'> = { kind: 'arq', initial, decide, evolve, rows }
export const arqKey = (uuid: ArqUuid): EntityKey<'arq'> => `arq/${uuid}`
