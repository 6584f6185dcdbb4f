/** The default intervals and time limits of a host program. */
import { DAY_MS } from '../vocabulary/clock.ts'
import type { Limits } from './orders.ts'

export const DEFAULTS = {
  /** The release of the program, as reports name it. */
  version: 'unknown',
  reportEveryMs: 60_000,
  heartbeatEveryMs: 5000,
  discoverMs: 30_000,
  /** Devices are measured this often; 0: not at all. */
  measureEveryMs: 30_000,
  measureMs: 10_000,
  /** A slot is forgotten when it had no order for this long and the hardware no longer shows it. */
  ledgerKeepMs: 7 * DAY_MS,
  /** An orderly stop waits this long for orders in hand. */
  stopWaitMs: 5000,
  limits: {
    PrepareSlotMs: 60_000,
    ReleaseSlotMs: 60_000,
    // below the deadline that a control gives a programming (`program.deadline_seconds`)
    ProgramMs: 540_000,
    ProbeMs: 60_000,
    graceMs: 5000,
    inHandMax: 1024,
  } satisfies Limits,
}
