/** Deployables and their attributes, as http asks for them. */
import { type Fault, type Outcome, refuse } from '../../fault.ts'
import type { AttributeRow, Caller, Control, DeployableRow } from '../control.ts'
import { given } from './devices.ts'
import { type Host, hostKey } from '../host/decider.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import { traceField } from '../../trace.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { DeployableCommand } from '../deployable/messages.ts'
import { attributeRow, deployableRow } from '../deployable/rows.ts'
import type { Deployable } from '../deployable/state.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'deployable', id })
const POLL_MS = 20

const createRead =
  ({ region }: Kernel) =>
  async (uuid: string): Promise<Outcome<Deployable>> => {
    const looked = await region.readCurrent(deployableKey(uuid))
    if (!looked.ok) return looked
    const held = looked.value.state as Deployable
    return held.exists && held.presence !== 'retired' ? { ok: true, value: held } : missing(uuid)
  }

const createTell =
  (kernel: Kernel) =>
  async (caller: Caller, uuid: string, command: DeployableCommand): Promise<Outcome<Deployable | null>> => {
    const key = deployableKey(uuid)
    return kernel.region.tell(
      key,
      newWork(kernel, causeOf(caller), (draft) => {
        draft.decide(deployable, key, command)
        return draft.state(deployable, key)
      }),
    )
  }

const NO_IMAGE: Record<'unknown' | 'none', (image: string) => Fault> = {
  unknown: (image) => ({ kind: 'not_found', resource: 'image', id: image }),
  none: () => ({ kind: 'conflict', reason: 'no image store is configured, so nothing can be programmed' }),
}

/** Nobody should wait for a host that is silent (rest-api 6.4); null: it was heard of. */
const unreachable = async ({ region }: Kernel, name: string): Promise<Fault | null> => {
  const looked = await region.readCurrent(hostKey(name))
  if (!looked.ok) return looked.fault
  const { liveness } = looked.value.state as Host
  return liveness === 'up'
    ? null
    : { kind: 'unavailable', reason: `host ${name} is ${liveness}`, retryAfterSeconds: 30 }
}

/** Durable: the order is recorded before anything happens, and its result whenever it comes; the caller waits for a while only. */
const createProgram = (kernel: Kernel): Control['deployables']['program'] => {
  const { clock, images, options } = kernel
  const look = createRead(kernel)
  const tell = createTell(kernel)
  const settled = async (
    uuid: string,
    number: number,
  ): Promise<Outcome<{ deployable: DeployableRow; finished: boolean }>> => {
    const until = clock.now() + options.programWaitMs
    for (;;) {
      const now = await look(uuid)
      if (!now.ok) return now
      const running = now.value.program?.order.number === number
      if (!running && now.value.programFault !== null)
        return refuse({ kind: 'device_failure', reason: now.value.programFault })
      if (!running || clock.now() >= until)
        return { ok: true, value: { deployable: deployableRow(now.value), finished: !running } }
      await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve))
    }
  }
  return async (caller, uuid, image) => {
    const known = await look(uuid)
    if (!known.ok) return known
    const found = await images.find(image)
    if (!found.found) return refuse(NO_IMAGE[found.why](image))
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
    return settled(uuid, started.value?.program?.order.number ?? 0)
  }
}

export const createDeployables = (kernel: Kernel): Control['deployables'] => {
  const look = createRead(kernel)
  return {
    list: ({ name, deviceId, deviceUuid, rpUuid }, page) =>
      kernel.readers.list(
        'deployables',
        given({ name, device_id: deviceId, device_uuid: deviceUuid, rp_uuid: rpUuid }) as never,
        page,
      ),
    get: async (uuid) => {
      const held = await look(uuid)
      return held.ok ? { ok: true, value: deployableRow(held.value) } : held
    },
    program: createProgram(kernel),
  }
}

const rowOf = (held: Deployable, uuid: string): AttributeRow | null => {
  const found = held.attributes.find((attribute) => attribute.uuid === uuid)
  return found ? attributeRow(held, found) : null
}

export const createAttributes = (kernel: Kernel): Control['attributes'] => {
  const { readers, ids } = kernel
  const tell = createTell(kernel)
  const owner = async (uuid: string): Promise<Outcome<AttributeRow>> => {
    const found = await readers.first('attributes', { uuid })
    if (!found.ok) return found
    return found.value
      ? { ok: true, value: found.value }
      : refuse({ kind: 'not_found', resource: 'attribute', id: uuid })
  }
  const noSuch = refuse({ kind: 'invalid', field: 'deployable_id', rule: 'no such deployable' })
  return {
    list: ({ deployableId, key }, page) =>
      readers.list('attributes', given({ deployable_id: deployableId, key }) as never, page),
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
