/**
 * What becomes of the accelerator requests of upstream (data-model 13). Pure.
 *
 * REQUEST-1 a request that is bound stays bound, with the same attach handle; of several on one handle, the first that
 *    was bound;
 * REQUEST-2 one that is not bound and not free of its instance has failed, and stays with its instance so that Nova's
 *    DELETE for that instance reaches it; beside a request of the same instance that is bound it is unbound, because an
 *    instance has one bind;
 * REQUEST-3 nothing that a request may have used is free: an attach handle that is in use and that nobody has is
 *    withheld;
 * REQUEST-4 a free attach handle with hardware of one that is held or withheld is withheld, whatever deployable it is
 *    of;
 * REQUEST-5 a bound request is taken over also where its profile is not: it keeps an empty group. What a request names
 *    that is bound, or in a state that is not known, and is left out all the same, is withheld, whether the table marks
 *    it as in use or not.
 */
import { functionOf, openClaims } from '../../vocabulary/attachedFunctions.ts'
import type {
  ArqUuid,
  DeployableUuid,
  HandleUuid,
  InstanceUuid,
  ResourceProviderUuid,
} from '../../vocabulary/identifiers.ts'
import type { Bond } from '../arq/messages.ts'
import { type Kept, type KeptHandle, keptHandlesIn } from './kept.ts'
import type { Notes, Rule } from './notes.ts'
import { uuidIn } from './readable.ts'
import type { ArqRow, HandleRow } from './rows.ts'

export type Fate =
  | { readonly is: 'initial' | 'unbound' }
  | { readonly is: 'bound'; readonly bond: Bond }
  | { readonly is: 'failed'; readonly bond: Bond; readonly reason: string }
export type Judged = { readonly row: ArqRow; readonly uuid: ArqUuid; readonly fate: Fate }
/**
 * A handle that nobody gets before an operator releases it. `inDoubt`: a request has it and another one may use it too,
 * or a mediated device of it may be left, which its host removes when the handle is released.
 */
export type Withheld = {
  readonly deployable: DeployableUuid
  readonly handle: HandleUuid
  readonly reason: string
  readonly inDoubt: boolean
}
export type Requests = { readonly arqs: readonly Judged[]; readonly withheld: readonly Withheld[] }

const TABLE = 'extended_accelerator_requests'
type Judging = {
  readonly kept: Kept
  readonly notes: Notes
  readonly first: ReadonlyMap<number | string, KeptHandle>
  /** Who has an attach handle, or its hardware, by the handle's UUID and by host and function. */
  readonly holders: Map<string, ArqRow>
  readonly withheld: Map<HandleUuid, Withheld>
}

const withhold = ({ withheld }: Judging, { deployable, handle }: KeptHandle, reason: string, inDoubt = false): void => {
  const { uuid, type } = handle.known
  const left = inDoubt || type === 'MDEV'
  if (!withheld.has(uuid)) withheld.set(uuid, { deployable: deployable.uuid, handle: uuid, reason, inDoubt: left })
}
const bondOn = (
  { device, deployable, handle }: KeptHandle,
  row: ArqRow,
  instanceUuid: InstanceUuid,
  root: ResourceProviderUuid,
): Bond => ({
  hostname: row.hostname || device.host,
  deviceRpUuid: root,
  instanceUuid,
  deployable: deployable.uuid,
  host: device.host,
  handle: { uuid: handle.known.uuid, type: handle.known.type, info: handle.known.info },
  order: null,
})

/** The first attach handle of each deployable, by its id upstream and by its provider. */
const firstPlaces = ({ devices }: Kept): ReadonlyMap<number | string, KeptHandle> => {
  const first = new Map<number | string, KeptHandle>()
  for (const { device, deployable } of devices.flatMap((one) =>
    one.deployables.map((deployable) => ({ device: one, deployable })),
  )) {
    const handle = deployable.handles[0]
    if (!handle) continue
    for (const key of [deployable.row.id, deployable.rpUuid])
      if (!first.has(key)) first.set(key, { device, deployable, handle })
  }
  return first
}
/** An attach handle of the deployable that the request asked for: what it failed to get. */
const askedOf = ({ first }: Judging, { deployableId, rpUuid }: ArqRow): KeptHandle | null =>
  first.get(deployableId ?? uuidIn(rpUuid) ?? '') ?? null

