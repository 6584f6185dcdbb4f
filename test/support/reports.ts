/** Discovery reports like those of a host, for tests. */
import type { Measurements } from '../../src/wire/measurements.ts'
import type { Heartbeat, InventoryReport, OrderResult } from '../../src/wire/reports.ts'

export const BOOT = '6a1c7f0e-54f1-4e33-8d6b-0d7f7f9f0001'
export const SLOT = '6a1c7f0e-54f1-4e33-8d6b-0d7f7f9f0002'
export const DEPLOYABLE = '6a1c7f0e-54f1-4e33-8d6b-0d7f7f9f0003'

export const inventoryOf = (host: string, number: number, more: Partial<InventoryReport> = {}): InventoryReport => ({
  type: 'Inventory',
  host,
  bootId: BOOT,
  number,
  observedAt: 1000 + number,
  version: '0.1.0',
  aliases: [host],
  drivers: [{ driver: 'fake_driver', status: 'ok', devices: [] }],
  ...more,
})
export const resultOf = (host: string, number: number, more: Partial<OrderResult> = {}): OrderResult => ({
  type: 'OrderResult',
  host,
  bootId: BOOT,
  order: 'PrepareSlot',
  slot: SLOT,
  deployableUuid: DEPLOYABLE,
  number,
  startedAt: 1,
  finishedAt: 2,
  result: { status: 'done' },
  ...more,
})
export const heartbeatOf = (host: string): Heartbeat => ({
  type: 'Heartbeat',
  host,
  bootId: BOOT,
  observedAt: 1,
  status: { drivers: { fake_driver: 'ok' }, ordersInHand: 0, resultsWaiting: 0 },
})
/** A driver with one device: bad when `n` is above 1, and the hotter the higher `n`. */
export const readingOf = (n: number): Measurements => ({
  driver: 'd',
  at: 1,
  devices: [
    {
      controlPath: '{}',
      health: n > 1 ? 'bad' : 'ok',
      reasons: [],
      numbers: { temperature_celsius: 40 + n, other: 9 },
    },
  ],
})
