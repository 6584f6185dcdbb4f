/** Microversions: which one a request means, and what each one changed. */
import type { HttpFault } from './faults.ts'

export const MAJOR = 2
/** The minor version in which each change came. */
export const SINCE = {
  /** `/project_id` as a path in PATCH accelerator_requests. */
  bindProject: 1,
  /** Device profiles are found by name. */
  profileByName: 2,
  /** `status` in devices. */
  deviceStatus: 3,
  /** Opt-in and additive: the UUIDs behind the integer ids. Upstream may give this number another meaning. */
  uuids: 4,
} as const
const LATEST = 3

export const latestMinor = (additive: boolean): number => (additive ? SINCE.uuids : LATEST)

export type Negotiated =
  | { readonly ok: true; readonly minor: number }
  | { readonly ok: false; readonly fault: HttpFault }

const refuse = (reason: string): Negotiated => ({ ok: false, fault: { kind: 'not_acceptable', reason } })

/** Our part of the header: several services may share it, and a bare version is the older form. */
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

/** `max` is the highest minor; an absent header means the lowest. */
export const negotiate = (header: string | undefined, max: number): Negotiated =>
  header === undefined ? { ok: true, minor: 0 } : read(header, max)
