/**
 * A host's full picture, recorded: one append for the host, its devices and its deployables.
 *
 * RECORD-1 the host's own row is part of every inventory change, so one writer wins per host and report (Q1);
 * RECORD-2 what could not be recorded is looked at again with the next report: its picture does not count as known.
 */
import { canonicalJson } from '../../wire/canonical.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { deployableKey } from '../deployable/decider.ts'
import { deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Host, type InventorySnapshot, host, hostKey, isNews } from '../host/decider.ts'
import type { Kernel } from './kernel.ts'
import { storable } from '../../text.ts'
import { type Tools, carryOut } from '../inventory/carryOut.ts'
import { poolSizes } from '../inventory/describe.ts'
import { NUMBERS_KEY, numbers } from '../inventory/numbers.ts'
import { type Agreement, type Refused, type Step, reconcile } from '../inventory/reconcile.ts'

/** Names of deployables that a step brings. */
const newNames = (step: Step): readonly string[] => {
  if (!('shown' in step)) return []
  const names = step.shown.device.deployables.map(({ name }) => name)
  return step.do === 'record' ? names : names.filter((name) => !step.held.deployables[name])
}

/** Deployable names that others hold: the provider's UUID follows from the name, so it can be there once only. */
const withoutTaken = async ({ readers }: Kernel, { steps, refused }: Agreement): Promise<Agreement> => {
  const names = steps.flatMap(newNames)
  if (names.length === 0) return { steps, refused }
  const found = await readers.list('deployables', { name: names }, {})
  if (!found.ok) throw new Error('the views cannot be read')
  const holders = new Map(found.value.items.map(({ name, hostname }) => [name, hostname]))
  const judged = steps.map((step) => ({ step, name: newNames(step).find((name) => holders.has(name)) }))
  return {
    steps: judged.flatMap(({ step, name }) => (name === undefined ? [step] : [])),
    refused: [
      ...refused,
      ...judged.flatMap(({ step, name }): Refused[] =>
        name === undefined || !('shown' in step)
          ? []
          : [
              {
                canonical: step.shown.canonical,
                reason: `deployable name ${name} is held by host ${holders.get(name)}`,
              },
            ],
      ),
    ],
  }
}

const pictureOf = (report: InventoryReport, digest: string): InventorySnapshot => ({
  bootId: report.bootId,
  number: report.number,
  digest,
  aliases: report.aliases.map(storable),
  drivers: Object.fromEntries(
    report.drivers.map((section) => [
      storable(section.driver),
      { status: section.status, error: section.status === 'failed' ? storable(section.error) : null },
    ]),
  ),
})
const samePicture = (held: Host, { bootId, aliases, drivers }: InventorySnapshot) =>
  held.bootId === bootId && canonicalJson([held.aliases, held.drivers]) === canonicalJson([aliases, drivers])

type Taking = { readonly report: InventoryReport; readonly digest: string; readonly commandId: string }

/** `old`: an older report; `moved`: the host's devices are no longer those the steps were made for. */
const append = async (kernel: Kernel, held: Host, { steps, refused }: Agreement, taking: Taking) => {
  const { units, ids, clock, options } = kernel
  const { report } = taking
  const key = hostKey(report.host)
  const shown = steps.flatMap((step) => ('shown' in step ? [step.shown.device] : []))
  const { entities, parts } = poolSizes(shown)
  const fresh = Array.from({ length: entities }, () => ids.ordered())
  const known = steps.flatMap((step) =>
    step.do === 'record' ? [] : [deviceKey(step.held.uuid), ...Object.values(step.held.deployables).map(deployableKey)],
  )
  const pool = Array.from({ length: parts }, () => ids.ordered())
  const plan = (draft: Draft): 'old' | 'moved' | 'agreed' => {
    const now = draft.state(host, key)
    if (!isNews(now, report)) return 'old'
    if (now.devices !== held.devices || now.retired !== held.retired) return 'moved'
    const { last } = entities > 0 ? draft.state(numbers, NUMBERS_KEY) : { last: 0 }
    let [made, taken, numbered] = [0, 0, last]
    const tools: Tools = {
      entity: () => fresh[made++]!,
      part: () => pool[taken++]!,
      number: () => ++numbered,
      hostname: report.host,
      missingRounds: options.missingRounds,
    }
    const reached = steps.map((step) => carryOut(draft, step, tools))
    const changed = reached.filter(([canonical, one]) => canonicalJson(one) !== canonicalJson(held.devices[canonical]))
    if (numbered > last) draft.decide(numbers, NUMBERS_KEY, { type: 'Take', count: numbered - last })
    const picture = pictureOf(report, refused.length > 0 ? '' : taking.digest)
    if (changed.length > 0 || !samePicture(now, picture))
      draft.decide(host, key, {
        type: 'RecordPicture',
        name: report.host,
        picture,
        devices: Object.fromEntries(changed),
      })
    return 'agreed'
  }
  return units.together(
    [key, ...(entities > 0 ? [NUMBERS_KEY] : []), ...known],
    { commandId: taking.commandId, at: clock.now(), cause: { by: `report ${report.number} of ${report.host}` }, plan },
    fresh.flatMap((uuid) => [deviceKey(uuid), deployableKey(uuid)]),
  )
}

const ROUNDS = 4
/**
 * Everything of one report in one append. True: the same picture again would change nothing; null: the report is an old one.
 * Throws when the store does not answer, so that the report comes again.
 */
export const recordInventory = async (kernel: Kernel, taking: Taking): Promise<boolean | null> => {
  const { region, log } = kernel
  const { report } = taking
  const lookedAt = async () => {
    const looked = await region.readCurrent(hostKey(report.host))
    if (!looked.ok) throw new Error(looked.fault.kind)
    return looked.value.state as Host
  }
  for (let round = 0; round < ROUNDS; round++) {
    const held = await lookedAt()
    if (!isNews(held, report)) return null
    const agreement = await withoutTaken(kernel, reconcile(held, report))
    const { steps, refused } = agreement
    const done = await append(kernel, held, agreement, taking)
    if (!done.ok)
      throw new Error(`the inventory of ${report.host} could not be recorded: ${JSON.stringify(done.fault)}`)
    if (done.value === 'moved') continue
    for (const one of refused) log.warn({ host: report.host, ...one }, 'inventory.refused')
    if (steps.length > 0)
      log.info({ host: report.host, steps: steps.length, refused: refused.length }, 'inventory.recorded')
    return refused.length === 0 && reconcile(await lookedAt(), report).steps.length === 0
  }
  throw new Error(`the inventory of ${report.host} keeps changing`)
}
