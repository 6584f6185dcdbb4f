/** The devices of one bad state, for the overview: where they are, since when, and under which servers. */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import { CARDS_SHOWN, type Faulty } from '../../actors/answers/tallied.ts'
import { type Device, device, deviceKey } from '../../actors/device/decider.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import type { FaultyRows } from '../devices/tallyDevices.ts'
import { everyRowWith } from '../kernel/everyRow.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Of how many devices the record is read; where more are missing, a whole rack is. */
const READ_MAX = 256

const placeOf = ({ facts }: Device): string | null => {
  const address = pciAddressOf(jsonIn(facts.controlPath))
  return address && formatPciAddress(address)
}
/** Since when a device is in the state that is counted; undefined: that was not recorded. */
type Since = (device: Device) => number | undefined

export const createFaulty = ({ reads, region, guard }: Kernel) => {
  const instances = async (handles: readonly Row<'handles'>[]): Promise<Outcome<number>> => {
    const arqs = handles.flatMap(({ arq_uuid: arq }) => arq ?? [])
    const rows = async () => done(await everyRowWith(reads, 'arqs', arqs, (uuid) => ({ uuid })))
    const read: Outcome<readonly Row<'arqs'>[]> = await guard(rows(), 'views', { view: 'arqs' })
    return read.ok ? done(new Set(read.value.flatMap(({ instance_uuid: uuid }) => uuid ?? [])).size) : read
  }
  return async ({ devices, held, heldDevices }: FaultyRows, sinceOf: Since): Promise<Outcome<Faulty>> => {
    const isHeld = ({ uuid }: { readonly uuid: string | null }): number =>
      Number(uuid !== null && heldDevices.has(uuid))
    const first = devices.toSorted((one, other) => isHeld(other) - isHeld(one)).slice(0, READ_MAX)
    const read = await allOf(first.map(({ uuid }) => region.readCurrent(device, deviceKey(uuid))))
    if (!read.ok) return read
    const servers = await instances(held)
    if (!servers.ok) return servers
    const cards = read.value
      .map(({ state }) => state)
      .toSorted((one, other) => isHeld(other) - isHeld(one) || (sinceOf(other) ?? 0) - (sinceOf(one) ?? 0))
    const moments = cards.flatMap((card) => sinceOf(card) ?? [])
    return done({
      devices: devices.length,
      arqs: held.length,
      instances: servers.value,
      since: moments.length === 0 ? null : Math.min(...moments),
      cards: cards.slice(0, CARDS_SHOWN).map((card) => ({ uuid: card.uuid, host: card.host, place: placeOf(card) })),
    })
  }
}
