/**
 * Decides when a host is asked for a report at once, and which report answers. Pure.
 *
 * PROBING-1 a host is asked at most once in `ASKED_EVERY_MS`, whoever asks and whichever control is asked, so that
 *    nobody can keep it busy with looking at its hardware;
 * PROBING-2 the answer is the first report that names the question. Nothing else of a host says that it has answered.
 */
import { type Refused, refuse } from '../../fault.ts'
import type { BootId, HostName } from '../../identifiers.ts'

export const ASKED_EVERY_MS = 10_000

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
  readonly bootNumber?: number
  readonly probe?: Probe
}
const ask = (
  { exists, name, liveness, bootId, bootNumber, probe }: Asked,
  { id, at }: Extract<ProbeCommand, { readonly type: 'AskReport' }>,
): ProbeChange | Refused => {
  if (liveness === 'removed' || !exists)
    return refuse({ kind: 'conflict', reason: `host ${name} is not asked, since its reports are not taken` })
  if (bootNumber === undefined)
    return refuse({ kind: 'conflict', reason: `host ${name} runs a release up to 0.2.0, which cannot be asked` })
  const againMs = probe === undefined ? 0 : probe.at + ASKED_EVERY_MS - at
  // a question from the future is that of a control whose clock is ahead
  if (againMs > 0 && againMs <= ASKED_EVERY_MS)
    return refuse({
      kind: 'crowded',
      reason: `host ${name} was asked ${Math.round((ASKED_EVERY_MS - againMs) / 1000)} s ago, and is asked once in ${ASKED_EVERY_MS / 1000} s at most`,
      retryAfterSeconds: Math.ceil(againMs / 1000),
    })
  return { did: 'asked', id, bootId }
}

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
