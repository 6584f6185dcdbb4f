/** A support bundle of made-up parts: what is asked, what a part may take, and what the manifest says of the rest. */
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { NOTHING_IN_FORCE, hidingAlso } from '../../src/cli/config/inForce.ts'
import type { Api } from '../../src/cli/operators/api.ts'
import { type BundleParts, bundle, bundleName } from '../../src/cli/operators/supportBundle.ts'
import { VERSION } from '../../src/cli/version.ts'
import { handClock, quiet } from '../support/lab.ts'

const LIMITS = { partBytes: 10_000, wholeBytes: 100_000, partMs: 1000, wholeMs: 3000 }
const EMPTY = { events: [], next: '0', more: false }
type Given = Partial<BundleParts> & { readonly answers?: Readonly<Record<string, unknown>> }
const bundled = async ({ answers = {}, ...more }: Given = {}) => {
  const asked: string[] = []
  const api: Api = async <Document>(method: string, path: string) => {
    asked.push(`${method} ${path}`)
    const answer = path in answers ? answers[path] : path.startsWith('/events') ? EMPTY : { of: path }
    if (answer instanceof Error) throw answer
    return answer as Document
  }
  const clock = handClock()
  const making = bundle({
    inForce: {
      ...NOTHING_IN_FORCE,
      options: [{ key: 'listen', value: 'x', source: 'default', from: null, secret: false }],
    },
    api,
    metrics: async () => 'metric 1\n',
    doctor: async () => [],
    limits: LIMITS,
    clock,
    ...more,
  })
  for (let turn = 0; turn < 12; turn++) await clock.pass(500)
  await quiet()
  const { archive, files, problems } = await making
  const texts = Object.fromEntries(files.map(({ name, text }) => [name, text]))
  return { asked, archive, texts, problems, manifest: JSON.parse(texts['manifest.json']!) as unknown }
}
const NAMES = [
  'versions.json',
  'configuration.json',
  'doctor.json',
  'system.json',
  'overview.json',
  'hosts.json',
  'deliveries.json',
  'deliveries_undelivered.json',
  'drift.json',
  'events.jsonl',
  'metrics.txt',
]
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

test('each part has what its name says, and the manifest names all of them', async () => {
  const { asked, texts, manifest, problems, archive } = await bundled()
  expect(asked).toEqual([
    'GET /system',
    'GET /overview',
    'GET /hosts',
    'GET /deliveries',
    'GET /deliveries?state=undelivered',
    'GET /drift',
    'GET /events?limit=1000',
  ])
  const { 'versions.json': versions, 'manifest.json': _, ...rest } = texts
  expect(rest).toEqual({
    'configuration.json': pretty({
      options: [{ key: 'listen', value: 'x', source: 'default', from: null, secret: false }],
    }),
    'doctor.json': '[]\n',
    'system.json': pretty({ of: '/system' }),
    'overview.json': pretty({ of: '/overview' }),
    'hosts.json': pretty({ of: '/hosts' }),
    'deliveries.json': pretty({ of: '/deliveries' }),
    'deliveries_undelivered.json': pretty({ of: '/deliveries?state=undelivered' }),
    'drift.json': pretty({ of: '/drift' }),
    'events.jsonl': '',
    'metrics.txt': 'metric 1\n',
  })
  expect(JSON.parse(versions!)).toEqual({
    accelerando: VERSION,
    node: process.versions.node,
    platform: expect.stringMatching(/^\w+ \S+ \w+$/),
  })
  expect(manifest).toEqual({ made_at: '2026-01-01T00:00:00.000Z', files: NAMES, missing: [] })
  expect(problems).toEqual([])
  const whole = gunzipSync(archive).toString('utf8')
  for (const name of ['manifest.json', ...NAMES]) expect(whole).toContain(`${name}\0`)
  expect(bundleName(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('accelerando-support-20260102T030405Z.tar.gz')
})
test('of the events the newest thousand are kept, however many pages they take', async () => {
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)
  const { asked, texts } = await bundled({
    answers: {
      '/events?limit=1000': { events: numbers(0, 700), next: 'a', more: true },
      '/events?limit=1000&after=a': { events: numbers(700, 1100), next: 'b', more: true },
      '/events?limit=1000&after=b': { events: numbers(1100, 1101), next: 'c', more: false },
    },
  })
  expect(asked.filter((line) => line.includes('events'))).toHaveLength(3)
  expect(texts['events.jsonl']).toBe(
    numbers(101, 1101)
      .map((at) => `${at}\n`)
      .join(''),
  )
})
test('events without an end are given up after 2000 pages', async () => {
  let pages = 0
  const api: Api = async <Document>(_: string, path: string) => {
    if (!path.startsWith('/events')) return {} as Document
    return { events: [], next: String(++pages), more: true } as Document
  }
  const { problems } = await bundled({ api })
  expect(problems).toEqual([{ name: 'events.jsonl', problem: 'there are more than 2000000 events' }])
  expect(pages).toBe(2000)
})
test('a part that fails, is too large or too slow is named with the reason, without secrets; the others are there', async () => {
  const never = new Promise<string>(() => {})
  const { texts, problems, manifest } = await bundled({
    inForce: hidingAlso(NOTHING_IN_FORCE, ['planted-secret']),
    answers: {
      '/hosts': new Error('403 with planted-secret'),
      '/drift': 'x'.repeat(9997),
      '/system': 'x'.repeat(9998),
    },
    doctor: async () => [{ told: 'planted-secret' }] as never,
    metrics: () => never,
  })
  const missing = [
    { name: 'system.json', problem: 'it has 10001 bytes, and there is room for 10000' },
    { name: 'hosts.json', problem: '403 with (hidden)' },
    { name: 'metrics.txt', problem: 'it was not there within 1000 ms' },
  ]
  expect(problems).toEqual(missing)
  expect(manifest).toMatchObject({
    files: NAMES.filter((name) => !missing.some((one) => one.name === name)),
    missing,
  })
  expect(texts['doctor.json']).toBe(pretty([{ told: '(hidden)' }]))
  expect(texts['drift.json']).toHaveLength(10_000)
})
test('what the parts take together has limits as well', async () => {
  const large = { '/system': 'x'.repeat(6000), '/overview': 'y'.repeat(6000) }
  const { problems } = await bundled({ answers: large, limits: { ...LIMITS, wholeBytes: 9000 } })
  const [first] = problems
  expect(first).toEqual({
    name: 'overview.json',
    problem: expect.stringMatching(/^it has 6003 bytes, and there is room for 2\d{3}$/),
  })
  const never = new Promise<never>(() => {})
  const late = await bundled({
    api: () => never,
    doctor: () => never,
    limits: { ...LIMITS, wholeMs: 1500 },
  })
  expect(late.problems.map(({ name, problem }) => `${name}: ${problem}`).slice(0, 3)).toEqual([
    'doctor.json: it was not there within 1000 ms',
    'system.json: it was not there within 500 ms',
    'overview.json: it was not there within 0 ms',
  ])
})
