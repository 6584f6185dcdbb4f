/** The programming of deployables: the loaded image, the image being loaded, and the outcome of the last attempt. */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { Control } from '../../actors/control.ts'
import type { Programming } from '../../actors/deployable/programming.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import type { Row } from '../../actors/runtime/views.ts'
import type { Kernel } from '../kernel/kernel.ts'

const PROGRAMMABLE = 'FPGA'
/** The resource class of deployables that may be programmable; those of other classes never are. */
const mayBe = ({ attributes }: Row<'deployables'>): boolean =>
  (attributes as readonly Readonly<Record<string, string>>[]).some(({ rc }) => rc === PROGRAMMABLE)

/** What its host is loading: for an operator, or for a request; null: nothing, as far as is recorded. */
const loading = ({ program, handles, bitstreamId }: Deployable): Programming['running'] => {
  if (program !== null) return { image: program.image, since: program.since }
  const [first] = Object.values(handles).flatMap(({ pending, pendingSince: since }) =>
    // an order for the recorded image most likely only compares the card with it
    pending?.type === 'PrepareSlot' && pending.bitstream !== undefined && pending.bitstream !== bitstreamId
      ? [{ image: pending.bitstream, since }]
      : [],
  )
  return first ?? null
}

export const programmingOf = (held: Deployable): Programming => {
  const { programFault, programmable, bitstreamId, formerImage = null } = held
  const running = loading(held)
  return {
    deployable: held.uuid,
    device: held.deviceUuid,
    host: held.host,
    name: held.name,
    programmable,
    loaded: bitstreamId,
    former: formerImage === bitstreamId ? null : formerImage,
    running,
    failed: running === null ? programFault : null,
  }
}

export const createPrograms = ({
  readers,
  region,
}: Pick<Kernel, 'readers' | 'region'>): Control['deployables']['programming'] => {
  const one = async (row: Row<'deployables'>): Promise<Outcome<Programming>> => {
    const known = await region.readCurrent(deployable, deployableKey(row.uuid))
    if (!known.ok) return known
    return done(programmingOf(known.value.state))
  }
  return async (page) => {
    const listed = await readers.list('deployables', {}, page, {}, mayBe)
    if (!listed.ok) return listed
    const items = await allOf(listed.value.items.map(one))
    return items.ok ? done({ items: items.value, next: listed.value.next }) : items
  }
}
