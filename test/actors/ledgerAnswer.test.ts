/** What a control answers a host that has no ledger. */
import { expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { type BusRecord } from '../../src/wire/envelope.ts'
import { readToHost } from '../../src/wire/message.ts'
import type { LedgerAnswer } from '../../src/wire/orders.ts'
import { newPrivateKey, signerFrom } from '../../src/wire/signature.ts'
import { inventoryOf } from '../support/reports.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { signerOf } from '../support/keys.ts'

const CLUSTER = '0a11ce00-0000-4000-8000-000000000001'
const open = async () => {
  const sent: BusRecord[] = []
  const publish = async (records: readonly BusRecord[]) => void sent.push(...records)
  const w = await openPlane(
    { publish, cloud: { id: CLUSTER, signer: signerFrom(newPrivateKey()) } },
    undefined,
    'when told',
  )
  const plan = { seed: 1, devices: [{ kind: 'fpga', handles: 3 }] } as const
  await w.shows('h1', plan)
  value(await w.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  const place = value(await w.control.deployables.list({}, {})).items[0]!
  const bind = async () => {
    const [made] = value(await w.control.arqs.create(NOVA, 'f'))
    const target = { arq: made!.uuid, hostname: 'h1', deviceRpUuid: place.rp_uuid!, instanceUuid: systemIds.uuid() }
    value(await w.control.arqs.bind(NOVA, [target]))
    await w.pump()
    return { arq: made!.uuid, order: w.orders.at(-1)! }
  }
  const devices = await w.discovered('h1', plan)
  const bootId = systemIds.uuid()
  let number = 0
  const ask = async (more: object = {}) => {
    const drivers = [{ driver: 'simulated_driver', status: 'ok' as const, devices }]
    const report = inventoryOf('h1', ++number, { bootId, bootNumber: 1000, drivers, ledger: 'new', ...more })
    value(await w.plane.reports.take(report, `${bootId}/${report.number}`, signerOf('h1').publicKey))
    const answers = sent.splice(0).map((record) => ({ record, message: readToHost(record) }))
    return answers.flatMap(({ record, message }) =>
      message.ok && message.value.body.type === 'LedgerAnswer' ? [{ record, body: message.value.body }] : [],
    )
  }
  return { w, bind, ask, bootId }
}
const slots = (answers: readonly { readonly body: LedgerAnswer }[]) => answers.flatMap(({ body }) => body.slots)

test('nothing is prepared: one empty answer, sealed for the start that asked', async () => {
  const { ask, bootId } = await open()
  const [one, ...others] = await ask()
  expect(others).toEqual([])
  expect(one!.body).toEqual({ type: 'LedgerAnswer', host: 'h1', bootId, slots: [], last: true })
  expect(one!.record.headers).toMatchObject({ cluster: CLUSTER, boot: '1000' })
})
test('what is held is named with its last number; an order without an answer can still be carried out', async () => {
  const { w, bind, ask } = await open()
  const first = await bind()
  await w.answer(first.order)
  const second = await bind()
  const answer = slots(await ask())
  expect(answer.map(({ slot, number, arq, pending = null }) => ({ slot, number, arq, pending }))).toEqual([
    { slot: first.order.slot, number: second.order.number, arq: first.arq, pending: null },
    { slot: second.order.slot, number: second.order.number, arq: second.arq, pending: 'PrepareSlot' },
  ])
})
test('a host that has its ledger is not told anything, and a report that comes twice is answered twice', async () => {
  const { ask } = await open()
  expect(await ask({ ledger: undefined })).toEqual([])
  expect(await ask()).toHaveLength(1)
  expect(await ask({ number: 2 })).toHaveLength(1)
})
test('a start that is over is not answered', async () => {
  const { ask, w } = await open()
  await ask()
  await w.report('h1', [], systemIds.uuid())
  expect(await ask()).toEqual([])
})
