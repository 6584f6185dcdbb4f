/** The hosts part of the control port. */
import type { ArqUuid, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { Caller, Control, HostDetail, HostRow } from '../../actors/control.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { DEVICE_STATES, stateOf } from '../../actors/device/standing.ts'
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { createForceUnbind } from '../arqs/forceUnbind.ts'
import { createHostImpact } from '../retirement/impact.ts'
import { type Kernel, causeOf, commandOf } from '../kernel/kernel.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { createVisibility } from '../kernel/visibility.ts'
import { type Host, host, hostKey, hostRow, isKnown } from '../../actors/host/decider.ts'
import { lastReportOf } from '../../actors/host/lastReport.ts'
import { waitingOrders } from '../../actors/deployable/waiting.ts'
import { readMeasured } from '../devices/measured.ts'
import { whereListedAs } from '../../actors/host/standing.ts'
import type { HostKeys, KeyCommand } from './hostKeys.ts'
import type { Liveness } from './liveness.ts'
import { createProbe } from './probe.ts'
import { type Retirement, createHolders, unknownHost } from '../retirement/retirement.ts'

/**
 * A forced removal first retires the host, so that no new bind can start; binds accepted just before may need another
 * round of unbinding.
 */
const ROUNDS = 3

const countsOf = (deployables: readonly Deployable[]): HostDetail['handles'] => {
  const all = deployables.flatMap(({ handles }) => Object.values(handles))
  const count = (state: string) => all.filter((handle) => handle.state === state).length
  return Object.fromEntries(HANDLE_STATES.map((state) => [state, count(state)])) as HostDetail['handles']
}
const arqsOf = (deployables: readonly Deployable[]): readonly ArqUuid[] =>
  deployables.flatMap(({ handles }) => Object.values(handles).flatMap(({ arq }) => (arq === null ? [] : [arq])))

type Parts = {
  readonly kernel: Kernel
  readonly retirement: Retirement
}

/** Retires the host, unbinds all its ARQs, then removes it. An interrupted call may be repeated, and then continues. */
const removeByForce = async (
  { kernel, retirement }: Parts,
  caller: Caller,
  name: HostName,
  note: OperatorNote,
): Promise<Outcome<Host>> => {
  const [holders, forceUnbind] = [createHolders(kernel), createForceUnbind(kernel)]
  const retired = await retirement.retire(caller, name, note)
  if (!retired.ok) return retired
  for (let round = 0; ; round++) {
    const deployables = await holders(name)
    if (!deployables.ok) return deployables
    for (const arq of arqsOf(deployables.value)) {
      const left = await forceUnbind(caller, arq, note, true)
      if (!left.ok && left.fault.kind !== 'not_found') return left
    }
    const removed = await retirement.remove(caller, name, note, true)
    if (removed.ok || removed.fault.kind !== 'conflict' || round === ROUNDS) return removed
  }
}

/** One decision of an operator about one host. */
const decide = (keys: HostKeys, caller: Caller, name: HostName, command: KeyCommand): ReturnType<HostKeys['record']> =>
  keys.record(name, () => command, { cause: causeOf(caller), ...commandOf(caller) })

const ordersOf = (deployables: readonly Deployable[]): HostDetail['orders'] => {
  const moments = deployables.flatMap((one) => waitingOrders(one).map(({ since }) => since))
  return { waiting: moments.length, since: moments.length === 0 ? null : Math.min(...moments) }
}

const measuredOn = async (
  kernel: Kernel,
  name: HostName,
  { devices }: Host,
): Promise<Outcome<HostDetail['measured']>> => {
  const read = await readMeasured(kernel, name)
  if (!read.ok) return read
  const find = read.value
  const measured = Object.entries(devices).flatMap(([canonical, { uuid, driver }]) => {
    const found = find(driver, canonical)
    return found === null ? [] : [{ device: uuid, ...found }]
  })
  return done(measured)
}

const createShown =
  (liveness: Liveness) =>
  (row: Row<'hosts'>, held: Host): HostRow => ({
    ...row,
    last_seen_at: liveness.lastSeen(row.name),
    retired: held.retired ?? null,
    public_key: held.keys?.key ?? null,
    offered_key: held.keys?.offered?.key ?? null,
  })

const createLook =
  ({ region }: Kernel) =>
  async (name: HostName): Promise<Outcome<Host>> => {
    const looked = await region.readCurrent(host, hostKey(name))
    if (!looked.ok) return looked
    const held = looked.value.state
    return isKnown(held) ? { ok: true, value: held } : unknownHost(name)
  }

const devicesOn = async ({ readers }: Kernel, held: Host): Promise<Outcome<HostDetail['devices']>> => {
  const listed = await readers.list('devices', { hostname: held.name }, {})
  if (!listed.ok) return listed
  const byState = Map.groupBy(listed.value.items, (row) => stateOf(row, hostRow(held)))
  const states = DEVICE_STATES.flatMap((state) =>
    byState.has(state) ? [[state, byState.get(state)!.length] as const] : [],
  )
  return done(Object.fromEntries(states))
}

type Shown = ReturnType<typeof createShown>
const createDetail = (kernel: Kernel, shown: Shown): Control['hosts']['get'] => {
  const [lookAt, holders, visibility] = [createLook(kernel), createHolders(kernel), createVisibility(kernel)]
  return async (caller, name) => {
    const [held, deployables] = await Promise.all([lookAt(name), holders(name)])
    if (!held.ok) return held
    if (!deployables.ok) return deployables
    const [handles, all] = [countsOf(deployables.value), arqsOf(deployables.value)]
    const knows = await visibility(caller, all)
    if (!knows.ok) return knows
    const measured = await measuredOn(kernel, name, held.value)
    if (!measured.ok) return measured
    const devices = await devicesOn(kernel, held.value)
    if (!devices.ok) return devices
    const { playbooks = [], probe = null } = held.value
    return done({
      ...shown(hostRow(held.value), held.value),
      devices: devices.value,
      handles,
      arqs: all.filter(knows.value),
      playbooks,
      probe,
      lastReport: lastReportOf(held.value),
      orders: ordersOf(deployables.value),
      measured: measured.value,
    })
  }
}

export const createHosts = (
  kernel: Kernel,
  liveness: Liveness,
  keys: HostKeys,
  retirement: Retirement,
): Control['hosts'] => {
  const { region, readers } = kernel
  const probe = createProbe(kernel)
  const lookAt = createLook(kernel)
  const shown = createShown(liveness)
  const detail = createDetail(kernel, shown)
  const then = async (caller: Caller, name: HostName, decided: Outcome<unknown>) =>
    decided.ok ? detail(caller, name) : decided
  const setKey =
    (type: 'ApproveKey' | 'ReplaceKey'): Control['hosts']['approve'] =>
    async (caller, name, note, named) =>
      then(caller, name, await decide(keys, caller, name, { type, name, named, ...note }))
  return {
    approve: setKey('ApproveKey'),
    rekey: setKey('ReplaceKey'),
    list: async (page, standing) => {
      const listed = await readers.list('hosts', standing === undefined ? {} : whereListedAs(standing), page)
      if (!listed.ok) return listed
      const held = await allOf(listed.value.items.map(({ name }) => region.readCurrent(host, hostKey(name))))
      if (!held.ok) return held
      const items = listed.value.items.map((row, at) => shown(row, held.value[at]!.state))
      return { ok: true, value: { items, next: listed.value.next } }
    },
    get: detail,
    retire: async (caller, name, note) => then(caller, name, await retirement.retire(caller, name, note)),
    probe: async (caller, name) => then(caller, name, await probe(caller, name)),
    restore: async (caller, name, note) => {
      const known = await lookAt(name)
      return known.ok ? then(caller, name, await decide(keys, caller, name, { type: 'Restore', ...note })) : known
    },
    impact: createHostImpact(kernel, retirement),
    remove: async (caller, name, note, force) => {
      const removed = force
        ? await removeByForce({ kernel, retirement }, caller, name, note)
        : await retirement.remove(caller, name, note, false)
      return removed.ok ? { ok: true, value: null } : removed
    },
  }
}
