/**
 * After the database lost rows and an operator decided to go on: changes the deployables of the lost rows. Their orders
 * continue with higher numbers, and no handle that a guest may still use is granted. Each deployable has one append,
 * safe against concurrent work of controls. Afterwards each host is to be compared with Placement, which may show what
 * only lost rows said.
 */
import type { ArqUuid, DeployableUuid, HandleUuid, HostName } from '../../vocabulary/identifiers.ts'
import { type Fault, type Outcome, done } from '../../vocabulary/fault.ts'
import type { Caller } from '../../actors/control.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { DeployableEvent } from '../../actors/deployable/messages.ts'
import type { HandleState } from '../../actors/deployable/states.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { CANONICAL_PATTERN } from '../../vocabulary/uuid.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { JournalRow } from '../../actors/runtime/ports.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, causeOf } from '../kernel/kernel.ts'
import { type RequestedPasses, askForPasses } from '../placement/afterLoss.ts'

export type NamedRow = Pick<JournalRow, 'key' | 'events'> & { readonly command: string }
/**
 * A handle that a guest may still use because its grant was lost. `state` and `arq`: as the journal now holds the
 * handle.
 */
export type Withheld = {
  readonly handle: HandleUuid
  readonly host: HostName
  readonly state: HandleState
  readonly arq: ArqUuid | null
}
export type Adopted = { readonly deployable: DeployableUuid } & (
  | { readonly fault: Fault }
  /** `raisedTo` null: the next order number is already higher than any that the host has seen. */
  | { readonly fault: null; readonly raisedTo: number | null; readonly withheld: readonly Withheld[] }
)
/** `placement`: the hosts that are to be compared with Placement. */
export type Adoptions = { readonly deployables: readonly Adopted[]; readonly placement: RequestedPasses }
export type Adoption = (caller: Caller, rows: readonly NamedRow[], note: OperatorNote) => Promise<Outcome<Adoptions>>

type Named = { readonly events: DeployableEvent[]; readonly handles: HandleUuid[] }
const UUIDS = new RegExp(CANONICAL_PATTERN, 'g')
/** How many handles one query looks up. */
const PORTION = 500

const isOfDeployable = ({ key }: NamedRow): boolean => kindOf(key) === 'deployable'
/**
 * The append that grants or releases a handle has a row of the deployable, which is decisive. If that row is unknown,
 * the other rows are used.
 */
const namedElsewhere = (rows: readonly NamedRow[]): readonly string[] => {
  const whole = new Set(rows.filter(isOfDeployable).map(({ command }) => command))
  const rest = rows.filter((row) => !isOfDeployable(row) && !whole.has(row.command))
  return [...new Set(rest.flatMap(({ events }) => JSON.stringify(events).match(UUIDS) ?? []))]
}

const gather = async (
  { readers }: Kernel,
  rows: readonly NamedRow[],
): Promise<Outcome<ReadonlyMap<DeployableUuid, Named>>> => {
  const found = new Map<DeployableUuid, Named>()
  const of = (uuid: DeployableUuid): Named => {
    const known = found.get(uuid) ?? { events: [], handles: [] }
    found.set(uuid, known)
    return known
  }
  for (const { key, events } of rows.filter(isOfDeployable))
    of(idOf(key)).events.push(...(events as readonly DeployableEvent[]))
  const uuids = namedElsewhere(rows)
  for (let from = 0; from < uuids.length; from += PORTION) {
    const listed = await readers.list('handles', { uuid: uuids.slice(from, from + PORTION) }, {})
    if (!listed.ok) return listed
    for (const { uuid, deployable_uuid: owner } of listed.value.items) of(owner).handles.push(uuid)
  }
  return done(found)
}

export const createAdoption = (kernel: Kernel): Adoption => {
  const adopt = async (caller: Caller, uuid: DeployableUuid, named: Named, note: OperatorNote): Promise<Adopted> => {
    const key = deployableKey(uuid)
    const decided = await transact(kernel, {
      subject: `deployable ${uuid}`,
      cause: causeOf(caller),
      guess: async () => done({ keys: [key] }),
      plan: (draft) => {
        const { host, handles } = draft.state(deployable, key)
        const events = draft.decide(deployable, key, { type: 'RowsLost', ...named, ...note })
        const raised = events.find((event) => event.type === 'OrdersRaised')
        const withheld = events.flatMap((event): Withheld[] => {
          if (event.type !== 'HandleQuarantined') return []
          const { state, arq } = handles[event.handle]!
          return [{ handle: event.handle, host, state, arq }]
        })
        return { raisedTo: raised?.to ?? null, withheld }
      },
    })
    if (!decided.ok) return { deployable: uuid, fault: decided.fault }
    return { deployable: uuid, fault: null, ...(decided.value ?? { raisedTo: null, withheld: [] }) }
  }
  return async (caller, rows, note) => {
    const found = await gather(kernel, rows)
    if (!found.ok) return found
    const adopted: Adopted[] = []
    for (const [uuid, named] of found.value) adopted.push(await adopt(caller, uuid, named, note))
    return done({ deployables: adopted, placement: await askForPasses(kernel, caller, rows) })
  }
}
