/** IMAGE-4: an image store may have another image under the id of the one that a card holds. */
import { beforeEach, expect, test } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import type { Image, ImageFiles, ImageProblem } from '../../src/vocabulary/images.ts'
import { noImage } from '../../src/vocabulary/images.ts'
import { type HostLab, IMAGE, openHostLab } from '../support/hostLab.ts'
import { imageOf } from '../support/images.ts'

let lab: HostLab
let host: Host
let bytes: string
let does: string
let problem: ImageProblem | null
/** A store in which a file may be replaced under its id. */
const images: ImageFiles = {
  open: async (uuid) => ({ found: true, image: now(uuid), path: `/images/${uuid}`, close: () => {} }),
  compare: async (uuid, digest) =>
    problem === null
      ? { found: true, image: now(uuid), isSame: digest && digest.value === now(uuid).digest!.value }
      : noImage(problem),
}
const now = (uuid: string): Image => ({
  ...imageOf(uuid),
  digest: { algorithm: 'sha256', value: bytes.repeat(64) },
  properties: { function_uuid: does },
})
beforeEach(async () => {
  ;[bytes, does, problem] = ['a', 'one', null]
  lab = await openHostLab()
  host = await lab.boot({ options: { images } })
  await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
  await lab.send(lab.order('ReleaseSlot', 2))
})
const last = () => lab.results().at(-1)!.result
const shown = () => {
  const [section] = lab.inventories().at(-1)!.drivers
  return section?.status === 'ok' ? section.devices[0]!.deployables[0]! : expect.fail('not shown')
}
const LOADED = { status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } }
const changes: readonly (readonly [string, () => void])[] = [
  ['other bytes', () => (bytes = 'b')],
  ['another function', () => (does = 'two')],
]

test('what is known of the loaded image is reported with it', () => {
  expect(shown()).toMatchObject({
    bitstreamId: IMAGE,
    bitstream: { digest: `sha256:${'a'.repeat(64)}`, functionId: 'one' },
  })
})
test('an image that is as it was loaded is not loaded again', async () => {
  await lab.send(lab.order('PrepareSlot', 3, { bitstream: IMAGE }))
  expect(last()).toEqual({ status: 'done', bitstreamId: IMAGE })
})
test.each(changes)('an image that has %s under the same id by now is loaded again', async (_, change) => {
  change()
  await lab.send(lab.order('PrepareSlot', 3, { bitstream: IMAGE }))
  expect(last()).toEqual(LOADED)
  expect(shown().bitstream).toEqual({ digest: `sha256:${bytes.repeat(64)}`, functionId: does })
})
test.each(changes)(
  'a slot is not prepared on a card that holds it without %s and must not be written now',
  async (_, change) => {
    change()
    await lab.send(lab.order('PrepareSlot', 3, { expects: IMAGE }))
    expect(last()).toMatchObject({
      status: 'failed',
      final: true,
      reason: expect.stringMatching(/^image_changed: .* as it was before it was replaced in the image store$/),
    })
  },
)
test.each(['corrupt', 'unusable'] as const)('an image that is %s by now is given to nobody', async (why) => {
  problem = why
  await lab.send(lab.order('PrepareSlot', 3, { expects: IMAGE }))
  expect(last()).toMatchObject({ status: 'failed', final: true, reason: expect.stringContaining(`image_${why}: `) })
})
test.each(['unknown', 'unavailable', 'none', 'forbidden'] as const)(
  'while the image is %s in the store, what the card holds is given as before',
  async (why) => {
    problem = why
    await lab.send(lab.order('PrepareSlot', 3, { expects: IMAGE }))
    expect(last()).toEqual({ status: 'done', bitstreamId: IMAGE })
  },
)
test('after a restart of the host program it is still known what was loaded', async () => {
  bytes = 'b'
  await lab.kill(host)
  await lab.boot({ options: { images } })
  await lab.send(lab.order('PrepareSlot', 3, { bitstream: IMAGE }))
  expect(last()).toEqual(LOADED)
})
