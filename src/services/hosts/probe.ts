/**
 * Asks a host to look at its hardware and report at once.
 *
 * PROBE-1 the question is recorded before it is sent, and its answer by whichever control takes it; the caller waits
 *    for `PROBE_WAIT_MS` at most, and the answer is recorded also if it comes later;
 * PROBE-2 the question is the one that asks a host what it has prepared (COMPARE-1): a host that another question
 *    reaches before it has begun its report answers that one only. Such a question stays without an answer;
 * PROBE-3 a repeated command puts a question without an answer on the bus again, because the first attempt may have
 *    failed after the question was recorded. A control puts each question on the bus once.
 */
import type { Caller } from '../../actors/caller.ts'
import { host, hostKey, isKnown } from '../../actors/host/decider.ts'
import { openQuestion } from '../../actors/host/probing.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { BootId, HostName } from '../../vocabulary/identifiers.ts'
import { slotsQuestionRecord } from '../../wire/message.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { storable } from '../../vocabulary/text.ts'
import { type Kernel, causeOf, commandOf, newWork } from '../kernel/kernel.ts'
import { lookUntil } from '../kernel/lookUntil.ts'
import { unknownHost } from '../retirement/retirement.ts'

const PROBE_WAIT_MS = 6000
const HOSTS_MAX = 10_000

/** Waits until the last question to the host has its answer, or the time is over. */
const answered = async (kernel: Kernel, name: HostName): Promise<Outcome<null>> => {
  const key = hostKey(name)
  const looked = await lookUntil(kernel, {
    key,
    withinMs: PROBE_WAIT_MS,
    read: () => kernel.region.readCurrent(host, key),
    isWanted: ({ state }) => state.probe?.answer !== null,
  })
  return looked.ok ? done(null) : looked
}

type Question = { readonly id: string; readonly bootId: BootId }
type Send = (name: HostName, question: Question) => Promise<Outcome<null>>

/** Puts a question on the bus, unless this process has done so or is doing so (PROBE-3). */
const createSend = ({ clock, publish }: Kernel): Send => {
  /** The last question to each host that did not fail. */
  const last = new Map<HostName, { readonly id: string; readonly sent: Promise<Outcome<null>> }>()
  const send: Send = async (name, { bootId, id }) => {
    try {
      await publish([slotsQuestionRecord({ type: 'TellSlots', host: name, bootId, id }, clock.now())])
      return done(null)
    } catch (error) {
      const reason = `host ${name} cannot be asked, because the bus does not answer: ${textOf(error)}`
      return refuse({ kind: 'unavailable', reason, retryAfterSeconds: 10 })
    }
  }
  return async (name, question) => {
    const { id } = question
    const before = last.get(name)
    if (before?.id === id) return before.sent
    if (last.size >= HOSTS_MAX) last.clear()
    const one = { id, sent: send(name, question) }
    last.set(name, one)
    const sent = await one.sent
    if (!sent.ok && last.get(name) === one) last.delete(name)
    return sent
  }
}

export const createProbe = (kernel: Kernel) => {
  const { region, ids } = kernel
  const send = createSend(kernel)
  const sendAgain = async (name: HostName): Promise<Outcome<null>> => {
    const read = await region.readCurrent(host, hostKey(name))
    if (!read.ok) return read
    const question = openQuestion(read.value.state)
    return question ? send(name, question) : done(null)
  }
  return async (caller: Caller, name: HostName): Promise<Outcome<null>> => {
    const [key, id, cause] = [hostKey(name), ids.uuid(), causeOf(caller)]
    const known = await region.readCurrent(host, key)
    if (!known.ok) return known
    if (!isKnown(known.value.state)) return unknownHost(name)
    const work = newWork(kernel, cause, (draft) => {
      draft.decide(host, key, { type: 'AskReport', id, at: draft.at, by: cause.by ?? '' })
      return draft.state(host, key).bootId
    })
    const asked = await region.tell(key, { ...work, ...commandOf(caller) })
    if (!asked.ok) return asked
    // null: the command is repeated
    const sent = await (asked.value === null ? sendAgain(name) : send(name, { id, bootId: asked.value }))
    return sent.ok ? answered(kernel, name) : sent
  }
}

/**
 * Records the report as the answer, if an operator has asked for it. The same report again changes nothing. An old
 * report may be the answer too: a later one may be taken before it is delivered again. Fault `unavailable`: the report
 * has to be delivered again; other faults are only logged.
 */
export const noteAnswer = async (kernel: Kernel, report: InventoryReport): Promise<Outcome<null>> => {
  const { host: name, number, drivers, slots } = report
  const id = slots?.answers
  if (id === undefined) return done(null)
  const key = hostKey(name)
  const known = await kernel.region.readCurrent(host, key)
  if (known.ok && known.value.state.probe?.id !== id) return done(null)
  const devices = drivers.reduce((sum, section) => sum + (section.status === 'ok' ? section.devices.length : 0), 0)
  const failed = drivers.flatMap((section) => (section.status === 'failed' ? [storable(section.driver)] : []))
  const by = `host ${name}`
  const work = newWork(kernel, { by }, (draft) =>
    draft.decide(host, key, { type: 'TakeAnswer', id, number, devices, failed, by }),
  )
  const recorded = known.ok ? await kernel.region.tell(key, work) : known
  if (recorded.ok) return done(null)
  kernel.log.warn({ host: name, fault: recorded.fault }, 'host.answerUnrecorded')
  return recorded.fault.kind === 'unavailable' ? recorded : done(null)
}
