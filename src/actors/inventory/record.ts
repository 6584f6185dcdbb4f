/**
 * A host's full picture, recorded: one append for the host, its devices and its deployables.
 *
 * N3 the host's own row is part of every inventory change, so one writer wins per host and report (Q1);
 * N4 a device that an ARQ uses is marked missing, never retired (Q11, I9);
 * N5 what could not be recorded is looked at again with the next report: its picture does not count as known.
 */
import { rpUuidOf } from '../../rpUuid.ts'
import type { InventoryReport, ReportedDevice } from '../../wire/reports.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Presence } from '../deployable/messages.ts'
import { busy } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../draft.ts'
import { type HeldDevice, type Host, host, hostKey, isNews } from '../host/decider.ts'
import type { Kernel } from '../kernel.ts'
import { type Pool, descriptionOf, factsOf, poolSize, saysNothingNew } from './describe.ts'
import { NUMBERS_KEY, numbers } from './numbers.ts'
import { type Agreement, type Shown, type Step, reconcile } from './reconcile.ts'

type Numbered = () => number
type Tools = {
  readonly take: Pool
  readonly number: Numbered
  readonly hostname: string
  readonly missingRounds: number
}

const recordDeployable = (
  draft: Draft,
  shown: Shown,
  card: { uuid: string; id: number },
  reported: ReportedDevice['deployables'][number],
  tools: Tools,
) => {
  const uuid = tools.take()
  const identity = {
    uuid,
    id: tools.number(),
    name: reported.name,
    rpUuid: rpUuidOf(reported.name),
    deviceUuid: card.uuid,
    deviceId: card.id,
    host: tools.hostname,
    driver: shown.driver,
    vendor: shown.device.vendor,
  }
  const { status } = draft.state(device, deviceKey(card.uuid))
  const description = descriptionOf({ handles: {}, attributes: [] }, reported, tools.take)
  draft.decide(deployable, deployableKey(uuid), {
    type: 'Record',
    identity,
    description,
    status,
    bitstreamId: reported.bitstreamId ?? null,
  })
  return uuid
}

const record = (draft: Draft, shown: Shown, tools: Tools): HeldDevice => {
  const [uuid, id] = [tools.take(), tools.number()]
  const { driver, digest } = shown
  draft.decide(device, deviceKey(uuid), {
    type: 'Record',
    identity: { uuid, id, host: tools.hostname, driver },
    facts: factsOf(shown.device),
  })
  const deployables = shown.device.deployables.map((reported) => [
    reported.name,
    recordDeployable(draft, shown, { uuid, id }, reported, tools),
  ])
  return {
    uuid,
    id,
    driver,
    digest,
    missing: 0,
    deployables: Object.fromEntries(deployables) as Record<string, string>,
  }
}

const describe = (draft: Draft, shown: Shown, held: HeldDevice, tools: Tools): HeldDevice => {
  draft.decide(device, deviceKey(held.uuid), { type: 'Describe', facts: factsOf(shown.device) })
  draft.decide(device, deviceKey(held.uuid), { type: 'SetPresence', presence: 'present' })
  const names = new Map(shown.device.deployables.map((reported) => [reported.name, reported]))
  for (const [name, uuid] of Object.entries(held.deployables)) {
    const key = deployableKey(uuid)
    const reported = names.get(name)
    draft.decide(deployable, key, { type: 'SetPresence', presence: reported ? 'present' : 'missing' })
    const said = reported && descriptionOf(draft.state(deployable, key), reported, tools.take)
    if (said && !saysNothingNew(draft.state(deployable, key), said))
      draft.decide(deployable, key, { type: 'Describe', description: said })
  }
  const added = [...names.values()].filter(({ name }) => !held.deployables[name])
  const recorded = added.map((reported) => [reported.name, recordDeployable(draft, shown, held, reported, tools)])
  return {
    ...held,
    digest: shown.digest,
    missing: 0,
    deployables: { ...held.deployables, ...Object.fromEntries(recorded) },
  }
}

/** Missing at once, retired after enough rounds and when nobody uses it. Null: it is retired. */
const gone = (draft: Draft, held: HeldDevice, missing: number, tools: Tools): HeldDevice | null => {
  const keys = Object.values(held.deployables).map(deployableKey)
  const used = keys.some((key) => busy(draft.state(deployable, key)))
  const presence: Presence = missing >= tools.missingRounds && !used ? 'retired' : 'missing'
  draft.decide(device, deviceKey(held.uuid), { type: 'SetPresence', presence })
  for (const key of keys) draft.decide(deployable, key, { type: 'SetPresence', presence })
  // counting ends where it has served its purpose, so that a device in use writes no row a report
  return presence === 'retired' ? null : { ...held, missing: Math.min(missing, tools.missingRounds) }
}

