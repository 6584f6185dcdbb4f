/**
 * The tour against a scripted API: what it asks, what it prints, and what it says of each answer that Nova would not
 * expect.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HeardEvent, runTour } from '../../src/cli/programs/tour.ts'

type Answer = readonly [status: number, body?: unknown]
type Answers = Readonly<Record<string, Answer>>
const HANDLE = { domain: '0000', bus: '0c', device: '00', function: '1' }
const BOUND = { uuid: 'q1', state: 'Bound', attach_handle_type: 'PCI', attach_handle_info: HANDLE }
const deployable = (name: string) => ({
  name,
  rp_uuid: `rp of ${name}`,
  attributes_list: '[{"t": "T"}, {"rc": "FPGA"}]',
})
const host = (name: string, liveness: string, seen: string | null) => ({ name, liveness, last_seen_at: seen })
const USUAL: Answers = {
  'GET /deployables': [200, { deployables: ['h9_a', 'h2_a', 'h3_a', 'h1x_a', 'h1_a', 'h1_b'].map(deployable) }],
  'GET /hosts': [200, { hosts: [host('h2', 'down', 'T'), host('h3', 'up', null), host('h1', 'up', 'T')] }],
  'POST /device_profiles': [201],
  'POST /accelerator_requests': [201, { arqs: [{ uuid: 'q1', state: 'Initial' }] }],
  bind: [202],
  'GET /accelerator_requests?instance=I': [200, { arqs: [BOUND] }],
  'GET /accelerator_requests/q1/timeline': [
    200,
    {
      steps: [
        { step: 'created', took_ms: null, cause: null, detail: {} },
        {
          step: 'bound',
          took_ms: 7,
          cause: 'host h1',
          detail: { short: 'x'.repeat(24), long: 'x'.repeat(25), number: 3 },
        },
      ],
    },
  ],
  unbind: [202],
  'GET /accelerator_requests/q1': [200, { state: 'Unbound' }],
  'DELETE /accelerator_requests?arqs=q1': [204],
  'after the deletion': [200, { arqs: [] }],
  'DELETE /device_profiles/P': [204],
}
const EVENT = { name: 'accelerator-request-bound', status: 'completed', tag: 'q1' }

let answers = USUAL
let event: Partial<HeardEvent> = EVENT
let asked: string[] = []
let heard: HeardEvent[] = []
const roles = new Set<string>()
/** What differs from run to run gets one letter. */
const plain = (line: string) =>
  line.replaceAll(/tour-[0-9a-f]{8}/g, 'P').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'I')

