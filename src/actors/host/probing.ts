/**
 * Decides when a host is asked for a report at once, and which report answers. Pure.
 *
 * PROBING-1 a host is asked at most once in `ASKED_EVERY_MS`, whoever asks and whichever control is asked, so that
 *    nobody can keep it busy with looking at its hardware. Clocks of controls may differ by `AHEAD_MAX_MS`: a later
 *    question counts as one of a wrong clock, and does not keep the host from being asked;
 * PROBING-2 the answer is the first report that names the question. Nothing else of a host says that it has answered.
 */
import { type Refused, refuse } from '../../vocabulary/fault.ts'
import type { BootId, HostName } from '../../vocabulary/identifiers.ts'

export const ASKED_EVERY_MS = 10_000
export const AHEAD_MAX_MS = 3_600_000

type Answer = {
  /** Number of the report among those of its start of the host. */
  readonly number: number
  /** How many devices it shows. */
  readonly devices: number
  /** The drivers that could not look at their devices. */
  readonly failed: readonly string[]
}
/** The last question to a host, and its answer. Moments are ms since the epoch. */
export type Probe = {
  readonly id: string
  readonly by: string
  readonly at: number
  /** The start of the host that was asked. */
  readonly bootId: BootId
  readonly answer: (Answer & { readonly at: number }) | null
}
export type ProbeChange =
  | { readonly did: 'asked'; readonly id: string; readonly bootId: BootId }
  | ({ readonly did: 'answered'; readonly id: string } & Answer)
export type ProbeCommand =
  | { readonly type: 'AskReport'; readonly id: string; readonly at: number; readonly by: string }
  | ({ readonly type: 'TakeAnswer'; readonly id: string; readonly by: string } & Answer)

const PROBE_COMMANDS = { AskReport: true, TakeAnswer: true } satisfies Record<ProbeCommand['type'], true>
export const isProbeCommand = (command: { readonly type: string }): command is ProbeCommand =>
  Object.hasOwn(PROBE_COMMANDS, command.type)

type Asked = {
  readonly exists: boolean
  readonly name: HostName
  readonly liveness: string
  readonly bootId: BootId
  readonly probe?: Probe
}
/** Null: the host may be asked. */
const tooSoon = (name: HostName, probe: Probe | undefined, now: number): Refused | null => {
  const agoMs = probe === undefined ? Infinity : now - probe.at
  if (agoMs >= ASKED_EVERY_MS || agoMs < -AHEAD_MAX_MS) return null
  const asked = `${Math.round(Math.abs(agoMs) / 1000)} s`
  const when = agoMs < 0 ? `by a control whose clock is ${asked} ahead` : `${asked} ago`
  return refuse({
    kind: 'crowded',
    reason: `host ${name} was asked ${when}, and is asked once in ${ASKED_EVERY_MS / 1000} s at most`,
    retryAfterSeconds: Math.ceil(Math.min(ASKED_EVERY_MS, ASKED_EVERY_MS - agoMs) / 1000),
  })
}
const ask = (
  { exists, name, liveness, bootId, probe }: Asked,
  { id, at }: Extract<ProbeCommand, { readonly type: 'AskReport' }>,
): ProbeChange | Refused => {
  if (liveness === 'removed' || !exists)
    return refuse({ kind: 'conflict', reason: `host ${name} is not asked, since its reports are not taken` })
  return tooSoon(name, probe, at) ?? { did: 'asked', id, bootId }
}

/** The last question to the host, if its present start may still answer it; null: there is no such question. */
export const openQuestion = ({ exists, liveness, bootId, probe }: Asked): Probe | null =>
  exists && liveness !== 'removed' && probe?.answer === null && probe.bootId === bootId ? probe : null

/** Null: nothing changes. */
export const decideProbe = (host: Asked, command: ProbeCommand): ProbeChange | Refused | null => {
  if (command.type === 'AskReport') return ask(host, command)
  const { id, number, devices, failed } = command
  const { probe } = host
  return probe?.id !== id || probe.answer !== null ? null : { did: 'answered', id, number, devices, failed }
}

export const probeAfter = (
  probe: Probe | undefined,
  change: ProbeChange,
  { by, at }: Pick<Probe, 'by' | 'at'>,
): Probe => {
  if (change.did === 'asked') return { id: change.id, by, at, bootId: change.bootId, answer: null }
  const { number, devices, failed } = change
  // only the question that was asked can be answered
  return { ...probe!, answer: { at, number, devices, failed } }
}