const carryOut = (draft: Draft, step: Step, tools: Tools): readonly [string, HeldDevice | null] => {
  switch (step.do) {
    case 'record':
      return [step.shown.canonical, record(draft, step.shown, tools)]
    case 'describe':
      return [step.shown.canonical, describe(draft, step.shown, step.held, tools)]
    case 'gone':
      return [step.canonical, gone(draft, step.held, step.missing, tools)]
  }
}

/** Deployable names that others hold: the provider's UUID follows from the name, so it can be there once only. */
const withoutTaken = async ({ readers }: Kernel, agreement: Agreement): Promise<Agreement> => {
  const names = new Map(
    agreement.steps.flatMap((step) =>
      step.do === 'record' ? step.shown.device.deployables.map(({ name }) => [name, step.shown] as const) : [],
    ),
  )
  if (names.size === 0) return agreement
  const found = await readers.list('deployables', { name: [...names.keys()] }, {})
  if (!found.ok) throw new Error('the views cannot be read')
  const taken = new Map(
    found.value.items.map(({ name, hostname }) => [
      names.get(name)!.canonical,
      `deployable name ${name} is held by host ${hostname}`,
    ]),
  )
  return {
    steps: agreement.steps.filter((step) => step.do !== 'record' || !taken.has(step.shown.canonical)),
    refused: [...agreement.refused, ...[...taken].map(([canonical, reason]) => ({ canonical, reason }))],
  }
}

const pictureOf = (report: InventoryReport, digest: string) => ({
  bootId: report.bootId,
  number: report.number,
  digest,
  aliases: report.aliases,
  drivers: Object.fromEntries(
    report.drivers.map((section) => [
      section.driver,
      { status: section.status, error: section.status === 'failed' ? section.error : null },
    ]),
  ),
})

/** Everything of one report in one append. Throws when the store does not answer, so that the report comes again. */
export const recordInventory = async (
  kernel: Kernel,
  report: InventoryReport,
  digest: string,
  commandId: string,
): Promise<void> => {
  const { region, units, ids, clock, options, log } = kernel
  const looked = await region.look(hostKey(report.host))
  if (!looked.ok) throw new Error(looked.fault.kind)
  const held = looked.value.state as Host
  if (!isNews(held, report)) return
  const { steps, refused } = await withoutTaken(kernel, reconcile(held, report))
  for (const one of refused) log.warn({ host: report.host, ...one }, 'inventory.refused')

  const shown = steps.flatMap((step) => (step.do === 'gone' ? [] : [step.shown.device]))
  const pool = Array.from({ length: poolSize(shown) }, () => ids.ordered())
  const counted = shown.reduce((sum, { deployables }) => sum + 1 + deployables.length, 0)
  const known = steps.flatMap((step) =>
    step.do === 'record' ? [] : [deviceKey(step.held.uuid), ...Object.values(step.held.deployables).map(deployableKey)],
  )
  const fresh = pool.flatMap((uuid) => [deviceKey(uuid), deployableKey(uuid)])
  const done = await units.together(
    [hostKey(report.host), ...(counted > 0 ? [NUMBERS_KEY] : []), ...known],
    {
      commandId,
      at: clock.now(),
      cause: { by: `report ${report.number} of ${report.host}` },
      plan: (draft) => {
        const { last } = counted > 0 ? draft.state(numbers, NUMBERS_KEY) : { last: 0 }
        let [taken, numbered] = [0, last]
        const tools: Tools = {
          take: () => pool[taken++]!,
          number: () => ++numbered,
          hostname: report.host,
          missingRounds: options.missingRounds,
        }
        const devices = Object.fromEntries(steps.map((step) => carryOut(draft, step, tools)))
        if (numbered > last) draft.decide(numbers, NUMBERS_KEY, { type: 'Take', count: numbered - last })
        const picture = pictureOf(report, refused.length > 0 ? '' : digest)
        draft.decide(host, hostKey(report.host), { type: 'RecordPicture', name: report.host, picture, devices })
        return null
      },
    },
    fresh,
  )
  if (!done.ok) throw new Error(`the inventory of ${report.host} could not be recorded: ${JSON.stringify(done.fault)}`)
  if (steps.length > 0)
    log.info({ host: report.host, steps: steps.length, refused: refused.length }, 'inventory.recorded')
}
