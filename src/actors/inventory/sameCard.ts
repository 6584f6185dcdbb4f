/** Whether a device that is reported is the card that a departed device was. Pure. */
import type { ReportedDevice } from '../../hardware.ts'
import type { DeviceFacts } from '../device/decider.ts'

/** Members of board information that tell cards apart where vendor and model do not. */
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

/** Another driver, type or other text does not make it another card; another vendor, model or serial number does. */
export const isSameCard = (was: DeviceFacts, is: ReportedDevice): boolean => {
  const [before, after] = [marksOf(was), marksOf(is)]
  return (
    was.vendor === is.vendor &&
    was.model === is.model &&
    MARKS.every((mark) => !(mark in before && mark in after) || before[mark] === after[mark])
  )
}
