/**
 * A card that was taken out and put back, wherever, is the same device (data-model 11.4): a host never has two devices
 * with one serial number or, where cards have none and stay where they are, with one control path.
 */
import type { DeviceEvent } from '../../src/actors/device/decider.ts'
import type { Evidence, Violation } from '../../src/audit/evidence.ts'
import { jsonIn } from '../../src/vocabulary/jsonText.ts'
import { canonicalInfo } from '../../src/vocabulary/pci.ts'
import { membersOf } from '../../src/vocabulary/record.ts'

const NAME = 'data-model 11.4'
const MEANING = 'a device that returns keeps its UUID, and with it what an operator decided of it'

export const recordedTwice = ({ journal }: Pick<Evidence, 'journal'>): readonly Violation[] => {
  const known = new Map<string, string>()
  const found: Violation[] = []
  for (const { key, events } of journal)
    for (const event of events as readonly DeviceEvent[]) {
      if (event.type !== 'DeviceRecorded') continue
      const { controlPath, vendorBoardInfo } = event.facts
      const serial = membersOf(jsonIn(vendorBoardInfo ?? ''))['serial']
      const place = `${event.identity.host} ${typeof serial === 'string' ? serial : canonicalInfo(controlPath)}`
      const other = known.get(place)
      if (other)
        found.push({
          invariant: NAME,
          meaning: MEANING,
          found: `${key} is recorded at ${place}, as ${other} was`,
          proof: [],
        })
      known.set(place, key)
    }
  return found
}
