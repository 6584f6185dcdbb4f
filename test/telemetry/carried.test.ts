/**
 * Where the text of a trace is kept while nobody records anything: in orders, messages, the host's ledger and its
 * results.
 */
import { describe, expect, test } from 'vitest'
import { orderMessage, reactions } from '../../src/actors/reactions.ts'
import { NO_SPAN, type Tracer, traceField } from '../../src/vocabulary/trace.ts'
import type { Order } from '../../src/wire/orders.ts'
import { openHostLab } from '../support/hostLab.ts'

const TRACE = `00-${'a'.repeat(32)}-${'1'.repeat(16)}-01`
/** Numbers its spans and keeps what it was asked for. */
const notebook = () => {
  const begun: { readonly name: string; readonly parent: string; readonly trace: string }[] = []
  const tracer: Tracer = {
    enter: () => NO_SPAN,
    part: (_kind, name, parent) => {
      if (parent === undefined) return NO_SPAN
      const trace = `${parent.slice(0, 36)}${String(begun.length + 2).padStart(16, '0')}-01`
      begun.push({ name, parent, trace })
      return { trace, end: () => {} }
    },
  }
  return { tracer, begun }
}
const traceOf = ({ headers, value }: ReturnType<typeof orderMessage>) => [
  headers['traceparent'],
  (JSON.parse(value) as { readonly traceparent?: string }).traceparent,
]

describe('an order', () => {
  test('says the same trace whenever it is sent, in its header and in the message', async () => {
    const lab = await openHostLab()
    const order = { ...lab.order('PrepareSlot', 1), trace: TRACE }
    const kept = JSON.parse(JSON.stringify(order)) as Order
    expect(traceOf(orderMessage(order, 1, '7.1'))).toEqual([TRACE, TRACE])
    expect(traceOf(orderMessage(kept, 99_000))).toEqual([TRACE, TRACE])
  })
  test('without a trace has no word of it', async () => {
    const lab = await openHostLab()
    const { headers, value } = orderMessage(lab.order('PrepareSlot', 1), 1)
    expect(JSON.stringify([headers, value])).not.toMatch(/trace/)
  })
  test('is answered in the trace of the work on it, also by a host that was killed meanwhile', async () => {
    const lab = await openHostLab()
    const { tracer, begun } = notebook()
    const order = { ...lab.order('PrepareSlot', 1), trace: TRACE }
    const first = await lab.boot({ tracer })
    await lab.send(order)
    const [worked, called] = begun
    expect([worked, called]).toMatchObject([
      { name: 'order PrepareSlot', parent: TRACE },
      { name: 'driver prepare', parent: worked!.trace },
    ])
    await lab.kill(first)
    await lab.boot({ tracer })
    await lab.send(order)
    const answers = lab.results().map(({ trace }) => trace)
    expect(answers.length).toBeGreaterThan(1)
    expect(new Set(answers)).toEqual(new Set([worked!.trace]))
    expect(begun).toHaveLength(2)
  })
})

test('a fact says the trace of what caused it', () => {
  const row = {
    key: 'arq/7',
    version: 1,
    commandId: 'c',
    events: [{ type: 'Deleted' }],
    at: 5,
    position: '1.1',
  }
  const told = (trace?: string) => reactions({ ...row, cause: { by: 'u', ...traceField(trace) } }).map(traceOf)
  expect(told(TRACE)).toEqual([[TRACE, TRACE]])
  expect(told()).toEqual([[undefined, undefined]])
})
