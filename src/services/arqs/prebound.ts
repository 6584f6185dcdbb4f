/**
 * Makes the history of an ARQ from its creation to Bound without actors, to fill a stopped store in bulk. The deciders
 * are those of a running system, so journal and views are what the actors would have written.
 */
import type { ArqUuid, EntityKey, ProjectId } from '../../vocabulary/identifiers.ts'
import { DAY_MS, type Ids } from '../../vocabulary/clock.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import type { Group } from '../../actors/arq/messages.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type Draft, openDraft, toAppend } from '../../actors/runtime/draft.ts'
import { deciderOf } from '../../actors/entities.ts'
import { type Loan, type Memory, blank, memoryOf } from '../../actors/runtime/memory.ts'
import type { Append } from '../../actors/runtime/ports.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'

type Terms = { readonly deadline: number; readonly requestId: string }
const HALF_A_YEAR_MS = 180 * DAY_MS
const cause = { by: 'seed' }
export type PreboundTarget = { readonly memory: Memory; readonly row: Row<'deployables'> }
/** The project that creates the ARQ, and the device profile and group that it asks for. */
type PreboundRequest = { readonly profile: Row<'profiles'>; readonly group: Group; readonly projectId: ProjectId }
type Born = { readonly uuid: ArqUuid; readonly at: number }

const create = (ids: Ids, { uuid, at }: Born, { profile, group, projectId }: PreboundRequest) => {
  const key = arqKey(uuid)
  const loan: Loan = new Map([[key, blank(key, arq)]])
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  const of = { profileUuid: profile.uuid, profileName: profile.name, groupId: 0, group }
  draft.decide(arq, key, { type: 'Create', uuid, projectId, ...of })
  return toAppend(loan, drafted, { commandId: ids.uuid(), at, cause })
}

/** Grants the handle and, if the host has work to do, records the preparation as if the host had answered at once. */
const grant = (draft: Draft, target: EntityKey<'deployable'>, arqUuid: ArqUuid, terms: Terms) => {
  const [granted] = draft.decide(deployable, target, { type: 'Grant', arq: arqUuid, bitstream: null, ...terms })
  if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')
  const { order } = granted
  const answer = { failed: null, final: true, retryBy: draft.at }
  if (order) draft.decide(deployable, target, { type: 'Answer', slot: order.slot, number: order.number, ...answer })
  const { uuid, type, info } = draft.state(deployable, target).handles[granted.handle]!
  return { handle: { uuid, type, info }, order: order?.number ?? null }
}

const bind = (ids: Ids, { uuid, at }: Born, { row, memory }: PreboundTarget, created: Memory) => {
  const instanceUuid = ids.uuid()
  const [key, target, life] = [arqKey(uuid), deployableKey(row.uuid), instanceKey(instanceUuid)]
  const loan: Loan = new Map<EntityKey, Memory>([
    [key, created],
    [target, memory],
    [life, blank(life, instance)],
  ])
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  const terms: Terms = { deadline: at + HALF_A_YEAR_MS, requestId: 'seed' }
  const { handle, order } = grant(draft, target, uuid, terms)
  const place = {
    hostname: row.hostname,
    deviceRpUuid: row.rp_uuid!,
    instanceUuid,
    deployable: row.uuid,
    host: row.hostname,
  }
  draft.decide(arq, key, { type: 'Bind', bond: { ...place, handle, order }, projectId: null })
  const parts = [{ arq: uuid, deployable: row.uuid, prepared: true }]
  draft.decide(instance, life, {
    type: 'Bind',
    instance: instanceUuid,
    at,
    parts,
    hostname: row.hostname,
    tellUntil: null,
    ...terms,
  })
  draft.decide(arq, key, { type: 'ReportBound', workMs: order === null ? null : 0 })
  const { append, after } = toAppend(loan, drafted, { commandId: ids.uuid(), at, cause })
  return { append, memory: after.get(target)! }
}

/** Binds one ARQ to the next free handle of the deployable, in two appends as at run time. */
export const boundOn = (
  ids: Ids,
  at: number,
  place: PreboundTarget,
  asked: PreboundRequest,
): { readonly appends: readonly Append[]; readonly memory: Memory } => {
  const born = { uuid: ids.ordered(), at }
  const created = create(ids, born, asked)
  const { append, memory } = bind(ids, born, place, created.after.get(arqKey(born.uuid))!)
  return { appends: [created.append, append], memory }
}

export const freeHandles = ({ memory }: PreboundTarget): number =>
  Object.values(memoryOf(deployable, memory)?.state.handles ?? {}).filter(({ state }) => state === 'free').length
