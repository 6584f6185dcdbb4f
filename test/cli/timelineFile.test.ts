/**
 * `accelerando arq timeline` of what was kept in a file, with no service at all, and in the format of trace viewers.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { openWorkshop } from '../http/cloud.ts'
import { commandHere } from '../support/commandHere.ts'
import { type Serving, serving } from '../support/serving.ts'
import { tempFolder } from '../support/program.ts'

/** The format of trace viewers, as far as it is used. */
type TraceFile = {
  readonly otherData: object
  readonly traceEvents: readonly {
    readonly ph: string
    readonly cat?: string
    readonly name: string
    readonly ts: number
    readonly dur: number
    readonly args: Readonly<Record<string, unknown>>
  }[]
}
const folder = tempFolder('timeline-file')
const NOBODY = { ACCELERANDO_URL: 'http://127.0.0.1:1/v2' }
let shop: Awaited<ReturnType<typeof openWorkshop>>
let served: Serving
let uuid: string
beforeAll(async () => {
  shop = await openWorkshop({ hostWork: false })
  served = await serving(shop.app)
  uuid = (await shop.bound(1)).arqs[0]!.uuid
})
afterAll(async () => {
  await served.close()
  await shop.close()
  folder.remove()
})

const said = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await commandHere(['arq', 'timeline', ...args], env)
  expect([code, err], args.join(' ')).toEqual([0, ''])
  return out
}
const asked = (...args: readonly string[]) => said({ ACCELERANDO_URL: `${served.url}/v2` }, uuid, ...args)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}

test('what --json has written is opened with no service, and shows the same', async () => {
  const kept = await asked('--json')
  for (const path of [file('kept.json', kept), file('events.json', await asked('--json', '--events'))]) {
    expect(await said(NOBODY, '--file', path)).toBe(await asked())
    expect(await said(NOBODY, '--file', path, '-f', 'csv')).toBe(await asked('-f', 'csv'))
  }
  expect(await said(NOBODY, '--file', file('again.json', kept), '--json')).toBe(kept)
})

test('--events adds the recorded event behind each step', async () => {
  const { steps } = JSON.parse(await asked('--json', '--events')) as { readonly steps: readonly object[] }
  expect(steps[0]).toMatchObject({ event: { subject: uuid, type: 'accelerando.fact.ArqCreated' } })
  expect(JSON.parse(await asked('--json')).steps[0]).not.toHaveProperty('event')
})

test('--trace-events is the same from a file as from the service', async () => {
  const trace = JSON.parse(await asked('--trace-events')) as TraceFile
  expect(trace.otherData).toMatchObject({ arq: uuid })
  const steps = trace.traceEvents.flatMap((each) => (each.ph === 'i' && each.cat === 'step' ? [each.name] : []))
  expect(steps[0]).toBe('created')
  const fromFile = JSON.parse(
    await said(NOBODY, '--file', file('t.json', await asked('--json')), '--trace-events'),
  ) as TraceFile
  // the span that is still open ends now in the one, and with the last step in the other
  const ended = ({ traceEvents }: TraceFile) => traceEvents.filter(({ args }) => args['open'] !== true)
  expect(ended(fromFile)).toEqual(ended(trace))
})

test('--as-of ends it at that moment, in each form', async () => {
  type Steps = { readonly steps: readonly { readonly at: string; readonly step: string }[] }
  const { steps } = JSON.parse(await asked('--json')) as Steps
  const [created, accepted] = steps
  const until = steps.filter(({ at }) => at <= created!.at).map(({ step }) => step)
  expect(accepted).toBeDefined()
  const then = JSON.parse(await asked('--json', '--as-of', created!.at)) as Steps
  expect(then.steps.map(({ step }) => step)).toEqual(until)
  const trace = JSON.parse(await asked('--trace-events', '--as-of', created!.at)) as TraceFile
  const ends = trace.traceEvents.flatMap((each) => (each.ph === 'X' ? [(each.ts + each.dur) / 1000] : []))
  expect(Math.max(...ends)).toBe(Date.parse(created!.at))
})

test.each<readonly [args: readonly string[], why: string]>([
  [[], 'name an accelerator request, or a file'],
  [['00000000-0000-4000-8000-000000000001', '--file', 'x.json'], 'name an accelerator request, or a file'],
  [['--file', 'x.json', '--as-of', '2026-01-01'], '--as-of asks a service, and --file asks none'],
  [['--file', 'x.json', '--trace-events', '-f', 'csv'], "option '--trace-events' cannot be used with"],
])('%j is refused', async (args, why) => {
  expect(await commandHere(['arq', 'timeline', ...args], NOBODY)).toMatchObject({
    code: EXITS.usage.code,
    out: '',
    err: expect.stringContaining(why),
  })
})
/** As odd as a file may be. */
const withStep = (...steps: readonly object[]): string => {
  const usual = { at: '2026-11-24T00:00:00.000Z', step: 'created', took_ms: null, cause: null, request_id: null }
  const all = steps.map((each) => ({ ...usual, detail: {}, ...each }))
  const arq = '00000000-0000-4000-8000-000000000001'
  return JSON.stringify({ arq, project_id: null, deleted: false, total_ms: 0, steps: all })
}
test('a step of a file may have any name, and have taken any time', async () => {
  const path = file('odd.json', withStep({ step: 'constructor' }, { step: 'toString', took_ms: -7 }, { took_ms: 9 }))
  expect(await said(NOBODY, '--file', path)).toContain('toString')
  expect(JSON.parse(await said(NOBODY, '--file', path, '--trace-events'))).toHaveProperty('traceEvents')
})
test('each step stands where it happened, after a bar for the time before it', async () => {
  const steps = withStep(
    { detail: { profile: 'f' }, cause: 'user' },
    { step: 'bind accepted', took_ms: 1000 },
    { step: 'bound', took_ms: 250, cause: 'host' },
    { step: 'deleted', took_ms: 7_200_000 },
  )
  expect((await said(NOBODY, '--file', file('drawn.json', steps))).split('\n').slice(1)).toEqual([
    '   +0.000 s  |                                          created        by user profile=f',
    '   +1.000 s  ======|                                    bind accepted',
    '   +1.250 s        ==|                                  bound          by host',
    '     +2.0 h          ////////////////////////////////|  deleted',
    '/ stands for more than 5 s without a step',
    '',
  ])
})
test.each([
  ['something else', '{"arq": 5}', 'it is not a timeline written by --json'],
  ['no JSON', '{"arq": ', 'JSON'],
  ['a step at no moment', withStep({ at: 'noon' }), 'steps.0.at: it must be a moment'],
  ['half a character', withStep({ detail: { host: '\uD800' } }), 'steps.0.detail: it holds half of a surrogate pair'],
  [
    'a deeply nested detail',
    withStep({ detail: 'HERE' }).replace('"HERE"', `{"a": ${'['.repeat(9000)}${']'.repeat(9000)}}`),
    'steps.0.detail: it must',
  ],
])('a file with %s is refused with its name', async (_, text, why) => {
  const path = file('bad.json', text)
  const { code, out, err } = await commandHere(['arq', 'timeline', '--file', path], NOBODY)
  expect([code, out]).toEqual([EXITS.usage.code, ''])
  expect(err).toContain(`${path}: `)
  expect(err).toContain(why)
})
