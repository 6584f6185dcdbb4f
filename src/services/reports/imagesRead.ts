/**
 * Records the image that a card holds, once its host has confirmed that it differs from the recorded image (COMPARE-1,
 * IMAGE-1).
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { ImageDifference } from '../../actors/inventory/imageDifferences.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'

const CAUSE = { by: 'comparison of images' } as const

export const recordImage = async (kernel: Kernel, host: HostName, found: ImageDifference): Promise<void> => {
  const { region, counts, log } = kernel
  const { deployable: uuid, image, mark, recorded } = found
  const key = deployableKey(uuid)
  const work = newWork(kernel, CAUSE, (draft) => {
    const isRead = draft.decide(deployable, key, { type: 'ReadImage', image, mark }).length > 0
    const handles = isRead ? Object.values(draft.state(deployable, key).handles) : []
    return isRead ? handles.flatMap(({ state, arq }) => (state === 'held' && arq !== null ? [arq] : [])) : null
  })
  const marked = await region.tell(key, work)
  const about = { host, deployable: uuid, recorded, image }
  if (!marked.ok) return log.warn({ ...about, fault: marked.fault }, 'image.unrecorded')
  if (marked.value === null) return
  counts.imagesRead++
  // requests that use the card stay bound, although their guests may now have another function than requested
  log.warn({ ...about, heldBy: marked.value.slice(0, 10) }, 'image.read')
}
