/** Describes as text what an import takes over. */
import type { PlannedDevice } from '../../actors/upstream/inventoryPlan.ts'
import { type Note, RULES } from '../../actors/upstream/notes.ts'
import type { Plan } from '../../actors/upstream/plan.ts'
import { inOneLine } from '../../vocabulary/text.ts'

const STATES = { initial: 'Initial', unbound: 'Unbound', bound: 'Bound', failed: 'BindFailed' } as const

const countBy = <Item>(items: readonly Item[], key: (item: Item) => string): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(items, key)].map(([name, group]) => [name, group.length]))

export const summaryOf = ({ profiles, devices, arqs, withheld }: Plan) => {
  const isRetired = ({ canonical }: PlannedDevice) => canonical === null
  const deployables = devices.flatMap((one) => one.deployables)
  return {
    profiles: profiles.length,
    hosts: new Set(devices.filter((one) => !isRetired(one)).map(({ identity }) => identity.host)).size,
    devices: devices.filter((one) => !isRetired(one)).length,
    retired: devices.filter(isRetired).length,
    deployables: deployables.length,
    handles: deployables.reduce((all, one) => all + one.handles.length, 0),
    withheld: withheld.length,
    arqs: countBy(arqs, ({ fate }) => STATES[fate.is]),
  }
}

const lineOf = ({ outcome, rule, table, id, uuid, text }: Note): string =>
  inOneLine(`${outcome.padEnd(9)} ${rule.padEnd(11)} ${table} ${id} (${uuid}): ${text}`)

export const importLines = (plan: Plan): readonly string[] => {
  const { arqs, ...counts } = summaryOf(plan)
  const states = Object.entries(arqs).map(([state, count]) => `${count} ${state}`)
  const used = [...new Set(plan.notes.map(({ rule }) => rule))].toSorted()
  return [
    `device profiles       ${counts.profiles}`,
    `hosts                 ${counts.hosts}`,
    `devices               ${counts.devices}, and ${counts.retired} retired`,
    `deployables           ${counts.deployables}`,
    `attach handles        ${counts.handles}, of which ${counts.withheld} are quarantined`,
    `accelerator requests  ${states.length > 0 ? states.join(', ') : 'none'}`,
    ...plan.notes.map(lineOf),
    ...used.map((rule) => `rule      ${rule.padEnd(11)} ${RULES[rule]}`),
  ]
}
