/** A card that one control has seen divided, and another has bound while it was whole. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ReportedDeployable, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { Store } from '../../src/persistence/store.ts'
import { catalogueOf } from '../support/images.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { onStoresOfSeveral } from '../support/storeOfSeveral.ts'
import { card, inventoryOf, part, slot } from './cards.ts'

const node = (name: string, ...functions: readonly number[]): ReportedDeployable => ({
  ...part(name, { handles: functions.map((fn) => ({ type: 'PCI', info: slot(0x3b, fn) })) }),
  numAccelerators: 1,
})
const WHOLE: ReportedDevice = card(0x3b, { deployables: [node('h1_r', 0)] })
const DIVIDED: ReportedDevice = card(0x3b, {
  deployables: [node('h1_r'), { ...node('h1_leaf', 1), parent: 'h1_r', attributes: [] }],
})
const FPGA = { 'resources:FPGA': '1' }
const IMAGE = { 'accel:bitstream_id': '90000000-0000-4000-8000-00000000000b' }

/** Each call opens the store of one more control. */
const tryOn = async (open: () => Promise<Store>) => {
  const planes = [
    await openPlane({ images: catalogueOf() }, await open(), 'at once'),
    await openPlane({ images: catalogueOf() }, await open(), 'at once'),
  ] as const
  const [first, second] = planes
  const seen = inventoryOf(first)
  value(await first.control.profiles.create(NOVA, { name: 'f', description: null, groups: [FPGA] }))
  value(
    await first.control.profiles.create(NOVA, { name: 'other', description: null, groups: [{ ...FPGA, ...IMAGE }] }),
  )
  await seen.shows(WHOLE)
  const rpUuid = (await seen.deployables())[0]!.rp_uuid!
  const bind = async ({ control }: (typeof planes)[number], profile: string) => {
    const [arq] = value(await control.arqs.create(TENANT, profile))
    const one = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rpUuid, instanceUuid: randomUUID() }
    const bound = await control.arqs.bind(NOVA, [one])
    return { bound, free: async () => value(await control.arqs.removeByInstance(NOVA, one.instanceUuid)) }
  }
  await (await bind(second, 'f')).free()
  await seen.shows(DIVIDED)
  const used = await bind(first, 'f')
  value(used.bound)
  await seen.shows(WHOLE)
  const refused = (await bind(second, 'other')).bound
  await used.free()
  const accepted = (await bind(second, 'other')).bound
  for (const { plane, store } of planes) {
    await plane.stop()
    await store.close()
  }
  return { refused, accepted }
}
const REASON = 'deployable h1_r: another request uses a part of it, so it cannot be programmed now'
const EXPECTED = {
  refused: { ok: false, fault: { kind: 'conflict', reason: REASON } },
  accepted: { ok: true },
}

onStoresOfSeveral((withStores) => {
  it('is not programmed by the other one while a request uses its part', async () => {
    expect(await withStores(tryOn)).toMatchObject(EXPECTED)
  })
})
