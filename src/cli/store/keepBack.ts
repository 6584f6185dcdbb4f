/**
 * Withholds the handles that lost rows put in doubt, and reports each: the part of `migrate --adopt` that works on the
 * journal.
 */
import type { Caller } from '../../actors/control.ts'
import type { Adopted, Adoption, Adoptions, NamedRow, Withheld } from '../../services/deployables/adoption.ts'
import { systemIds } from '../../vocabulary/clock.ts'

type Out = (line: string) => void

const CALLER: Caller = {
  userId: 'migrate --adopt',
  projectId: 'operators',
  isAdmin: true,
  isService: false,
  requestId: `req-${systemIds.uuid()}`,
}
const NOTE = {
  by: 'migrate --adopt',
  reason:
    'a journal row that the database has lost names it: it may be in use. Release it when its host shows that it is not',
}

const lineOf = ({ handle, host, state, arq }: Withheld): string => {
  if (state !== 'held') return `quarantined handle ${handle} of host ${host}`
  return (
    `in use  handle ${handle} of host ${host} is held by ARQ ${arq}, and a lost row names it: another guest may use it. ` +
    'When that ARQ gives it up, it is quarantined, and its host is not told to release it'
  )
}
/** Returns the reason if the lost rows of a deployable could not be adopted; otherwise null. */
const report = (adopted: Adopted, out: Out): string | null => {
  const { deployable, fault } = adopted
  if (fault?.kind === 'not_found') {
    out(`gone    deployable ${deployable} is not in the journal any more: its host reports it again, with new handles`)
    return null
  }
  if (fault !== null) return `deployable ${deployable} could not be adopted: ${JSON.stringify(fault)}`
  if (adopted.raisedTo !== null)
    out(`raised  the next order of deployable ${deployable} has a number above ${adopted.raisedTo}`)
  adopted.withheld.map(lineOf).forEach(out)
  return null
}

/** What could not be compared does not keep writing stopped: an operator can have it compared at any time. */
const reportCompared = ({ compared, failed }: Adoptions['placement'], out: Out): void => {
  const hosts = compared === 1 ? 'host' : 'hosts'
  if (compared > 0) out(`compare ${compared} ${hosts} with Placement, which may show what only lost rows said`)
  for (const { host, fault } of failed)
    out(
      `compare ${host ?? 'the hosts'} with Placement yourself (accelerando drift heal --apply): ${JSON.stringify(fault)}`,
    )
}

/** Withholds the handles that the rows put in doubt. Returns the reasons for those that could not be withheld. */
export const keepBack = async (adopt: Adoption, rows: readonly NamedRow[], out: Out): Promise<readonly string[]> => {
  const adopted = await adopt(CALLER, rows, NOTE)
  if (!adopted.ok) return [`the lost rows could not be adopted: ${JSON.stringify(adopted.fault)}`]
  const { deployables, placement } = adopted.value
  const failed = deployables.flatMap((one) => report(one, out) ?? [])
  reportCompared(placement, out)
  return failed
}
