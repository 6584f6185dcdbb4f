/** Hardware that is in use though nobody has its handle: from the reports of its host to the operator's release. */
import { functionText } from './cards.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { handClock } from '../support/lab.ts'
import { inventoryOf } from '../support/reports.ts'
import { type Cloud, GPU, NOVA, openCloud, value } from './cloud.ts'

const MINUTE = 60_000
let [clock, cloud]: [ReturnType<typeof handClock>, Cloud] = [handClock(), undefined as never]
beforeEach(async () => {
  clock = handClock()
  cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, { clock, options: { sweepEveryMs: 24 * 60 * MINUTE } })
})
afterEach(() => Promise.all([cloud.stop(), clock.pass(24 * 60 * MINUTE)]))

const BOOT = 'b0a79999-0000-4000-8000-0000000000b0'
let number = 0
/** As a host of GPUs, which need no work on it; the first handle of its first device is in use. */
const report = async (used: boolean) => {
  const devices = await cloud.discovered('h1', GPU)
  const [{ info }] = devices[0]!.deployables[0]!.handles as [(typeof devices)[0]['deployables'][0]['handles'][0]]
  const inUse = used ? [{ function: functionText(info), by: 'a process has opened it through vfio-pci' }] : []
  const drivers = [{ driver: 'simulated_driver', status: 'ok' as const, devices }]
  const shown = inventoryOf('h1', ++number, { bootId: BOOT, drivers, slots: { prepared: [], inUse } })
  value(await cloud.plane.reports.take(shown, `${BOOT}/${number}`))
}
const minutes = async (...uses: readonly boolean[]) => {
  for (const used of uses) {
    await report(used)
    await clock.pass(MINUTE)
  }
}
const withheld = async () => {
  const found = (await cloud.handles()).filter(({ state }) => state === 'quarantined')
  return Promise.all(found.map(async ({ uuid }) => value(await cloud.control.handles.get(NOVA, uuid))))
}

test('FOREIGN-1 FOREIGN-2 it is withheld after two minutes, with the reason, and stays so when the use ends', async () => {
  await minutes(true, true)
  expect(await withheld()).toEqual([])
  await minutes(true, false, false)
  const [one, ...others] = await withheld()
  expect(others).toEqual([])
  expect(one!.quarantine).toMatchObject({
    by: 'comparison with the host',
    reason: expect.stringContaining('through vfio-pci'),
  })
  const lastAt = { slotDifferences: expect.any(Number) }
  expect(cloud.plane.counts()).toMatchObject({ slotDifferences: { in_use: 1 }, lastAt })
})
test('an operator releases it at once: nothing has to be undone on the host. If it is still in use, it is withheld again', async () => {
  await minutes(true, true, true)
  const [one] = await withheld()
  value(await cloud.control.handles.release(NOVA, one!.uuid, { by: 'op', reason: 'the process has ended' }))
  expect(await withheld()).toEqual([])
  expect(await cloud.pending()).toEqual([])
  await minutes(true, true)
  expect(await withheld()).toEqual([])
  await minutes(true)
  expect(await withheld()).toHaveLength(1)
})
test('a guest that has the handle uses its hardware, and so does one that is just ending', async () => {
  const [one, other] = [await cloud.start(), await cloud.start()]
  await minutes(true, true, true)
  expect(await cloud.states([one.arq, other.arq])).toEqual(['Bound', 'Bound'])
  value(await cloud.control.arqs.unbind(NOVA, [one.arq, other.arq]))
  await minutes(true, false, true, true)
  expect(await withheld()).toEqual([])
})
test('it is not given to anybody while it is withheld', async () => {
  await minutes(true, true, true)
  value(await cloud.control.arqs.bind(NOVA, [cloud.bindingOf((await cloud.create())[0]!, BOOT)]))
  const refused = await cloud.bind(await cloud.create(), 'b0a79999-0000-4000-8000-0000000000b1')
  expect(refused).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
})
