/** An entry of a ledger as tests need it. */
import type { Entry } from '../../src/host/entry.ts'

/** A preparation that is done, and whose result was sent. */
export const ledgerEntry = (slot: string, number: number, more: Partial<Entry> = {}): Entry => ({
  slot,
  number,
  type: 'PrepareSlot',
  driver: 'fake_driver',
  deployable: 'h1_d0',
  deployableUuid: 'u',
  handle: '{}',
  state: 'done',
  startedAt: 1,
  finishedAt: 2,
  result: { status: 'done' },
  sent: true,
  ...more,
})
