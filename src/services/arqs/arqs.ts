/** The accelerator requests part of the control port. */
import type { ArqUuid, InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { ArqRow, Caller, Control } from '../../actors/control.ts'
import { createBind } from './bind.ts'
import { createUnbind, visible } from './unbind.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type Admit, createAdmission } from './quota.ts'
import type { Draft } from '../../actors/runtime/draft.ts'
import type { Control as ControlPort } from '../../actors/control.ts'
import type { Retirement } from '../retirement/retirement.ts'
import { createForceUnbind } from './forceUnbind.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { ARQS_MAX, arqsOf } from '../../actors/arq/groups.ts'
import { arqRow } from '../../actors/arq/rows.ts'
import { RESOLVED, UNRESOLVED } from '../../actors/arq/states.ts'
import { createTimeline } from './timeline.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'accelerator request', id })

/** Why the device profile asks for counts that cannot be requested; null when they can be. */
const unfit = (counts: readonly (number | null)[]): string | null => {
  if (counts.includes(null))
    return 'each group must ask for a whole number of each resource, with CUSTOM_FPGA_XILINX for resources:FPGA'
  const sum = counts.reduce<number>((all, count) => all + count!, 0)
  return sum > ARQS_MAX ? `a profile may ask for at most ${ARQS_MAX} accelerators` : null
}

const createCreate =
  (kernel: Kernel, profiles: ControlPort['profiles'], admit: Admit): Control['arqs']['create'] =>
  async (caller, profileName) => {
    const found = await profiles.byName(profileName, { caller, disabled: false })
    if (!found.ok) return found
    const { uuid: profileUuid, version: profileVersion, groups } = found.value
    const counts = groups.map(arqsOf)
    const rule = unfit(counts)
    if (rule) return refuse({ kind: 'invalid', field: 'device_profile_name', rule })
    const wanted = groups.flatMap((group, groupId) =>
      Array.from({ length: counts[groupId]! }, () => ({ groupId, group })),
    )
    if (wanted.length === 0) return { ok: true, value: [] }
    const fresh = wanted.map((one) => ({ ...one, uuid: kernel.ids.ordered() }))
    const create = (draft: Draft): readonly ArqRow[] =>
      fresh.map(({ uuid, groupId, group }) => {
        const key = arqKey(uuid)
        draft.decide(arq, key, {
          type: 'Create',
          uuid,
          projectId: caller.projectId,
          profileUuid,
          profileName,
          profileVersion,
          groupId,
          group,
        })
        return arqRow(draft.state(arq, key))
      })
    const made = await admit(
      caller,
      fresh.map(({ uuid }) => uuid),
      create,
    )
    return made.ok ? { ok: true, value: made.value ?? [] } : made
  }

/** A caller with a service role sees all ARQs of an instance, whatever project they belong to (rest-api 9.5). */
const visibleTo = ({ isAdmin, isService, projectId }: Caller, instance: InstanceUuid | undefined) => {
  if (isAdmin) return {}
  return isService && instance !== undefined ? { instance_uuid: instance } : { project_id: projectId }
}

const createList = ({ readers }: Kernel): Control['arqs']['list'] => {
  /**
   * Nova's compute service lists the resolved ARQs of an instance to learn whether all of its ARQs are resolved
   * (rest-api 4.3).
   */
  const allResolved = async (
    instance: InstanceUuid,
    where: Parameters<typeof readers.list<'arqs'>>[1],
  ): Promise<Outcome<null>> => {
    const waiting = await readers.first('arqs', { ...where, state: UNRESOLVED })
    if (!waiting.ok) return waiting
    return waiting.value ? refuse({ kind: 'unresolved', instance }) : { ok: true, value: null }
  }
  /**
   * Nova treats each resolved ARQ as bound and would boot the server without the accelerator; a refusal makes the boot
   * fail (decision 0063).
   */
  const noneFailed = async (
    instance: InstanceUuid,
    where: Parameters<typeof readers.list<'arqs'>>[1],
    listed: readonly ArqRow[],
  ): Promise<Outcome<null>> => {
    if (!listed.some(({ state }) => state === 'BindFailed')) {
      const failed = await readers.first('arqs', { ...where, state: 'BindFailed' })
      if (!failed.ok) return failed
      if (!failed.value) return { ok: true, value: null }
    }
    return refuse({
      kind: 'conflict',
      reason: `The bind of an accelerator request of the instance ${instance} failed.`,
    })
  }
  return async (caller, { instance, uuids, resolvedOnly, state, project }, page) => {
    const visible = visibleTo(caller, instance)
    const where = {
      ...(instance === undefined || 'instance_uuid' in visible ? {} : { instance_uuid: instance }),
      ...(uuids === undefined ? {} : { uuid: uuids }),
      ...(state === undefined ? {} : { state }),
      ...(project === undefined ? {} : { project_id: project }),
    }
    if (!resolvedOnly) {
      const listed = await readers.list('arqs', where, page, visible)
      if (!listed.ok || !caller.isService || instance === undefined) return listed
      // after the list, so that no bind fails unnoticed between the two reads
      const usable = await noneFailed(instance, { ...where, ...visible }, listed.value.items)
      return usable.ok ? listed : usable
    }
    const resolved = instance === undefined ? null : await allResolved(instance, { ...where, ...visible })
    return resolved && !resolved.ok ? resolved : readers.list('arqs', { ...where, state: RESOLVED }, page, visible)
  }
}

const createGet =
  ({ region }: Kernel) =>
  async (caller: Caller, uuid: ArqUuid) => {
    const looked = await region.readCurrent(arq, arqKey(uuid))
    if (!looked.ok) return looked
    const held = looked.value.state
    return visible(caller, held, false) ? { ok: true as const, value: arqRow(held) } : missing(uuid)
  }

const forceUnbind = (kernel: Kernel, retirement: Retirement): Control['arqs']['forceUnbind'] => {
  const force = createForceUnbind(kernel)
  return async (caller, uuid, note) => {
    const left = await force(caller, uuid, note)
    if (!left.ok) return left
    const { row, host } = left.value
    // this handle may have been the last one in use of a device of a retired host
    if (host !== null) await retirement.shed(caller, host)
    return { ok: true, value: row }
  }
}

export const createArqs = (
  kernel: Kernel,
  profiles: ControlPort['profiles'],
  retirement: Retirement,
): Control['arqs'] => {
  const { unbind, remove, removeByInstance } = createUnbind(kernel)
  return {
    create: createCreate(kernel, profiles, createAdmission(kernel)),
    list: createList(kernel),
    get: createGet(kernel),
    bind: createBind(kernel),
    unbind,
    remove,
    removeByInstance,
    timeline: createTimeline(kernel),
    forceUnbind: forceUnbind(kernel, retirement),
  }
}