const server = createServer((request, response) => {
  void text(request).then((sent) => {
    const line = plain(`${request.method} ${request.url!.slice('/v2'.length)}`)
    asked.push(`${line}${sent === '' ? '' : ` ${plain(sent)}`}`)
    roles.add(String(request.headers['x-service-roles']))
    if (line.startsWith('PATCH') && sent.includes('instance_uuid","value')) {
      const { value } = Object.values(JSON.parse(sent) as Record<string, { path: string; value: string }[]>)[0]!.at(-1)!
      heard.push({ ...EVENT, tag: 'of another', server_uuid: value }, { ...EVENT, server_uuid: value, ...event })
    }
    const deleted = asked.some((one) => one.startsWith('DELETE /accelerator_requests'))
    const name = line.startsWith('PATCH')
      ? sent.includes('"add"')
        ? 'bind'
        : 'unbind'
      : deleted && line.includes('?instance=')
        ? 'after the deletion'
        : line
    const [status, body] = answers[name] ?? [500]
    response.writeHead(status).end(body === undefined ? '' : JSON.stringify(body))
  })
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

const tour = async (more: Answers = {}, told: Partial<HeardEvent> = {}) => {
  ;[answers, event, asked, heard] = [{ ...USUAL, ...more }, { ...EVENT, ...told }, [], []]
  const said: string[] = []
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const well = await runTour({
    base,
    console: 'http://console/ui/',
    heard: () => heard,
    say: (line) => said.push(plain(line)),
  })
  return { well, said: said.map((line) => line.replaceAll(/\d+(\.\d)? ms(?=\)?$)/g, 'N ms')), asked }
}

test('every step', async () => {
  const { well, said, asked: requests } = await tour()
  expect([well, [...roles]]).toEqual([true, ['service']])
  expect(said).toMatchInlineSnapshot(`
    [
      " 1. a device is found            h1_a (FPGA)  (N ms)",
      " 2. a device profile is made     P  (N ms)",
      " 3. Nova asks for an ARQ         q1  (N ms)",
      " 4. Nova binds it                instance I on h1: 202  (N ms)",
      " 5. Nova hears how it ended      accelerator-request-bound completed, tag q1  (N ms)",
      " 6. Nova reads it                Bound, PCI 0000:0c:00.1  (N ms)",
      "    What happened to it:",
      "                 created",
      "          +7 ms  bound                    host h1        short=xxxxxxxxxxxxxxxxxxxxxxxx number=3",
      " 7. Nova unbinds it              Unbound, the handle goes back  (N ms)",
      " 8. Nova deletes it              204, none left for the instance  (N ms)",
      " 9. the profile is removed       P  (N ms)",
      "    Its page, whenever the service runs on this data: http://console/ui/arqs/q1",
      "tour: every step did what Nova expects, N ms",
    ]
  `)
  expect(requests.toSorted((a, b) => Number(b === 'GET /deployables') - Number(a === 'GET /deployables')))
    .toMatchInlineSnapshot(`
    [
      "GET /deployables",
      "GET /hosts",
      "POST /device_profiles [{"name":"P","groups":[{"resources:FPGA":"1"}]}]",
      "POST /accelerator_requests {"device_profile_name":"P"}",
      "PATCH /accelerator_requests {"q1":[{"op":"add","path":"/hostname","value":"h1"},{"op":"add","path":"/device_rp_uuid","value":"rp of h1_a"},{"op":"add","path":"/instance_uuid","value":"I"}]}",
      "GET /accelerator_requests?instance=I",
      "GET /accelerator_requests/q1/timeline",
      "PATCH /accelerator_requests {"q1":[{"op":"remove","path":"/hostname"},{"op":"remove","path":"/device_rp_uuid"},{"op":"remove","path":"/instance_uuid"}]}",
      "GET /accelerator_requests/q1",
      "DELETE /accelerator_requests?arqs=q1",
      "GET /accelerator_requests?instance=I",
      "DELETE /device_profiles/P",
    ]
  `)
})

const REFUSED: readonly (readonly [expected: string, answers: Answers, event?: Partial<HeardEvent>])[] = [
  ['at least one deployable on a host that is up', { 'GET /deployables': [200, { deployables: [] }] }],
  ['at least one deployable on a host that is up', { 'GET /hosts': [200, { hosts: [host('h1', 'down', 'T')] }] }],
  ['201 for the profile, not 200', { 'POST /device_profiles': [200] }],
  ['one ARQ in state Initial, not 400', { 'POST /accelerator_requests': [400] }],
  [
    'one ARQ in state Initial, not 200',
    { 'POST /accelerator_requests': [200, { arqs: [{ uuid: 'q1', state: 'Initial' }] }] },
  ],
  [
    'one ARQ in state Initial, not 201',
    { 'POST /accelerator_requests': [201, { arqs: [{ uuid: 'q1', state: 'Bound' }] }] },
  ],
  ['202 for the bind, not 409', { bind: [409] }],
  ['a completed event for this instance', {}, { name: 'other' }],
  ['a completed event for this instance', {}, { server_uuid: 'other' }],
  ['a completed event for this instance', {}, { status: 'failed' }],
  ['the accelerator request, Bound', { 'GET /accelerator_requests?instance=I': [200, { arqs: [] }] }],
  [
    'the accelerator request, Bound',
    { 'GET /accelerator_requests?instance=I': [200, { arqs: [{ ...BOUND, uuid: 'q2' }] }] },
  ],
  [
    'the accelerator request, Bound',
    { 'GET /accelerator_requests?instance=I': [200, { arqs: [{ ...BOUND, state: 'BindStarted' }] }] },
  ],
  ...Object.keys(HANDLE).map((part): [string, Answers] => [
    'an attach handle with a PCI address',
    {
      'GET /accelerator_requests?instance=I': [
        200,
        { arqs: [{ ...BOUND, attach_handle_info: { ...HANDLE, [part]: undefined } }] },
      ],
    },
  ]),
  ['200 for the timeline, not 404', { 'GET /accelerator_requests/q1/timeline': [404] }],
  ['202 for the unbind, not 500', { unbind: [500] }],
  ['state Unbound', { 'GET /accelerator_requests/q1': [200, { state: 'Bound' }] }],
  ['204 for the deletion, not 409', { 'DELETE /accelerator_requests?arqs=q1': [409] }],
  ['no accelerator request left for the instance', { 'after the deletion': [200, { arqs: [BOUND] }] }],
  ['204 for the profile, not 409', { 'DELETE /device_profiles/P': [409] }],
]
test.each(REFUSED.map(([expected, more, told]) => ({ expected, more, told })))(
  'it fails where it expected $expected',
  async ({ expected, more, told }) => {
    const { well, said } = await tour(more, told)
    expect([well, said.at(-1)]).toEqual([false, `tour: FAILED: expected ${expected}`])
  },
)

test('a deployable that names no resource class is shown without one', async () => {
  const plain = { ...deployable('h1_a'), attributes_list: '[{"t": "T"}]' }
  const { said } = await tour({ 'GET /deployables': [200, { deployables: [plain] }] })
  expect(said[0]).toBe(' 1. a device is found            h1_a ()  (N ms)')
})
