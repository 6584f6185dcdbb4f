/** An inbox over the bus within one process and a clock that is moved by hand. */
import { inbox } from '../../src/delivery/inbox.ts'
import type { InboxOptions } from '../../src/delivery/inbox.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { done } from '../../src/vocabulary/fault.ts'
import type { DeadLetter } from '../../src/wire/catalogue.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readDeadLetter, reportRecord } from '../../src/wire/message.ts'
import type { Report } from '../../src/wire/reports.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

export const start = async (options: Partial<InboxOptions> = {}) => {
  const clock = handClock()
  const bus = inProcessBus({ clock, partitions: 1 })
  const taken: { readonly report: Report; readonly id: string }[] = []
  const letters: DeadLetter[] = []
  const log = memoryLog()
  const make = (more: Partial<InboxOptions> = {}) =>
    inbox({
      bus,
      clock,
      log,
      unchanged: () => false,
      take: async (report, id) => {
        taken.push({ report, id })
        return done(null)
      },
      retry: { firstMs: 100, maxMs: 1000, tries: 4, forMs: 60_000 },
      ...options,
      ...more,
    })
  await bus.consume({
    topic: 'dead-letters.v1',
    group: 'test',
    from: 'earliest',
    take: async (record) => {
      const letter = readDeadLetter(record)
      if (letter.ok) letters.push(letter.value.body)
    },
  })
  const box = make()
  await box.start()
  const say = async (...records: readonly BusRecord[]) => {
    await bus.publish(records)
    await quiet()
  }
  return { clock, bus, box, make, taken, letters, log, say }
}
export const tell = (report: Report, id = `${report.host}/${report.type}/${'number' in report ? report.number : 0}`) =>
  reportRecord(report, id, 0)
