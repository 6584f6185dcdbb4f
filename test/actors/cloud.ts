/**
 * A control plane with one host that has shown its devices, a profile for them, and what a test does with them again
 * and again.
 */
import { randomUUID } from 'node:crypto'
import type { Row } from '../../src/actors/runtime/views.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'

export const GPU: SimulatedPlan = { seed: 1, devices: [{ kind: 'gpu', handles: 2 }] }
export const FPGA: SimulatedPlan = { seed: 1, devices: [{ kind: 'fpga', handles: 4 }] }

type Opening = Parameters<typeof openPlane>
export type Cloud = Awaited<ReturnType<typeof openCloud>>

export const openCloud = async (plan: SimulatedPlan, group: Readonly<Record<string, string>>, ...opening: Opening) => {
  const world = await openPlane(...opening)
  await world.shows('h1', plan)
  const { control, store, plane } = world
  const [deployable] = value(await control.deployables.list({}, {})).items
  value(await control.profiles.create(NOVA, { name: 'p', description: null, groups: [group] }))
  const create = async () => value(await control.arqs.create(TENANT, 'p')).map(({ uuid }) => uuid)
  const bindingOf = (arq: string, instanceUuid: string, more: object = {}) => ({
    arq,
    hostname: 'h1',
    deviceRpUuid: deployable!.rp_uuid!,
    instanceUuid,
    ...more,
  })
  const bind = (arqs: readonly string[], instance: string) =>
    control.arqs.bind(
      NOVA,
      arqs.map((arq) => bindingOf(arq, instance)),
    )
  /** ARQs of a new instance, accepted; its host may still have to work. */
  const start = async () => {
    const [arqs, instance] = [await create(), randomUUID()]
    value(await bind(arqs, instance))
    return { arqs, arq: arqs[0]!, instance }
  }
  const states = (arqs: readonly string[]) =>
    Promise.all(arqs.map(async (arq) => value(await control.arqs.get(NOVA, arq)).state))
  const handles = async (): Promise<readonly Row<'handles'>[]> =>
    (await store.reads.page({ view: 'handles', where: {}, sort: 'uuid', limit: 1000 }))!
  const handleStates = async () => (await handles()).map(({ state }) => state).toSorted()
  const pending = async () =>
    (await store.reads.page({ view: 'pending_orders', where: {}, sort: 'slot', limit: 1000 }))!
  const steps = async (arq: string) => value(await control.arqs.timeline(NOVA, arq)).steps.map(({ step }) => step)
  const device = async () => value(await control.devices.list({}, {})).items[0]!
  return {
    ...world,
    deployable: deployable!,
    create,
    bindingOf,
    bind,
    start,
    states,
    handles,
    handleStates,
    pending,
    steps,
    device,
    stop: () => plane.stop(),
  }
}
export { NOVA, TENANT, value }
