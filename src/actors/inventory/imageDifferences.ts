/** Finds where the images that a host reports for its cards differ from the recorded ones. Pure. */
import type { DeployableUuid, ImageUuid } from '../../vocabulary/identifiers.ts'
import { storable } from '../../vocabulary/text.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { imageMark, isUnsettled } from '../deployable/image.ts'
import { type Deployable, localNameOf } from '../deployable/state.ts'

/** `image` null: the card holds no image that its driver knows. */
export type ImageDifference = {
  readonly deployable: DeployableUuid
  readonly mark: string
  readonly image: ImageUuid | null
  readonly recorded: ImageUuid | null
}
export type ImageDifferences = {
  readonly differences: readonly ImageDifference[]
  /** The host may be writing a card at the moment: when that has ended, the same report may show a difference. */
  readonly undecided: boolean
}

/** The reported image of each deployable, by driver and name. Devices that cannot be used yet report none. */
const shownIn = ({ drivers }: Pick<InventoryReport, 'drivers'>): ReadonlyMap<string, string | null> =>
  new Map(
    drivers.flatMap((section) =>
      (section.status === 'ok' ? section.devices : [])
        .filter(({ stub }) => !stub)
        .flatMap(({ deployables }) => deployables)
        .map(({ name, bitstreamId }) => [keyOf(section.driver, name), bitstreamId ?? null] as const),
    ),
  )
const keyOf = (driver: string, name: string): string => `${driver} ${name}`

export const imageDifferences = (
  report: Pick<InventoryReport, 'drivers'>,
  deployables: readonly Deployable[],
): ImageDifferences => {
  const shown = shownIn(report)
  const differing = deployables.filter((held) => {
    const { driver, presence, bitstreamId } = held
    const image = shown.get(keyOf(driver, localNameOf(held)))
    // an image text that no store accepts is refused together with its device
    const isThere = presence === 'present' && image !== undefined && (image === null || image === storable(image))
    return isThere && image !== bitstreamId
  })
  return {
    differences: differing
      .filter((held) => !isUnsettled(held))
      .map((held) => ({
        deployable: held.uuid,
        mark: imageMark(held),
        image: shown.get(keyOf(held.driver, localNameOf(held)))!,
        recorded: held.bitstreamId,
      })),
    undecided: differing.some(isUnsettled),
  }
}