type Providers = ReadonlyMap<DeployableUuid, ResourceProviderUuid>
const failed = (judging: Judging, providers: Providers, row: ArqRow, rule: Rule | null, reason: string): Fate => {
  const { kept, notes } = judging
  const own = row.handleId === null ? null : kept.keptHandleOf(row.handleId)
  const keptHandle = own ?? askedOf(judging, row)
  const instance = uuidIn(row.instanceUuid)
  if (rule !== null) notes.repaired(TABLE, row, rule, `BindFailed: ${reason}`)
  if (keptHandle && instance !== null)
    return { is: 'failed', reason, bond: bondOn(keptHandle, row, instance, providers.get(keptHandle.deployable.uuid)!) }
  notes.repaired(
    TABLE,
    row,
    'ended bind',
    `Unbound: ${instance === null ? 'it names no instance' : 'what it asked for is not there'}`,
  )
  return { is: 'unbound' }
}

const hardwareOf = ({ device, handle }: KeptHandle): string => `${device.host} ${functionOf(handle.known)}`

const bound = (judging: Judging, providers: Providers, row: ArqRow): Fate => {
  const { kept, notes, holders } = judging
  const keptHandle = row.handleId === null ? null : kept.keptHandleOf(row.handleId)
  const instance = uuidIn(row.instanceUuid)
  if (!keptHandle)
    return failed(
      judging,
      providers,
      row,
      'handle lost',
      `attach handle ${row.handleId ?? ''} does not exist or cannot be read`,
    )
  const [uuid, hardware] = [keptHandle.handle.known.uuid, hardwareOf(keptHandle)]
  const other = holders.get(uuid) ?? holders.get(hardware)
  if (other) {
    const reason = `attach handle ${uuid} belongs to ${other.uuid}, which was bound to it before`
    const mine = kept.keptHandleOf(other.handleId!)!
    withhold(judging, mine, `upstream bound it to ${other.uuid} and to ${row.uuid}: both guests may use it`, true)
    if (mine.handle.known.uuid !== uuid)
      withhold(
        judging,
        keptHandle,
        `${other.uuid} is bound to the same function by attach handle ${mine.handle.known.uuid}`,
      )
    return failed(judging, providers, row, 'two holders', reason)
  }
  if (instance === null) {
    notes.repaired(TABLE, row, 'no instance', 'Unbound: it is Bound and names no instance')
    withhold(judging, keptHandle, `${row.uuid} was bound to it for no known instance`)
    return { is: 'unbound' }
  }
  if (!keptHandle.handle.row.inUse)
    notes.repaired(TABLE, row, 'W7', `it keeps attach handle ${uuid}, which the table says is free`)
  if (keptHandle.handle.row.id !== row.handleId)
    notes.repaired(TABLE, row, 'W17', `it goes over to attach handle ${uuid}, which attaches the same`)
  holders.set(uuid, row)
  holders.set(hardware, row)
  return { is: 'bound', bond: bondOn(keptHandle, row, instance, providers.get(keptHandle.deployable.uuid)!) }
}

const FAILED: Readonly<Record<string, { readonly rule: Rule | null; readonly reason: string }>> = {
  BindStarted: { rule: 'W1', reason: 'upstream never finished this bind' },
  BindFailed: { rule: null, reason: 'it failed upstream' },
}
const judge = (judging: Judging, providers: Providers, row: ArqRow): Fate | null => {
  const how = FAILED[row.state]
  if (how) return failed(judging, providers, row, how.rule, how.reason)
  switch (row.state) {
    case 'Initial':
      return { is: 'initial' }
    case 'Unbound':
      return { is: 'unbound' }
    case 'Bound':
      return bound(judging, providers, row)
    case 'Deleting':
      judging.notes.leftOut(TABLE, row, 'deleting', 'it was being deleted')
      return null
    default:
      judging.notes.leftOut(TABLE, row, 'value', `state '${row.state}' is not known`)
      return null
  }
}

/** Null: the request is left out. */
const fateOf = (judging: Judging, providers: Providers, row: ArqRow, hasProfile: boolean): Fate | null => {
  const { notes } = judging
  const lacking = `device profile ${row.profileId} does not exist`
  if (uuidIn(row.uuid) === null) notes.leftOut(TABLE, row, 'value', 'uuid is not a UUID')
  else if (hasProfile) return judge(judging, providers, row)
  else if (row.state !== 'Bound') notes.leftOut(TABLE, row, 'orphan', lacking)
  else {
    notes.repaired(TABLE, row, 'orphan', `${lacking}: it keeps an empty group`)
    return judge(judging, providers, row)
  }
  return null
}

