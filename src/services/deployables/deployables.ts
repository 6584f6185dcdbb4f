/** The deployables and attributes part of the control port. */
import type { AttributeUuid, DeployableUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done, refuse } from '../../vocabulary/fault.ts'
import type { AttributeRow, Caller, Control } from '../../actors/control.ts'
import { given } from '../devices/devices.ts'
import { createProgram } from './program.ts'
import { createProgramDetail } from './programDetail.ts'
import { createPrograms } from './programs.ts'
import { createRead } from './readDeployable.ts'
import { type Kernel, causeOf, newWork } from '../kernel/kernel.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { DeployableCommand } from '../../actors/deployable/messages.ts'
import { attributeRow, deployableRow } from '../../actors/deployable/rows.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { placement, placementKey } from '../../actors/placement/decider.ts'
import { comparisonOf } from '../../actors/placement/comparison.ts'

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

const createInPlacement =
  ({ region, placement: port }: Kernel): Control['deployables']['inPlacement'] =>
  async (rows) => {
    if (port === null) return done(rows.map(() => null))
    const names = [...new Set(rows.map(({ hostname }) => hostname))]
    const read = await allOf(names.map((name) => region.readCurrent(placement, placementKey(name))))
    if (!read.ok) return read
    const records = new Map(names.map((name, at) => [name, read.value[at]!.state]))
    return done(rows.map((row) => comparisonOf(records.get(row.hostname)!, row)))
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
    programming: createPrograms(kernel),
    programDetail: createProgramDetail(kernel),
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
  return {
    list: ({ deployableId, key }, page) =>
      readers.list('attributes', given({ deployable_id: deployableId, key }), page),
    get: owner,
    create: async (caller, target, key, value, parent) => {
      const found = await readers.first('deployables', typeof target === 'number' ? { id: target } : { uuid: target })
      if (!found.ok) return found
      const noSuch = refuse({ kind: 'not_found', resource: 'deployable', id: String(target) })
      if (!found.value) return noSuch
      const uuid = ids.ordered()
      const recorded = await tell(caller, found.value.uuid, {
        type: 'AddAttribute',
        attribute: { uuid, key, value, ...(parent === undefined ? {} : { parent }) },
      })
      if (!recorded.ok) return recorded.fault.kind === 'not_found' ? noSuch : recorded
      const row = recorded.value && rowOf(recorded.value, uuid)
      return row ? { ok: true, value: row } : owner(uuid)
    },
    remove: async (caller, uuid) => {
      const found = await owner(uuid)
      if (!found.ok) return found
      const recorded = await tell(caller, found.value.deployable_uuid, { type: 'RemoveAttribute', uuid })
      return recorded.ok ? { ok: true, value: null } : recorded
    },
  }
}
