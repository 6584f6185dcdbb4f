/** The devices that are missing, for the overview: where they were, since when, and under which servers. */
import { type Outcome, allOf, done } from '../../fault.ts'
import { CARDS_SHOWN, type Vanished } from '../../actors/answers/tallied.ts'
import { type Device, device, deviceKey } from '../../actors/device/decider.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { jsonIn } from '../../jsonText.ts'
import { formatPciAddress, pciAddressOf } from '../../pci.ts'
import type { DeviceTally } from '../devices/tallyDevices.ts'
import { everyRowWith } from '../kernel/everyRow.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Of how many missing devices the record is read; where more are missing, a whole rack is. */
const READ_MAX = 256

const placeOf = ({ facts }: Device): string | null => {
  const address = pciAddressOf(jsonIn(facts.controlPath))
  return address && formatPciAddress(address)
}
const sinceOf = ({ missingSince }: Device): number => missingSince ?? 0

export const createVanished = ({ reads, region, guard }: Kernel) => {
  const instances = async (handles: DeviceTally['heldOnMissing']): Promise<Outcome<number>> => {
    const arqs = handles.flatMap(({ arq_uuid: arq }) => arq ?? [])
    const rows = async () => done(await everyRowWith(reads, 'arqs', arqs, (uuid) => ({ uuid })))
    const read: Outcome<readonly Row<'arqs'>[]> = await guard(rows(), 'views', { view: 'arqs' })
    return read.ok ? done(new Set(read.value.flatMap(({ instance_uuid: uuid }) => uuid ?? [])).size) : read
  }
  return async ({ missing, heldOnMissing }: DeviceTally): Promise<Outcome<Vanished>> => {
    const read = await allOf(missing.slice(0, READ_MAX).map(({ uuid }) => region.readCurrent(device, deviceKey(uuid))))
    if (!read.ok) return read
    const servers = await instances(heldOnMissing)
    if (!servers.ok) return servers
    const cards = read.value.map(({ state }) => state).toSorted((one, other) => sinceOf(other) - sinceOf(one))
    const moments = cards.flatMap(({ missingSince }) => missingSince ?? [])
    return done({
      devices: missing.length,
      arqs: heldOnMissing.length,
      instances: servers.value,
      since: moments.length === 0 ? null : Math.min(...moments),
      cards: cards.slice(0, CARDS_SHOWN).map((card) => ({ uuid: card.uuid, host: card.host, place: placeOf(card) })),
    })
  }
}