/** An instance has one bind: what failed beside what is bound leaves it. */
const oneBind = (arqs: readonly Judged[], notes: Notes): readonly Judged[] => {
  const withBound = new Set(arqs.flatMap(({ fate }) => (fate.is === 'bound' ? [fate.bond.instanceUuid] : [])))
  return arqs.map((one) => {
    if (one.fate.is !== 'failed' || !withBound.has(one.fate.bond.instanceUuid)) return one
    notes.repaired(TABLE, one.row, 'ended bind', 'Unbound: another request of its instance is bound')
    return { ...one, fate: { is: 'unbound' } }
  })
}

/** Whether a guest may use the handle that the row names, although the row is left out (REQUEST-5). */
const mayUse = ({ state }: ArqRow): boolean =>
  !['Initial', 'Unbound', 'BindStarted', 'BindFailed', 'Deleting'].includes(state)
const forsaken = (judging: Judging, users: readonly ArqRow[]): void => {
  const { kept, notes, holders } = judging
  for (const row of users) {
    const keptHandle = row.handleId === null ? null : kept.keptHandleOf(row.handleId)
    if (!keptHandle) continue
    const reason = `request ${row.uuid} is ${row.state} with it upstream, and is not taken over`
    const isHeld = holders.has(keptHandle.handle.known.uuid) || holders.has(hardwareOf(keptHandle))
    notes.repaired('attach_handles', keptHandle.handle.row, 'forsaken', `quarantined: ${reason}`)
    withhold(judging, keptHandle, reason, isHeld)
  }
}

type Given = {
  readonly arqs: readonly ArqRow[]
  readonly handles: readonly HandleRow[]
  readonly kept: Kept
  /** The provider that each deployable is bound by, by its UUID. */
  readonly providers: Providers
  /** Whether the profile of a request is there. */
  readonly hasProfile: (row: ArqRow) => boolean
}
/** REQUEST-3. */
const leaked = (judging: Judging, { arqs, handles }: Given, users: ReadonlySet<ArqRow>): void => {
  const named = new Map(arqs.flatMap((row) => (row.handleId === null ? [] : [[row.handleId, row] as const])))
  for (const row of handles) {
    const keptHandle = row.inUse ? judging.kept.keptHandleOf(row.id) : null
    const arq = named.get(row.id)
    if (!keptHandle || judging.holders.has(keptHandle.handle.known.uuid) || (arq && users.has(arq))) continue
    const [rule, reason] = arq
      ? (['W9', `upstream gave it to ${arq.uuid}, which is not bound`] as const)
      : (['W3', 'upstream marked it as in use, and no request has it'] as const)
    judging.notes.repaired('attach_handles', row, rule, `quarantined: ${reason}`)
    withhold(judging, keptHandle, `${rule}: ${reason}`)
  }
}

/** REQUEST-4. */
const shared = (judging: Judging): void => {
  const { kept, notes, holders, withheld } = judging
  const isTaken = ({ handle }: KeptHandle) => holders.has(handle.known.uuid) || withheld.has(handle.known.uuid)
  for (const onHost of Map.groupBy(keptHandlesIn(kept.devices), ({ device }) => device.host).values()) {
    const claims = openClaims()
    for (const { handle } of onHost.filter(isTaken)) claims.add(handle.known.uuid, [handle.known])
    for (const keptHandle of onHost) {
      const { row, known } = keptHandle.handle
      const why = isTaken(keptHandle) ? null : claims.against(known.uuid, [known])
      if (why === null) continue
      const reason = `another attach handle that is in use has its hardware: ${why}`
      notes.repaired('attach_handles', row, 'shared', `quarantined: ${reason}`)
      withhold(judging, keptHandle, reason)
    }
  }
}

const since = ({ updatedAt, createdAt }: ArqRow): number => updatedAt ?? createdAt ?? 0

export const judgeRequests = (given: Given, notes: Notes): Requests => {
  const { arqs, kept, providers, hasProfile } = given
  const judging: Judging = { kept, notes, first: firstPlaces(kept), holders: new Map(), withheld: new Map() }
  const fates = new Map<number, Fate>()
  const leftOut: ArqRow[] = []
  for (const row of arqs.toSorted((one, other) => since(one) - since(other) || one.id - other.id)) {
    const fate = fateOf(judging, providers, row, hasProfile(row))
    if (fate) fates.set(row.id, fate)
    else leftOut.push(row)
  }
  const users = leftOut.filter(mayUse)
  forsaken(judging, users)
  leaked(judging, given, new Set(users))
  shared(judging)
  const judged = arqs.flatMap((row): Judged[] => {
    const fate = fates.get(row.id)
    return fate ? [{ row, uuid: uuidIn(row.uuid)!, fate }] : []
  })
  return { arqs: oneBind(judged, notes), withheld: [...judging.withheld.values()] }
}
