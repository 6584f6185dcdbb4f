/**
 * Limits how much a host may make known in an hour: each device and deployable adds rows to the journal, and a host
 * that shows others each time would fill it and hold up the reports of all hosts.
 *
 * NEW-DEVICES-1 within an hour a host adds at most `ATLEAST` deployables, of which a device without any counts as one,
 *    or as many as devices were recorded of it when the hour began. Those that return do not count: a driver may lose
 *    all of a host for a moment;
 * NEW-DEVICES-2 the first inventory of a host is recorded whole: its size is limited by that of a message;
 * NEW-DEVICES-3 each control counts for itself and begins again when it is started.
 */
import type { Clock } from '../../clock.ts'
import type { HostName } from '../../identifiers.ts'

const HOUR_MS = 3_600_000
export const ATLEAST = 2048
/** Hosts that are remembered; the oldest are forgotten first. */
const HOSTS_MAX = 10_000

export type NewDevices = {
  /** How many deployables the host may add now, if `recorded` devices are known of it. */
  readonly left: (host: HostName, recorded: number) => number
  readonly add: (host: HostName, recorded: number, count: number) => void
}

export const createNewDevices = (clock: Pick<Clock, 'monotonic'>): NewDevices => {
  const hours = new Map<HostName, { readonly until: number; left: number }>()
  const hourOf = (host: HostName, recorded: number) => {
    const known = hours.get(host)
    if (known !== undefined && clock.monotonic() < known.until) return known
    hours.delete(host)
    const hour = { until: clock.monotonic() + HOUR_MS, left: Math.max(ATLEAST, recorded) }
    hours.set(host, hour)
    for (const oldest of hours.keys()) {
      if (hours.size <= HOSTS_MAX) break
      hours.delete(oldest)
    }
    return hour
  }
  return {
    left: (host, recorded) => (recorded === 0 && !hours.has(host) ? Infinity : hourOf(host, recorded).left),
    add: (host, recorded, count) => {
      if (count === 0) return
      const isFirst = recorded === 0 && !hours.has(host)
      const hour = hourOf(host, recorded)
      if (!isFirst) hour.left -= count
    },
  }
}
