/** How a command that follows events waits: between two requests, on a stream that is silent, and for its end. */
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { follow } from '../../src/cli/operators/events.ts'
import { until } from '../support/lab.ts'
import { type Script, openScripted, refuses as refusesWith } from './scriptedService.ts'

const service = openScripted()
const refuses = (status: number): Script => refusesWith(status, `no ${status}`)
const tells =
  (...lines: readonly string[]): Script =>
  (response) =>
    response.writeHead(200).end(lines.map((line) => `${line}\n`).join(''))
const EVENT = ['event: accelerando.x', 'data: {}', '']

/** Pauses end at once, and are noted. */
const followed = async (scripted: readonly Script[], silentMs = 60_000) => {
  service.answers(scripted)
  const [waits, warned, listening, end]: [number[], string[], number[], AbortController] = [
    [],
    [],
    [],
    new AbortController(),
  ]
  const after = (ms: number, run: () => void) => {
    waits.push(ms)
    const soon = setImmediate(run)
    return () => clearImmediate(soon)
  }
  const failed = await follow(
    { flags: { api: service.api() }, query: {}, after: null },
    () => void listening.push(getEventListeners(end.signal, 'abort').length),
    (line) => void warned.push(line),
    end.signal,
    { clock: { after }, silentMs },
  ).catch((error: unknown) => String(error))
  return { waits, warned, listening, failed }
}

test('each temporary failure is told and asked again after a second, another one ends it', async () => {
  const temporary = [429, 502, 503, 504]
  const { waits, warned, failed } = await followed([...temporary, 500].map(refuses))
  expect(warned).toEqual(temporary.map((status) => `GET /events?: ${status} no ${status}; it is tried again`))
  expect(waits).toEqual([1000, 1000, 1000, 1000])
  expect(failed).toBe('Failure: GET /events?: 500 no 500')
})
test('a stream that has ended is asked for again after the pause that it names, and not sooner than after a second', async () => {
  const scripted = [tells('retry: 2500', '', ...EVENT), tells('retry: 999', '', ...EVENT), tells(...EVENT)]
  const { waits, warned, listening } = await followed([...scripted, refuses(403)])
  expect([waits, warned]).toEqual([[2500, 1000, 2000], []])
  // of earlier streams nothing is left that waits for the end
  expect(listening).toEqual([1, 1, 1])
})
test('a service that says nothing is told with how long it was silent, and asked again', async () => {
  const { waits, warned } = await followed([() => undefined, refuses(403)], 500)
  expect([waits, warned]).toEqual([[1000], ['nothing came for 0.5 s; it is tried again']])
})
test('a stream that falls silent after its head is asked for again', async () => {
  const { waits, warned } = await followed([(response) => response.writeHead(200).write(': \n'), refuses(403)], 500)
  expect([waits, warned]).toEqual([[1000], ['nothing came for 0.5 s; it is tried again']])
})
test('an end that comes before the request is made is noticed', async () => {
  let cut = 0
  service.answers([
    (response) =>
      response
        .on('close', () => cut++)
        .writeHead(200)
        .write(': \n'),
  ])
  const [taken, end]: [unknown[], AbortController] = [[], new AbortController()]
  const wanted = { flags: { api: service.api() }, query: {}, after: null }
  const following = follow(
    wanted,
    (event) => void taken.push(event),
    (line) => void taken.push(line),
    end.signal,
  )
  end.abort()
  await following
  expect(taken).toEqual([])
  // it was not made, or is broken off
  await until(() => cut === service.asked().length)
})
