/** The timeline of an accelerator request as text. */
import { expect, test } from 'vitest'
import { timelineDrawing } from '../../src/cli/operators/timelineDrawing.ts'

const step = (name: string, took: number | null, detail = {}, cause: string | null = null) => ({
  at: '2026-11-24T00:00:00.000Z',
  step: name,
  took_ms: took,
  cause,
  request_id: null,
  detail,
})
const drawn = (...steps: readonly ReturnType<typeof step>[]): string =>
  timelineDrawing({
    arq: 'q1',
    project_id: 'p1',
    deleted: true,
    total_ms: steps.reduce((sum, { took_ms: took }) => sum + (took ?? 0), 0),
    steps,
  }).join('\n')

test('each step stands where it happened, after a bar for the time before it', () => {
  const all = [
    step('created', null, { profile: 'f' }, 'user'),
    step('bind accepted', 1000, { order: 1 }),
    step('bound', 250, { host_work_ms: 240 }, 'host'),
    step('deleted', 7_200_000),
  ]
  expect(drawn(...all)).toMatchInlineSnapshot(`
    "accelerator request q1, project p1, deleted, from 2026-11-24T00:00:00.000Z, 2.0 h in all
       +0.000 s  |                                          created        by user profile=f
       +1.000 s  ======|                                    bind accepted  order=1
       +1.250 s        ==|                                  bound          by host host_work_ms=240
         +2.0 h          ////////////////////////////////|  deleted
    / stands for more than 5 s without a step"
  `)
})
test('what took no time, and what has no steps, can be drawn', () => {
  expect(drawn(step('created', null), step('deleted', 0))).toMatchInlineSnapshot(`
    "accelerator request q1, project p1, deleted, from 2026-11-24T00:00:00.000Z, 0.000 s in all
       +0.000 s  |                                          created
       +0.000 s  |                                          deleted"
  `)
  expect(drawn()).toMatchInlineSnapshot(`"accelerator request q1, project p1, deleted, 0.000 s in all"`)
})
