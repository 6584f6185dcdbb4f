/**
 * Limits how much a host may make known in an hour: each device and deployable adds rows to the journal, and a host
 * that shows others each time would fill it and hold up the reports of all hosts.
 *
 * NEW-DEVICES-1 within an hour a host adds at most `ATLEAST` deployables, of which a device without any counts as one,
 *    or as many as devices were recorded of it when the hour began. Those that return do not count: a driver may lose
 *    all of a host for a moment;
 * NEW-DEVICES-2 the first inventory of a host is recorded whole: its size is limited by that of a message;
 * NEW-DEVICES-3 each control counts for itself and begins again when it is started;
 * NEW-DEVICES-4 devices that are known are described otherwise, or come back, at most `CHANGES_ATLEAST` times within an
 *    hour, or `CHANGES_OF_ONE` times as many as were recorded. What goes is always recorded, because it must not be
 *    given to anybody.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'

const HOUR_MS = 3_600_000
export const ATLEAST = 2048
export const CHANGES_ATLEAST = 8192
const CHANGES_OF_ONE = 32
/** Hosts that are remembered; the oldest are forgotten first. */
const HOSTS_MAX = 10_000

export type NewDevices = {
  /** How many deployables the host may add now, if `recorded` devices are known of it. */
  readonly left: (host: HostName, recorded: number) => number
  /** How many of its known devices the host may describe otherwise now. */
  readonly changesLeft: (host: HostName, recorded: number) => number
  readonly add: (host: HostName, recorded: number, added: number, changes: number) => void
}

export const createNewDevices = (clock: Pick<Clock, 'monotonic'>): NewDevices => {
  const hours = new Map<HostName, { readonly until: number; left: number; changes: number }>()
  const hourOf = (host: HostName, recorded: number) => {
    const known = hours.get(host)
    if (known !== undefined && clock.monotonic() < known.until) return known
    hours.delete(host)
    const changes = Math.max(CHANGES_ATLEAST, CHANGES_OF_ONE * recorded)
    const hour = { until: clock.monotonic() + HOUR_MS, left: Math.max(ATLEAST, recorded), changes }
    hours.set(host, hour)
    for (const oldest of hours.keys()) {
      if (hours.size <= HOSTS_MAX) break
      hours.delete(oldest)
    }
    return hour
  }
  return {
    left: (host, recorded) => (recorded === 0 && !hours.has(host) ? Infinity : hourOf(host, recorded).left),
    changesLeft: (host, recorded) => (recorded === 0 && !hours.has(host) ? Infinity : hourOf(host, recorded).changes),
    add: (host, recorded, added, changes) => {
      if (added === 0 && changes === 0) return
      const isFirst = recorded === 0 && !hours.has(host)
      const hour = hourOf(host, recorded)
      if (!isFirst) hour.left -= added
      hour.changes -= changes
    },
  }
}
