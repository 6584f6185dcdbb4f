import { expect, test } from 'vitest'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { resending } from '../../src/cli/observe/watching.ts'
import { ledgerAnswerRecord, orderRecord } from '../../src/wire/message.ts'
import { BOOT, DEPLOYABLE } from '../support/reports.ts'

test('orders that are sent again are counted, answers to hosts are not', async () => {
  const meter = openMeter()
  const head = { host: 'h1', slot: DEPLOYABLE, number: 1, driver: 'd', deployable: 'x', deployableUuid: DEPLOYABLE }
  const order = orderRecord({ type: 'Probe', ...head, deadline: 1 }, 'order', 1)
  const answer = { type: 'LedgerAnswer', host: 'h1', bootId: BOOT, slots: [], last: true } as const
  await resending(async () => {}, meter)([order, ledgerAnswerRecord(answer, 'answer', 1), order])
  expect(await meter.registry.metrics()).toContain('accelerando_orders_resent_total 2')
})
