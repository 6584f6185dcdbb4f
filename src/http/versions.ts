/** Microversions: how a request selects one, and what each one changed. */
import type { HttpFault } from './faults.ts'

export const MAJOR = 2
/** The minor version that introduced each change. */
export const SINCE = {
  /** `/project_id` as a path in PATCH accelerator_requests. */
  bindProject: 1,
  /** Device profiles can be addressed by name. */
  profileByName: 2,
  /** Devices show `status`. */
  deviceStatus: 3,
  /** Opt-in and additive: shows UUIDs beside the integer ids. Upstream may give this version number another meaning. */
  uuids: 4,
} as const
const LATEST = 3

export const latestMinor = (additive: boolean): number => (additive ? SINCE.uuids : LATEST)

export type Negotiated =
  | { readonly ok: true; readonly minor: number }
  | { readonly ok: false; readonly fault: HttpFault }

const refuse = (reason: string): Negotiated => ({ ok: false, fault: { kind: 'not_acceptable', reason } })

/**
 * The value for this service in the header. Several services may share the header, and a bare version is the older
 * form.
 */
const ours = (header: string): string | undefined =>
  header
    .split(',')
    .map((part) => part.trim())
    .findLast((part) => !/\s/.test(part) || /^accelerator\s/i.test(part))
    ?.replace(/^accelerator\s+/i, '')

const read = (header: string, max: number): Negotiated => {
  const range = `[${MAJOR}.0, ${MAJOR}.${max}]`
  const asked = ours(header)
  if (asked === undefined) return { ok: true, minor: 0 }
  if (asked === 'latest') return { ok: true, minor: max }
  const shown = asked.slice(0, 40)
  const parts = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/.exec(asked)
  if (parts === null) return refuse(`"${shown}" is not a version; the supported range is ${range}.`)
  if (Number(parts[1]) !== MAJOR)
    return refuse(`Version ${shown} has another major number; the supported range is ${range}.`)
  const minor = Number(parts[2])
  return minor <= max
    ? { ok: true, minor }
    : refuse(`Version ${shown} is not supported; the supported range is ${range}.`)
}

/** `max` is the highest supported minor version. Without the header the lowest version is used. */
export const negotiate = (header: string | undefined, max: number): Negotiated =>
  header === undefined ? { ok: true, minor: 0 } : read(header, max)
