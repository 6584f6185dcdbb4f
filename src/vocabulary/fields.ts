/** Schemas for fields of JSON from outside: one rule each for names, free text, counts and moments. */
import * as v from 'valibot'
import { brokenText } from './text.ts'

/** The largest integer that a column of the views can hold. */
export const INT_MAX = 2 ** 31 - 1
/** The last moment that a `Date` can represent, ms since the epoch. */
const MOMENT_MAX = 8_640_000_000_000_000

const plain = v.regex(
  /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u,
  // it breaks a rule: the pattern forbids the same characters
  ({ input }) => brokenText(input, { bytes: Number.POSITIVE_INFINITY })!.problem,
)
/** One line without control and invisible format characters. */
export const line = (max: number) => v.pipe(v.string(), v.maxLength(max), plain)
/** As `line`, but not empty. */
export const name = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max), plain)
/** Text of several lines that is kept for people to read. */
export const prose = (max: number) => v.pipe(v.string(), v.maxLength(max))

const COUNT_RULE = `must be a whole number from 0 to ${INT_MAX}`
export const count = v.pipe(
  v.number(),
  v.integer(COUNT_RULE),
  v.minValue(0, COUNT_RULE),
  v.maxValue(INT_MAX, COUNT_RULE),
)
/** A number of a sequence that is not stored in an integer column. */
export const ordinal = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** 32 bytes in base64url, as a public key or a MAC has them. */
export const BYTES_32 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
/**
 * A public key for Ed25519: its 32 bytes in base64url. It is as short as a fingerprint, so no fingerprints are used.
 */
export const publicKey = v.pipe(v.string(), v.regex(BYTES_32, 'must be a public key: 43 characters of base64url'))
/** Milliseconds since the epoch, limited to what a `Date` can represent. */
export const moment = v.pipe(v.number(), v.minValue(0), v.maxValue(MOMENT_MAX))
/** A moment as text, ISO 8601 in UTC, with a year of four digits. */
export const isoMoment = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, 'must be a moment in ISO 8601, in UTC'),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be a moment that exists'),
)
