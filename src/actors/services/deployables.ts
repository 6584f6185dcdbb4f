/** The deployables and attributes part of the control port. */
import type { AttributeUuid, DeployableUuid, HostName, ImageUuid } from '../../identifiers.ts'
import { type Fault, type Outcome, allOf, done, refuse } from '../../fault.ts'
import type { AttributeRow, Caller, Control, DeployableRow } from '../control.ts'
import { given } from './devices.ts'
import { host, hostKey } from '../host/decider.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import { misfitOf } from '../../imageFits.ts'
import { type NoImage, imageTrouble, isFinal, noImage } from '../../images.ts'
import { traceField } from '../../trace.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { DeployableCommand } from '../deployable/messages.ts'
import { attributeRow, deployableRow } from '../deployable/rows.ts'
import { type Deployable, hardwareOf } from '../deployable/state.ts'
import { placement, placementKey } from '../placement/decider.ts'
import { standingOf } from '../placement/standing.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'deployable', id })
/** This process does not notice a result that another control records, so the deployable is read again after this long. */
const LOOK_AFTER_MS = { first: 100, last: 1000 }
type Programming = { readonly deployable: DeployableRow; readonly finished: boolean }

const createRead =
  ({ region }: Kernel) =>
  async (uuid: DeployableUuid): Promise<Outcome<Deployable>> => {
    const known = await region.readCurrent(deployable, deployableKey(uuid))
    if (!known.ok) return known
    const held = known.value.state
    return held.exists && held.presence !== 'retired' ? { ok: true, value: held } : missing(uuid)
  }

const createTell =
  (kernel: Kernel) =>
  async (caller: Caller, uuid: DeployableUuid, command: DeployableCommand): Promise<Outcome<Deployable | null>> => {
    const key = deployableKey(uuid)
    return kernel.region.tell(
      key,
      newWork(kernel, causeOf(caller), (draft) => {
        draft.decide(deployable, key, command)
        return draft.state(deployable, key)
      }),
    )
  }

const imageFault = (image: ImageUuid, problem: NoImage): Fault => {
  if (problem.why === 'unknown') return { kind: 'not_found', resource: 'image', id: image }
  const reason = imageTrouble(image, problem)
  return isFinal(problem)
    ? { kind: 'conflict', reason: `nothing can be programmed: ${reason}` }
    : { kind: 'unavailable', reason, retryAfterSeconds: 5 }
}

/** The fault when the host is silent, so that no caller waits for it (rest-api 6.4); null: it is up. */
const unreachable = async ({ region }: Kernel, name: HostName): Promise<Fault | null> => {
  const known = await region.readCurrent(host, hostKey(name))
  if (!known.ok) return known.fault
  const { liveness } = known.value.state
  return liveness === 'up'
    ? null
    : { kind: 'unavailable', reason: `host ${name} is ${liveness}`, retryAfterSeconds: 30 }
}

/** The order is recorded before anything happens, and its result whenever it comes; the caller waits only for `programWaitMs`. */
const createProgram = (kernel: Kernel): Control['deployables']['program'] => {
  const { clock, changes, images, options } = kernel
  const read = createRead(kernel)
  const tell = createTell(kernel)
  const ended = async (uuid: DeployableUuid, number: number): Promise<Outcome<Programming>> => {
    const until = clock.monotonic() + options.programWaitMs
    for (let waitMs = LOOK_AFTER_MS.first; ; waitMs = Math.min(LOOK_AFTER_MS.last, waitMs * 2)) {
      const changed = changes.next(deployableKey(uuid), Math.min(waitMs, Math.max(0, until - clock.monotonic())))
      const now = await read(uuid)
      if (!now.ok) return now
      const running = now.value.program?.order.number === number
      if (!running && now.value.programFault !== null)
        return refuse({ kind: 'device_failure', reason: now.value.programFault })
      if (!running || clock.monotonic() >= until)
        return { ok: true, value: { deployable: deployableRow(now.value), finished: !running } }
      await changed
    }
  }
  return async (caller, uuid, image) => {
    const known = await read(uuid)
    if (!known.ok) return known
    const found = await images.find(image)
    if (!found.found) return refuse(imageFault(image, found))
    const misfit = misfitOf(found.image, hardwareOf(known.value), 'program')
    if (misfit !== null) return refuse(imageFault(image, noImage('unsuitable', misfit)))
    const silent = await unreachable(kernel, known.value.host)
    if (silent) return refuse(silent)
    const deadline = clock.now() + options.programDeadlineMs
    const started = await tell(caller, uuid, {
      type: 'Program',
      image,
      deadline,
      requestId: caller.requestId,
      ...traceField(caller.trace),
    })
    if (!started.ok) return started
    return ended(uuid, started.value?.program?.order.number ?? 0)
  }
}

const createInPlacement =
  ({ region, placement: port }: Kernel): Control['deployables']['inPlacement'] =>
  async (rows) => {
    if (port === null) return done(rows.map(() => null))
    const names = [...new Set(rows.map(({ hostname }) => hostname))]
    const read = await allOf(names.map((name) => region.readCurrent(placement, placementKey(name))))
    if (!read.ok) return read
    const records = new Map(names.map((name, at) => [name, read.value[at]!.state]))
    return done(rows.map((row) => standingOf(records.get(row.hostname)!, row)))
  }

export const createDeployables = (kernel: Kernel): Control['deployables'] => {
  const read = createRead(kernel)
  return {
    list: ({ name, deviceId, deviceUuid, rpUuid }, page) =>
      kernel.readers.list(
        'deployables',
        given({ name, device_id: deviceId, device_uuid: deviceUuid, rp_uuid: rpUuid }),
        page,
      ),
    get: async (uuid) => {
      const held = await read(uuid)
      return held.ok ? { ok: true, value: deployableRow(held.value) } : held
    },
    inPlacement: createInPlacement(kernel),
    program: createProgram(kernel),
  }
}

const rowOf = (held: Deployable, uuid: AttributeUuid): AttributeRow | null => {
  const found = held.attributes.find((attribute) => attribute.uuid === uuid)
  return found ? attributeRow(held, found) : null
}

export const createAttributes = (kernel: Kernel): Control['attributes'] => {
  const { readers, ids } = kernel
  const tell = createTell(kernel)
  const owner = async (uuid: AttributeUuid): Promise<Outcome<AttributeRow>> => {
    const found = await readers.first('attributes', { uuid })
    if (!found.ok) return found
    return found.value
      ? { ok: true, value: found.value }
      : refuse({ kind: 'not_found', resource: 'attribute', id: uuid })
  }
  const noSuch = refuse({ kind: 'invalid', field: 'deployable_id', rule: 'no such deployable' })
  return {
    list: ({ deployableId, key }, page) =>
      readers.list('attributes', given({ deployable_id: deployableId, key }), page),
    get: owner,
    create: async (caller, target, key, value) => {
      const found = await readers.first('deployables', typeof target === 'number' ? { id: target } : { uuid: target })
      if (!found.ok) return found
      if (!found.value) return noSuch
      const uuid = ids.ordered()
      const told = await tell(caller, found.value.uuid, { type: 'AddAttribute', attribute: { uuid, key, value } })
      if (!told.ok) return told.fault.kind === 'not_found' ? noSuch : told
      const row = told.value && rowOf(told.value, uuid)
      return row ? { ok: true, value: row } : owner(uuid)
    },
    remove: async (caller, uuid) => {
      const found = await owner(uuid)
      if (!found.ok) return found
      const told = await tell(caller, found.value.deployable_uuid, { type: 'RemoveAttribute', uuid })
      return told.ok ? { ok: true, value: null } : told
    },
  }
}
