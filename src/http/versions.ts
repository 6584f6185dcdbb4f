/** Microversions: how a request selects one, and the changes that each one made. */
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
  /** Opt-in and additive: device profiles have versions, and are shared with projects. */
  profileVersions: 5,
} as const
const LATEST = 3
/** The highest minor version when the opt-in versions are offered. */
const ADDITIVE = SINCE.profileVersions
export type Latest = typeof LATEST | typeof ADDITIVE

export const latestMinor = (additive: boolean): Latest => (additive ? ADDITIVE : LATEST)

export type Negotiated =
  | { readonly ok: true; readonly minor: number }
  | { readonly ok: false; readonly fault: HttpFault }

const refuse = (reason: string): Negotiated => ({ ok: false, fault: { kind: 'not_acceptable', reason } })

/**
 * The part of the header for this service. Several services may share the header, and a bare version is the older
 * form.
 */
const ours = (header: string): string | undefined =>
  header
    .split(',')
    .map((part) => part.trim())
    .findLast((part) => !/\s/.test(part) || /^accelerator\s/i.test(part))
    ?.replace(/accelerator\s+/i, '')

/** What the part for `accelerando` asks for, by `latest` or a version. No other service has this name. */
const ADDITIONS = /^accelerando[ \t]+(?:latest|2\.(\d))$/i
/**
 * The additions of the opt-in versions that the request asks for by the name of this product, the highest of several;
 * 0: none. Upstream may give the numbers after 2.3 another meaning, so they are offered under its name only where an
 * operator wants that; console and commands ask by this name, and need no setting.
 */
export const additionsAsked = (header: string | undefined): number => {
  const asked = (header ?? '').split(',').flatMap((part) => {
    const found = ADDITIONS.exec(part.trim())
    return found === null ? [] : [Number(found[1] ?? ADDITIVE)]
  })
  return Math.min(ADDITIVE, Math.max(0, ...asked))
}

const BLANKS = '[ \\t]*'
const SERVICE = '[Aa][Cc][Cc][Ee][Ll][Ee][Rr][Aa][Tt][Oo][Rr][ \\t]+'
/** The part for another service: at least two words of printable ASCII. */
const OTHER = `${BLANKS}(?!${SERVICE})[!-+.-~-]+[ \\t]+[!-+.-~-][ -+.-~\\t-]*`

/**
 * The blanks are said by what may not stand there: Schemathesis, which writes headers of letters and digits, sends the
 * example of the description only where it does not see that none of its own can fit.
 */
const ADDED = '[Aa][Cc][Cc][Ee][Ll][Ee][Rr][Aa][Nn][Dd][Oo][^\\x00-\\x08\\x0a-\\x1f!-\\xff]+'
const OTHERS = `(?:,${OTHER})*`
/** The parts before that of this service are not checked. */
const BEFORE = '(?:[ -+.-~\\t-]*,)*'

/**
 * A regular expression that matches every valid header. `max` is the highest supported minor version; `min`: the lowest
 * that has the operation, by its number or by the name of this product.
 */
export const versionPattern = (max: Latest, min = 0): string => {
  const own = (from: number) => {
    const minors = Array.from({ length: max - from + 1 }, (_, above) => from + above).join('|')
    return `${BEFORE}${BLANKS}(?:${SERVICE})?(?:latest|${MAJOR}\\.(?:${minors}))${BLANKS}${OTHERS}`
  }
  if (min === 0) return `^(?:${own(0)}|${OTHER}${OTHERS})$`
  const added = `${BLANKS}${ADDED}(?:[Ll][Aa][Tt][Ee][Ss][Tt]|${MAJOR}\\.[${min}-9])${BLANKS}`
  const byName = [`(?:${OTHER},)*${added}${OTHERS}`, `${BEFORE}${added},${own(0)}`, `${own(0)},${added}${OTHERS}`]
  return `^(?:${[...(min <= max ? [own(min)] : []), ...byName].join('|')})$`
}

/** Why a header that does not match the pattern is invalid. */
const reasonOf = (asked: string, max: Latest): string => {
  const range = `[${MAJOR}.0, ${MAJOR}.${max}]`
  const shown = asked.slice(0, 40)
  if (PATTERNS.get(max)!.test(asked))
    return `The header is not a list of services and versions in ASCII; the supported range is ${range}.`
  const major = /^(0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/.exec(asked)?.[1]
  if (major === undefined) return `"${shown}" is not a version; the supported range is ${range}.`
  return Number(major) === MAJOR
    ? `Version ${shown} is not supported; the supported range is ${range}.`
    : `Version ${shown} has another major number; the supported range is ${range}.`
}

const PATTERNS: ReadonlyMap<Latest, RegExp> = new Map(
  ([LATEST, ADDITIVE] as const).map((max) => [max, new RegExp(versionPattern(max))]),
)

const read = (header: string, max: Latest): Negotiated => {
  const asked = ours(header)
  if (!PATTERNS.get(max)!.test(header)) return refuse(reasonOf(asked ?? header, max))
  if (asked === undefined) return { ok: true, minor: 0 }
  return { ok: true, minor: asked === 'latest' ? max : Number(asked.slice(`${MAJOR}.`.length)) }
}

/** `max` is the highest supported minor version. Without the header the lowest version is used. */
export const negotiate = (header: string | undefined, max: Latest): Negotiated =>
  header === undefined ? { ok: true, minor: 0 } : read(header, max)
