/** Wraps the journal and counts its queries and the events recorded in it; its behaviour does not change. */
import type { Control } from '../../actors/control.ts'
import type { Append, Journal, JournalRow, Verdict } from '../../actors/runtime/ports.ts'
import type { InstanceEvent } from '../../actors/instance/messages.ts'
import { kindOf } from '../../actors/runtime/memory.ts'
import { NOT_IN_TIME } from '../../actors/instance/decider.ts'
import type { Meter } from './metrics.ts'

const wordOf = (verdict: Verdict): string => {
  if (typeof verdict === 'string') return verdict
  return 'refused' in verdict ? 'refused' : 'stopped' in verdict ? 'stopped' : 'conflict'
}

/**
 * The reason a host gives is free text and cannot be a label value. The label only says that the reason came from the
 * host.
 */
const reasonOf = (reason: string | null): string => {
  if (reason === null) return 'none'
  return reason === NOT_IN_TIME ? 'deadline' : 'host'
}

const countEvent = (meter: Meter, event: InstanceEvent, { at, events }: JournalRow): void => {
  if (event.type === 'NovaTold') {
    for (const outcome of Object.values(event.endings)) meter.count('nova_events_total', { outcome })
    if (Object.keys(event.endings).length === 0) meter.count('nova_events_total', { outcome: 'retry' })
  }
  if (event.type !== 'BindSettled') return
  const { outcome, since } = event
  const reason = reasonOf(event.reason)
  meter.count('binds_ended_total', { outcome, reason })
  if (reason === 'deadline') meter.count('deadlines_missed_total', {})
  const atOnce = (events as readonly InstanceEvent[]).some(({ type }) => type === 'BindAccepted')
  if (since !== undefined)
    meter.observe('bind_seconds', { host_work: atOnce ? 'no' : 'yes', outcome }, Math.max(0, at - since) / 1000)
}

const countRows = (meter: Meter, { rows }: Append): void => {
  meter.count('journal_rows_total', {}, rows.length)
  for (const row of rows)
    if (kindOf(row.key) === 'instance') for (const event of row.events) countEvent(meter, event as InstanceEvent, row)
}

/** `wrote`: called with the duration, in ms, of each append that has written its rows. */
export const observedJournal = (journal: Journal, meter: Meter, wrote: (ms: number) => void = () => {}): Journal => {
  journal.onAppended((appends) => appends && meter.observe('journal_batch_appends', {}, appends.length))
  return {
    ...journal,
    get exclusive() {
      return journal.exclusive
    },
    append: async (append) => {
      const began = performance.now()
      const verdict = await journal.append(append)
      const ms = performance.now() - began
      meter.observe('journal_append_seconds', {}, ms / 1000)
      meter.count('journal_appends_total', { verdict: wordOf(verdict) })
      if (verdict === 'appended') {
        countRows(meter, append)
        wrote(ms)
      }
      return verdict
    },
    recall: async (keys) => {
      try {
        const recalled = await journal.recall(keys)
        meter.count('journal_recalls_total', { outcome: 'read' })
        return recalled
      } catch (error) {
        meter.count('journal_recalls_total', { outcome: 'failed' })
        throw error
      }
    },
  }
}

/** Refused requests leave no entry in the journal, so they are counted where they are answered. */
export const observedControl = (control: Control, meter: Meter): Control => ({
  ...control,
  arqs: {
    ...control.arqs,
    bind: async (...asked) => {
      const bound = await control.arqs.bind(...asked)
      const labels = bound.ok
        ? { outcome: 'accepted', reason: 'none' }
        : { outcome: 'refused', reason: bound.fault.kind }
      meter.count('bind_requests_total', labels)
      return bound
    },
  },
})
