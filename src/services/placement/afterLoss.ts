/**
 * Has each host compared with Placement once after the database has lost rows, also hosts that count as removed: a pass
 * whose record was lost may have created providers that nothing recorded explains now (P4), or may have shown reserved
 * units as free.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { type Fault, type Outcome, done } from '../../vocabulary/fault.ts'
import type { Caller } from '../../actors/control.ts'
import { placement, placementKey } from '../../actors/placement/decider.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { JournalRow } from '../../actors/runtime/ports.ts'
import { type Kernel, causeOf, newWork } from '../kernel/kernel.ts'

/**
 * Asks for a pass over the host if it was ever compared with Placement, or a lost row says so. Returns whether it did.
 */
const ask = async (kernel: Kernel, caller: Caller, name: HostName, isNamed: boolean): Promise<Outcome<boolean>> => {
  const key = placementKey(name)
  const asked = await kernel.region.tell(
    key,
    newWork(kernel, causeOf(caller), (draft) => {
      if (!isNamed && draft.state(placement, key).passes === 0) return false
      draft.decide(placement, key, { type: 'RowsLost', host: name, at: draft.at })
      return true
    }),
  )
  return asked.ok ? done(asked.value ?? false) : asked
}

/**
 * `compared`: the number of hosts for which a pass was asked. `failed`: those for which none could be asked, with the
 * reason.
 */
export type RequestedPasses = {
  readonly compared: number
  readonly failed: readonly { readonly host: HostName | null; readonly fault: Fault }[]
}
/** A host that fails keeps no other from being compared. `host` null: the hosts cannot be listed. */
export const askForPasses = async (
  kernel: Kernel,
  caller: Caller,
  rows: readonly Pick<JournalRow, 'key'>[],
): Promise<RequestedPasses> => {
  const named = new Set(rows.filter(({ key }) => kindOf(key) === placement.kind).map(({ key }): HostName => idOf(key)))
  const hosts = await kernel.readers.list('hosts', {}, {})
  const names = hosts.ok ? hosts.value.items.map(({ name }) => name) : []
  const failed: RequestedPasses['failed'][number][] = hosts.ok ? [] : [{ host: null, fault: hosts.fault }]
  let compared = 0
  for (const host of new Set([...named, ...names])) {
    const asked = await ask(kernel, caller, host, named.has(host))
    if (!asked.ok) failed.push({ host, fault: asked.fault })
    else if (asked.value) compared++
  }
  return { compared, failed }
}
