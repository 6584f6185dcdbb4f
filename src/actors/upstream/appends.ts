/**
 * The appends that record what an import takes over. The deciders are those of a running system, so journal and views
 * are what the actors would have written. All appends must be loaded in one transaction, since a part of an inventory
 * is inconsistent.
 */
import type { Ids } from '../../vocabulary/clock.ts'
import type { EntityKey, HostName, InstanceUuid } from '../../vocabulary/identifiers.ts'
import { arq, arqKey } from '../arq/decider.ts'
import { requestedCleaning } from '../arq/groups.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Description } from '../deployable/messages.ts'
import { device, deviceKey } from '../device/decider.ts'
import { deciderOf } from '../entities.ts'
import { type HeldDevice, host, hostKey } from '../host/decider.ts'
import { instance, instanceKey } from '../instance/decider.ts'
import { NUMBERS_KEY, numbers } from '../inventory/numbers.ts'
import { marksFor } from '../placement/marks.ts'
import { profile, profileKey, profileName, profileNameKey } from '../profile/decider.ts'
import { type Draft, openDraft, toAppend } from '../runtime/draft.ts'
import { type Memory, blank } from '../runtime/memory.ts'
import type { Append } from '../runtime/ports.ts'
import type { PlannedDeployable, PlannedDevice } from './inventoryPlan.ts'
import type { Plan, PlannedArq } from './plan.ts'

export const IMPORT = 'import'
const NO_ANSWER_MS = 0

type Writing = {
  /**
   * One append: what the plan decides about these entities. `at`: the time of the change upstream, at most the present.
   */
  readonly append: (keys: readonly EntityKey[], at: number | null, decide: (draft: Draft) => void) => Append
  readonly ids: Ids
  readonly now: number
}

/** Keeps what was decided about each entity, so that the next append follows it. */
const openWriting = (ids: Ids, now: number): Writing => {
  const memories = new Map<EntityKey, Memory>()
  const append: Writing['append'] = (keys, at, decide) => {
    const loan = new Map(keys.map((key) => [key, memories.get(key) ?? blank(key, deciderOf(key))]))
    const moment = Math.min(at ?? now, now)
    const { draft, drafted } = openDraft(loan, deciderOf, moment)
    decide(draft)
    const how = { commandId: ids.uuid(), at: moment, cause: { by: IMPORT }, marks: marksFor }
    const { append: made, after } = toAppend(loan, drafted, how)
    for (const [key, memory] of after) memories.set(key, memory)
    return made
  }
  return { append, ids, now }
}

const descriptionOf = (device_: PlannedDevice, one: PlannedDeployable, hostWork: boolean): Description => ({
  driver: device_.facts.driver,
  numAccelerators: one.numAccelerators,
  driverName: one.driverName,
  hostWork,
  programmable: false,
  attributes: one.attributes,
  handles: one.handles,
})

const recordDevice = ({ append }: Writing, one: PlannedDevice): Append => {
  const key = deviceKey(one.identity.uuid)
  const keys = [key, ...one.deployables.map(({ identity }) => deployableKey(identity.uuid))]
  return append(keys, one.createdAt, (draft) => {
    draft.decide(device, key, { type: 'Record', identity: one.identity, facts: one.facts })
    if (one.canonical === null) draft.decide(device, key, { type: 'SetPresence', presence: 'retired' })
    for (const part of one.deployables) {
      const { identity, bitstreamId } = part
      const target = deployableKey(identity.uuid)
      const description = descriptionOf(one, part, false)
      draft.decide(deployable, target, { type: 'Record', identity, description, status: 'enabled', bitstreamId })
      for (const attribute of part.operators) draft.decide(deployable, target, { type: 'AddAttribute', attribute })
    }
  })
}

const heldOf = ({ identity, facts, deployables }: PlannedDevice): HeldDevice => ({
  uuid: identity.uuid,
  id: identity.id,
  driver: facts.driver,
  // no report has an empty digest, so the host's first report describes the device again
  digest: '',
  missing: 0,
  deployables: Object.fromEntries(deployables.map((one) => [one.identity.name, one.identity.uuid])),
})

/** A host that has not reported yet: down, with the devices that its first report has to recognise. */
const recordHost = ({ append, ids, now }: Writing, name: HostName, devices: readonly PlannedDevice[]): Append => {
  const key = hostKey(name)
  const picture = { bootId: ids.uuid(), number: 0, digest: '', aliases: [], drivers: {} }
  const held = Object.fromEntries(devices.map((one) => [one.canonical!, heldOf(one)]))
  return append([key], now, (draft) => {
    draft.decide(host, key, { type: 'RecordInventory', name, picture, devices: held })
    draft.decide(host, key, { type: 'SetLiveness', liveness: 'down', by: IMPORT })
  })
}

const recordArq = ({ append }: Writing, { fate, createdAt, ...one }: PlannedArq): Append => {
  const { uuid, projectId, profileUuid, profileName, groupId, group } = one
  const key = arqKey(uuid)
  return append([key], createdAt, (draft) => {
    draft.decide(arq, key, { type: 'Create', uuid, projectId, profileUuid, profileName, groupId, group })
    if (fate.is === 'unbound') draft.decide(arq, key, { type: 'Unbind' })
  })
}

