/** Builds the web application from the routes. */
import { Hono } from 'hono'
import type { Registry } from 'prom-client'
import type { Control } from '../actors/control.ts'
import type { Events } from '../actors/events.ts'
import { systemClock, systemIds } from '../vocabulary/clock.ts'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import { refuse } from '../vocabulary/fault.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Tracer, untraced } from '../vocabulary/trace.ts'
import { gateOf } from './gate.ts'
import type { Identify } from './identity.ts'
import { observer } from './metrics.ts'
import { mount } from './mount.ts'
import { withDefaults } from './options.ts'
import type { Options } from './options.ts'
import { pathOf } from './paths.ts'
import { readPolicy } from './policy/policy.ts'
import { ROUTES } from './routes/all.ts'
import { SHARES, type Share, type ShareName, placesOf } from '../vocabulary/shares.ts'
import { STREAM_LIMITS, createStreams } from './streams.ts'
import type { StreamLimits } from './streams.ts'
import type { SystemPort } from './system.ts'

export type AppParts = {
  readonly control: Control
  /** Absent: the API offers no events. */
  readonly events?: Events
  readonly options?: Partial<Options>
  readonly log: Log
  readonly metrics?: Registry
  /**
   * Identifies the caller. There is no default, so that nobody serves every caller as an administrator by forgetting
   * it.
   */
  readonly identify: Identify
  readonly ids?: Ids
  readonly clock?: Pick<Clock, 'after' | 'monotonic' | 'now'>
  /** Why the actors cannot be asked at present; null: no problem is known. */
  readonly hindered?: () => string | null
  readonly tracer?: Tracer
  /** Facts about this program for administrators: its version, its store, its neighbours. */
  readonly about?: () => Readonly<Record<string, string>>
  /** Absent: the API tells nothing of the system. */
  readonly system?: SystemPort
  readonly streams?: Partial<StreamLimits>
  /** In place of those of the table. */
  readonly shares?: Partial<Record<ShareName, Share>>
}

const untold = async () =>
  refuse({ kind: 'unavailable', reason: 'this process serves no events', retryAfterSeconds: 60 })
const NO_EVENTS: Events = { open: untold, page: untold }
const silentOfItself = async () =>
  refuse({ kind: 'unavailable', reason: 'this process tells nothing of itself', retryAfterSeconds: 60 })
const NO_SYSTEM: SystemPort = { facts: silentOfItself, supportBundle: silentOfItself }

/** Throws when the policy rules in the options are invalid, or when `identify` is missing. */
export const createApp = (parts: AppParts): Hono => {
  const options = withDefaults(parts.options ?? {})
  if (typeof parts.identify !== 'function') throw new Error('nothing says who is calling: identify is missing')
  const clock = parts.clock ?? systemClock
  const app = new Hono({ getPath: pathOf })
  return mount(app, ROUTES, {
    control: parts.control,
    events: parts.events ?? NO_EVENTS,
    options,
    policy: readPolicy(options.policy),
    gate: gateOf(options),
    identify: parts.identify,
    ids: parts.ids ?? systemIds,
    clock,
    hindered: parts.hindered ?? (() => null),
    about: parts.about ?? (() => ({})),
    system: parts.system ?? NO_SYSTEM,
    log: parts.log,
    observe: parts.metrics === undefined ? null : observer(parts.metrics),
    tracer: parts.tracer ?? untraced,
    streams: createStreams(clock, { ...STREAM_LIMITS, pieceMs: options.answerMs, ...parts.streams }),
    places: placesOf({ ...SHARES, ...parts.shares }),
  })
}
