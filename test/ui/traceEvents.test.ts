/** The timeline of a request in the format of trace viewers. */
import { expect, test } from 'vitest'
import { NOW, ago, pageOf, uuid } from './drawing.ts'
import { type Facts, type Given, MAY, arq, timeline } from './samples.ts'

type Mark = {
  readonly ph: string
  readonly name: string
  readonly cat?: string
  readonly ts: number
  readonly dur: number
  readonly tid: number
  readonly s?: string
  readonly args: Facts
}
const exported = async (steps: readonly Given[]) => {
  const path = `/accelerator_requests/${uuid(1)}`
  const documents = { '/permissions': MAY, [path]: arq(1, 'Bound'), [`${path}/timeline`]: timeline(1, steps) }
  const { whole } = await pageOf(documents, `arqs/${uuid(1)}/trace-events.json`)
  return JSON.parse(whole) as { readonly otherData: Facts; readonly traceEvents: readonly Mark[] }
}
const ms = (ts: number) => NOW - ts / 1000

test('each party has a track with its spans, in microseconds, and each step is a mark', async () => {
  const { traceEvents, otherData } = await exported([
    ['created', 5000, { profile: 'f' }],
    ['bind accepted', 4000, { order: 4, host: 'h1' }],
    ['prepared on the host', 3750],
    ['bound', 3750, { host_work_ms: 240 }],
    ['nova to be told', 3750],
    ['nova told: delivered', 3700],
  ])
  expect(otherData).toEqual({ arq: uuid(1), project_id: 'p1', deleted: false })
  const tracks = new Map(
    traceEvents.flatMap(({ name, tid, args }) => (name === 'thread_name' ? [[tid, String(args['name'])]] : [])),
  )
  expect([...tracks.values()]).toEqual(['steps', 'Nova', 'h1', 'the instance'])
  const spans = traceEvents.filter(({ ph }) => ph === 'X')
  expect(spans.map(({ tid, name, cat, ts, dur }) => [tracks.get(tid), name, cat, ms(ts), dur / 1000])).toEqual([
    ['Nova', 'waits to be bound', 'rest', 5000, 1000],
    ['h1', 'prepares the device', 'work', 4000, 250],
    ['Nova', 'tells Nova', 'wait', 3750, 50],
    ['the instance', 'in use', 'rest', 3700, 3700],
  ])
  const marks = traceEvents.filter(({ ph }) => ph === 'i')
  expect(marks.slice(0, 2).map(({ name, ts, args }) => [name, ms(ts), args])).toEqual([
    ['created', 5000, { cause: null, request_id: null, profile: 'f' }],
    ['bind accepted', 4000, { cause: 'host 1', request_id: 'req-1', order: 4, host: 'h1' }],
  ])
  expect(marks).toHaveLength(6)
})
test('the deadline of what is waited for is a mark over all tracks', async () => {
  const { traceEvents } = await exported([
    ['created', 2000],
    ['bind accepted', 1000, { order: 4, host: 'h1', deadline: ago(-60_000) }],
  ])
  const deadline = { ph: 'i', s: 'p', name: 'deadline of the bind', ts: (NOW + 60_000) * 1000 }
  expect(traceEvents.at(-1)).toMatchObject(deadline)
  expect(traceEvents.at(-2)).toMatchObject({ ph: 'X', dur: 1_000_000, args: { open: true } })
})
test('a timeline without steps is a file without spans, and a long one is exported whole', async () => {
  expect((await exported([])).traceEvents.map(({ ph }) => ph)).toEqual(['M', 'M'])
  const long = Array.from({ length: 1201 }, (_, turn): Given => ['unbound', 2000 - turn])
  expect((await exported(long)).traceEvents.filter(({ ph }) => ph === 'X')).toHaveLength(1201)
})
