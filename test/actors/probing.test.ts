/** PROBING, PROBE: a host that is asked for a report while clocks differ, or bus or store do not answer. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import type { Append, Journal } from '../../src/actors/runtime/ports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { readToHost } from '../../src/wire/message.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handClock, quiet } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { inventoryOf } from '../support/reports.ts'

let close = async () => {}
afterEach(() => close())

const isAnswer = ({ rows }: Append) => JSON.stringify(rows).includes('"did":"answered"')
/** `bus.refuses`: nothing can be published. `store.refuses`: no answer of a host can be recorded. */
const opened = async () => {
  const [bus, store] = [{ refuses: false }, { refuses: false }]
  const questions: string[] = []
  const clock = handClock()
  const kept = memoryStore({ now: clock.now })
  const journal: Journal = {
    ...kept.journal,
    append: async (append) => (store.refuses && isAnswer(append) ? 'busy' : kept.journal.append(append)),
  }
  const publish = async (records: readonly BusRecord[]) => {
    if (bus.refuses) throw new Error('no broker')
    for (const record of records) {
      const sent = readToHost(record)
      if (sent.ok && sent.value.body.type === 'TellSlots') questions.push(sent.value.body.id)
    }
  }
  const { plane, control } = await openPlane({ clock, journal, publish }, kept)
  const reports = (number: number, answers?: string, more = {}) => {
    const slots = { prepared: [], ...(answers ? { answers } : {}) }
    const report = inventoryOf('h1', number, { bootNumber: 1, slots, ...more })
    return plane.reports.take(report, `${report.bootId}/${number}`)
  }
  close = async () => void (await Promise.all([plane.stop(), clock.pass(60_000)]))
  value(await reports(1))
  /** Asks, and lets the time pass in which the host may answer. */
  const asks = async (commandId: string) => {
    const asking = control.hosts.probe({ ...NOVA, commandId }, 'h1')
    await quiet()
    await clock.pass(7000)
    return asking
  }
  const probe = async () => value(await control.hosts.get(NOVA, 'h1')).probe
  return { bus, store, questions, reports, asks, probe }
}

describe('PROBE-3 a repeated command', () => {
  test('puts the question that the bus refused on the bus, once', async () => {
    const { bus, questions, asks, probe } = await opened()
    const command = randomUUID()
    bus.refuses = true
    expect(await asks(command)).toMatchObject({ ok: false, fault: { kind: 'unavailable' } })
    expect(await asks(command), 'the bus still refuses').toMatchObject({ ok: false, fault: { kind: 'unavailable' } })
    bus.refuses = false
    expect(value(await asks(command)).probe?.answer).toBe(null)
    expect(questions).toEqual([(await probe())!.id])
    value(await asks(command))
    expect(questions).toHaveLength(1)
  })
  test('asks no host that has started again since', async () => {
    const { bus, questions, asks, reports } = await opened()
    const command = randomUUID()
    bus.refuses = true
    await asks(command)
    bus.refuses = false
    value(await reports(1, undefined, { bootId: randomUUID(), bootNumber: 2 }))
    expect(value(await asks(command)).probe?.answer).toBe(null)
    expect(questions).toEqual([])
  })
})

describe('PROBE-1 an answer that the store did not take', () => {
  const NEWS = { aliases: ['h1', 'node-1'] }
  test('is recorded when the report is delivered again', async () => {
    const { store, questions, reports, asks, probe } = await opened()
    value(await asks(randomUUID()))
    store.refuses = true
    expect(await reports(2, questions[0], NEWS)).toMatchObject({ ok: false, fault: { kind: 'unavailable' } })
    expect((await probe())!.answer).toBe(null)
    store.refuses = false
    value(await reports(2, questions[0], NEWS))
    expect((await probe())!.answer).toMatchObject({ number: 2, devices: 0 })
  })
  test('is recorded also if a later report was taken meanwhile', async () => {
    const { store, questions, reports, asks, probe } = await opened()
    value(await asks(randomUUID()))
    store.refuses = true
    await reports(2, questions[0], NEWS)
    store.refuses = false
    value(await reports(3, undefined, NEWS))
    value(await reports(2, questions[0], NEWS))
    expect((await probe())!.answer).toMatchObject({ number: 2 })
  })
})
