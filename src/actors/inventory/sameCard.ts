/** Decides whether a reported device is the same card as a device that has left. Pure. */
import type { ReportedDevice } from '../../hardware.ts'
import type { DeviceFacts } from '../device/decider.ts'

/** Members of the board information that distinguish cards of the same vendor and model. */
const MARKS = ['product_id', 'device_id', 'serial'] as const
const membersOf = (text: string | null): Readonly<Record<string, unknown>> => {
  try {
    return { ...(JSON.parse(text ?? '{}') as object) }
  } catch {
    return {}
  }
}
const marksOf = ({ stdBoardInfo, vendorBoardInfo }: Pick<DeviceFacts, 'stdBoardInfo' | 'vendorBoardInfo'>) => ({
  ...membersOf(vendorBoardInfo),
  ...membersOf(stdBoardInfo),
})

/**
 * A card stays the same if its driver, type or other text changes, but not if its vendor, model or serial number
 * changes.
 */
export const isSameCard = (was: DeviceFacts, is: ReportedDevice): boolean => {
  const [before, after] = [marksOf(was), marksOf(is)]
  return (
    was.vendor === is.vendor &&
    was.model === is.model &&
    MARKS.every((mark) => !(mark in before && mark in after) || before[mark] === after[mark])
  )
}