type Tied = PlannedArq & { readonly fate: Extract<PlannedArq['fate'], { readonly is: 'bound' | 'failed' }> }
const isTied = (one: PlannedArq): one is Tied => one.fate.is === 'bound' || one.fate.is === 'failed'

/** The bind of an instance, as it ended upstream; Nova is not told of it again. */
const recordBind = ({ append, ids, now }: Writing, uuid: InstanceUuid, arqs: readonly Tied[]): Append => {
  const key = instanceKey(uuid)
  const isBound = arqs[0]!.fate.is === 'bound'
  const targets = new Set(arqs.map(({ fate }) => deployableKey(fate.bond.deployable)))
  const at = Math.max(...arqs.map((one) => one.updatedAt ?? one.createdAt ?? now))
  return append([key, ...targets, ...arqs.map((one) => arqKey(one.uuid))], at, (draft) => {
    const terms = { deadline: draft.at + NO_ANSWER_MS, requestId: `req-${ids.uuid()}` }
    for (const { uuid: mine, fate, group } of arqs) {
      const { bond } = fate
      if (isBound)
        draft.decide(deployable, deployableKey(bond.deployable), {
          type: 'Grant',
          arq: mine,
          handle: bond.handle.uuid,
          bitstream: null,
          ...requestedCleaning(group),
          ...terms,
        })
      draft.decide(arq, arqKey(mine), { type: 'Bind', bond, projectId: null })
    }
    const parts = arqs.map((one) => ({ arq: one.uuid, deployable: one.fate.bond.deployable, prepared: isBound }))
    const { hostname } = arqs[0]!.fate.bond
    draft.decide(instance, key, {
      type: 'Bind',
      instance: uuid,
      at: draft.at,
      parts,
      hostname,
      tellUntil: null,
      ...terms,
    })
    const reason = 'the bind failed upstream'
    if (!isBound) draft.decide(instance, key, { type: 'Fail', reason, at: draft.at })
    for (const { uuid: mine, fate } of arqs)
      draft.decide(
        arq,
        arqKey(mine),
        fate.is === 'failed'
          ? { type: 'ReportBindFailed', reason: fate.reason }
          : { type: 'ReportBound', workMs: null },
      )
  })
}

/**
 * Recorded last: a device in maintenance grants nothing, and a device that needs work on its host grants only with an
 * order.
 */
const withholdDevice = ({ append, now }: Writing, one: PlannedDevice, withheld: Plan['withheld']): Append => {
  const key = deviceKey(one.identity.uuid)
  const keys = [key, ...one.deployables.map(({ identity }) => deployableKey(identity.uuid))]
  return append(keys, now, (draft) => {
    const decide = (part: PlannedDeployable) => {
      const target = deployableKey(part.identity.uuid)
      for (const { deployable: of, handle, reason, inDoubt } of withheld) {
        if (of !== part.identity.uuid) continue
        const note = { by: IMPORT, reason }
        if (inDoubt) draft.decide(deployable, target, { type: 'RowsLost', events: [], handles: [handle], ...note })
        else draft.decide(deployable, target, { type: 'Quarantine', handle, ...note })
      }
      if (one.hostWork)
        draft.decide(deployable, target, { type: 'Describe', description: descriptionOf(one, part, true) })
      draft.decide(deployable, target, { type: 'SetStatus', status: one.status })
    }
    draft.decide(device, key, { type: 'SetStatus', status: one.status })
    one.deployables.forEach(decide)
  })
}

/** As many as upstream gave: the next one follows the highest. */
const lastNumber = ({ devices }: Plan): number =>
  devices
    .flatMap(({ identity, deployables }) => [identity.id, ...deployables.map((one) => one.identity.id)])
    .reduce((highest, id) => Math.max(highest, id), 0)

function* records(plan: Plan, writing: Writing): Generator<Append> {
  const { append, now } = writing
  const count = lastNumber(plan)
  yield append([NUMBERS_KEY], now, (draft) => draft.decide(numbers, NUMBERS_KEY, { type: 'Take', count }))
  for (const { facts, createdAt } of plan.profiles) {
    const [key, name] = [profileKey(facts.uuid), profileNameKey(facts.name)]
    yield append([key, name], createdAt, (draft) => {
      draft.decide(profileName, name, { type: 'Take', name: facts.name, holder: facts.uuid })
      draft.decide(profile, key, { type: 'Create', profile: facts })
    })
  }
  for (const one of plan.devices) yield recordDevice(writing, one)
  const present = plan.devices.filter(({ canonical }) => canonical !== null)
  for (const [name, devices] of Map.groupBy(present, ({ identity }) => identity.host))
    yield recordHost(writing, name, devices)
  for (const one of plan.arqs) yield recordArq(writing, one)
  for (const [uuid, arqs] of Map.groupBy(plan.arqs.filter(isTied), ({ fate }) => fate.bond.instanceUuid))
    yield recordBind(writing, uuid, arqs)
  const withheld = Map.groupBy(plan.withheld, ({ deployable: of }) => of)
  for (const one of present)
    yield withholdDevice(
      writing,
      one,
      one.deployables.flatMap(({ identity }) => withheld.get(identity.uuid) ?? []),
    )
}

/** In the order in which they have to be written. A plan can be recorded once. */
export function* recordsOf(plan: Plan, ids: Ids, now: number): Generator<Append> {
  for (const one of records(plan, openWriting(ids, now))) if (one.rows.length > 0) yield one
}
