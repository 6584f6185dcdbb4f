/** What the API answers to questions: counts, usage, histories, fitting hosts, programs, the process itself. */
import { describe, expect, test } from 'vitest'
import type { ProgramDetail } from '../../src/actors/deployable/programming.ts'
import type { Explanation } from '../../src/actors/explain/answer.ts'
import { OPERATION_RULES } from '../../src/http/policy/rules.ts'
import type { SystemFacts } from '../../src/http/system.ts'
import { done } from '../../src/fault.ts'
import { version } from './steps.ts'
import { at, bodyOf, shown, tell, uuid } from './toldControl.ts'

const [A, B, C, D] = [uuid(1), uuid(2), uuid(3), uuid(4)] as const

test('a caller is told its names, where the identity service gives them, and each rule', async () => {
  const identify = (names?: object) => () => ({
    userId: 'u7',
    projectId: 'p7',
    roles: ['reader'],
    serviceRoles: [],
    ...(names && { names: names as never }),
  })
  const options = { policy: { enforceNewDefaults: true, rules: {} } } as never
  const of = async (names?: object) =>
    (await tell('GET /v2/permissions', {}, {}, { options, identify: identify(names) })).got.json
  const readable = ['device_profile:get_all', 'device_profile:get_one', 'arq:get_all', 'arq:get_one', 'event:get_all']
  const allowed = [...readable, 'usage:get_all', 'permission:get_all'].map((name) => `cyborg:${name}`)
  const permissions = Object.fromEntries(Object.keys(OPERATION_RULES).map((rule) => [rule, allowed.includes(rule)]))
  const known = { user_id: 'u7', project_id: 'p7', permissions }
  expect(await of()).toEqual({ ...known, user_name: null, project_name: null })
  expect(await of({ user: 'Ann', project: 'blue' })).toEqual({ ...known, user_name: 'Ann', project_name: 'blue' })
  expect(await of({ user: 'Ann', project: null })).toEqual({ ...known, user_name: 'Ann', project_name: null })
})

describe('the capacity', () => {
  const amount = (n: number) => ({ total: n, held: n + 1, free: n + 2, withheld: n + 3, broken: n + 4 })
  const line = (resourceClass: string, traits: readonly string[], n: number) => ({
    resourceClass,
    traits,
    amount: amount(n),
    hosts: [{ host: `h${n}`, amount: amount(n + 10) }],
  })
  const lines = [line('FPGA', ['T1', 'T2'], 1), line('FPGA', ['T2'], 2), line('PGPU', ['T1'], 3)]
  const lineShown = (resource_class: string, traits: readonly string[], n: number) => ({
    resource_class,
    traits,
    ...amount(n),
    hosts: [{ host: `h${n}`, ...amount(n + 10) }],
  })
  const all = [lineShown('FPGA', ['T1', 'T2'], 1), lineShown('FPGA', ['T2'], 2), lineShown('PGPU', ['T1'], 3)]
  test.each([
    ['', all],
    ['?resource_class=FPGA', all.slice(0, 2)],
    ['?trait=T1', [all[0], all[2]]],
    ['?resource_class=FPGA&trait=T1', all.slice(0, 1)],
    ['?resource_class=&trait=', all],
  ])('asked for by "%s"', async (query, capacity) => {
    const counted = await bodyOf(`capacity${query}`, { capacity: { countedAt: at(9), lines } })
    expect(counted).toEqual({ counted_at: shown(9), capacity })
  })
})

test('usage is told with the moments to the millisecond, and asked for as it was said', async () => {
  const report = {
    from: 1,
    until: 2,
    asOf: 3,
    lines: [{ project: 'p1', resourceClass: 'FPGA', from: 4, until: 5, deviceSeconds: 6.5, bindings: 7 }],
  }
  const ms = (n: number) => `1970-01-01T00:00:00.00${n}Z`
  const usage = {
    from: ms(1),
    until: ms(2),
    as_of: ms(3),
    period: 'total',
    usage: [{ project_id: 'p1', resource_class: 'FPGA', from: ms(4), until: ms(5), device_seconds: 6.5, bindings: 7 }],
  }
  const plain = await tell('GET /v2/usage', { usage: report })
  expect(plain.got.json).toEqual(usage)
  expect(plain.asked).toEqual([['usage', 'the caller', { from: null, until: null, period: 'total', project: null }]])
  const query = 'from=1970-01-02&until=1970-01-03T00:00:00.5Z&period=day&project_id=p9'
  const narrow = await tell(`GET /v2/usage?${query}`, { usage: report })
  expect(narrow.got.json).toEqual({ ...usage, period: 'day' })
  const given = { from: 86_400_000, until: 172_800_500, period: 'day', project: 'p9' }
  expect(narrow.asked).toEqual([['usage', 'the caller', given]])
})

describe('a timeline', () => {
  const step = (n: number, event: string | null) => ({
    at: n,
    step: `s${n}`,
    tookMs: n + 1,
    cause: `c${n}`,
    requestId: `r${n}`,
    detail: { n },
    event: () => event,
  })
  const steps = [step(3, '{"id":"1"}'), step(5, null), step(9, '{"id":"3"}')]
  const stepShown = (n: number) => ({
    at: `1970-01-01T00:00:00.00${n}Z`,
    step: `s${n}`,
    took_ms: n + 1,
    cause: `c${n}`,
    request_id: `r${n}`,
    detail: { n },
  })
  const of = (query = '', some: typeof steps = steps) => {
    const timeline = { arq: A, projectId: 'p1', deleted: true, steps: some }
    return bodyOf(`accelerator_requests/${A}/timeline${query}`, { 'arqs.timeline': timeline })
  }
  const whole = { arq: A, project_id: 'p1', deleted: true, total_ms: 6, steps: [3, 5, 9].map(stepShown) }
  test('lasts from its first step to its last', async () => {
    expect([await of(), await of('?events=false')]).toEqual([whole, whole])
    expect(await of('', [])).toEqual({ ...whole, total_ms: 0, steps: [] })
  })
  test('shows the event behind each step when it is asked for, and null where the caller may not read it', async () => {
    const events = [{ id: '1' }, null, { id: '3' }]
    expect(await of('?events=true')).toEqual({
      ...whole,
      steps: whole.steps.map((one, n) => ({ ...one, event: events[n] })),
    })
  })
})

describe('why hosts do or do not fit', () => {
  const obstacle = (code: string) => ({ code, reason: `${code}!`, change: `${code}?`, stops: ['bind'] })
  const explanation = {
    fits: true,
    hostsChecked: 1,
    devicesChecked: 2,
    hostsFitting: 3,
    placement: 'asked',
    groups: [
      {
        group: 0,
        arqs: 4,
        devices: 5,
        removed: { trait: 6 },
        nearest: { host: 'h1', deployable: A, name: 'd1', obstacles: [obstacle('trait')] },
      },
      { group: 1, arqs: 7, devices: 8, removed: {}, nearest: null },
    ],
    warnings: [{ code: 'not_attached', group: 0, reason: 'w', change: 'c' }],
    hosts: [
      {
        host: 'h1',
        fits: true,
        bind: false,
        placement: null,
        obstacles: [obstacle('host_silent')],
        groups: [
          {
            group: 0,
            fits: false,
            devices: [{ deployable: A, device: B, provider: C, name: 'd1', obstacles: [obstacle('image')] }],
            leftOut: 9,
          },
        ],
      },
    ],
    hostsLeftOut: 10,
  } as unknown as Explanation
  const whole = {
    profile: { uuid: D, name: 'fpga' },
    fits: true,
    hosts_checked: 1,
    devices_checked: 2,
    hosts_fitting: 3,
    placement: 'asked',
    groups: [
      {
        group: 0,
        arqs: 4,
        devices: 5,
        removed: { trait: 6 },
        nearest: { host: 'h1', deployable_uuid: A, name: 'd1', obstacles: [obstacle('trait')] },
      },
      { group: 1, arqs: 7, devices: 8, removed: {}, nearest: null },
    ],
    warnings: [{ code: 'not_attached', group: 0, reason: 'w', change: 'c' }],
    hosts: [
      {
        host: 'h1',
        fits: true,
        bind: false,
        placement: null,
        obstacles: [obstacle('host_silent')],
        groups: [
          {
            group: 0,
            fits: false,
            devices: [
              { deployable_uuid: A, device_uuid: B, device_rp_uuid: C, name: 'd1', obstacles: [obstacle('image')] },
            ],
            left_out: 9,
          },
        ],
      },
    ],
    hosts_left_out: 10,
  }
  const groups = [{ 'resources:FPGA': '1' }]
  const answers = { 'profiles.find': { uuid: D, name: 'fpga', groups }, 'profiles.check': explanation }
  test('is told of a profile, also of one that is disabled, and of groups that no profile has yet', async () => {
    const stored = await tell('POST /v2/device_profiles/fpga/check', answers)
    expect(stored.got.json).toEqual(whole)
    expect(stored.asked).toEqual([
      ['profiles.find', 'fpga', { caller: expect.objectContaining({ userId: 'op-7' }), disabled: true }],
      ['profiles.check', { groups, host: null, limit: 20 }],
    ])
    const draft = await tell('POST /v2/profile_checks', answers, { body: { groups } })
    expect(draft.got.json).toEqual({ ...whole, profile: null })
    expect(draft.asked).toEqual([['profiles.check', { groups, host: null, limit: 20 }]])
  })
  test.each([
    ['?host=h1&limit=99', { host: 'h1', limit: 99 }],
    ['?limit=100', { host: null, limit: 100 }],
    ['?limit=101', { host: null, limit: 100 }],
  ])('of the hosts that are asked for by %s', async (query, given) => {
    const { asked } = await tell(`POST /v2/profile_checks${query}`, answers, { body: { groups } })
    expect(asked).toEqual([['profiles.check', { groups, ...given }]])
  })
})

describe('programming', () => {
  const base = {
    deployable: A,
    device: B,
    host: 'h1',
    name: 'd1',
    programmable: true,
    loaded: null,
    former: 'former',
    running: null,
    failed: null,
  }
  const baseShown = { deployable_uuid: A, device_uuid: B, hostname: 'h1', name: 'd1', programmable: true }
  const states = [
    [{}, { state: 'empty', image_uuid: null, since: null, reason: null }],
    [{ loaded: 'i1' }, { state: 'loaded', image_uuid: 'i1', since: null, reason: null }],
    [
      { loaded: 'i1', failed: 'no' },
      { state: 'failed', image_uuid: 'i1', since: null, reason: 'no' },
    ],
    [
      { loaded: 'i1', failed: 'no', running: { image: 'i2', since: at(3) } },
      { state: 'running', image_uuid: 'i2', since: shown(3), reason: 'no' },
    ],
  ] as const
  test('is listed by state: running before failed before loaded', async () => {
    const items = states.map(([more]) => ({ ...base, ...more }))
    expect(await bodyOf('programs', { 'deployables.programming': { items, next: null } })).toEqual({
      programs: states.map(([, more]) => ({ ...baseShown, former_image_uuid: 'former', ...more })),
    })
  })
  test('pages link by deployable, fifty at a time unless it is said otherwise, two hundred at most', async () => {
    const page = { items: [{ ...base, deployable: B }, base], next: { value: 1, key: A } }
    const ask = (query: string) => tell(`GET /v2/programs${query}`, { 'deployables.programming': page })
    const { got } = await ask('?limit=2')
    const href = `http://api/accelerator/v2/programs?limit=2&marker=${A}`
    expect(got.json.programs_links).toEqual([{ rel: 'next', href }])
    const limits = ['', '?limit=199', '?limit=200', '?limit=201', `?marker=${C}`]
    expect(await Promise.all(limits.map(async (query) => (await ask(query)).asked[0]))).toEqual([
      ['deployables.programming', { limit: 50 }],
      ['deployables.programming', { limit: 199 }],
      ['deployables.programming', { limit: 200 }],
      ['deployables.programming', { limit: 200 }],
      ['deployables.programming', { limit: 50, marker: C }],
    ])
  })
  const image = (n: number, more: object = {}) => ({ uuid: uuid(n), name: `n${n}`, size: n, digest: null, ...more })
  const stored = (n: number, more: object = {}) => image(n, { properties: { driver_ver: '2' }, ...more }) as never
  const asShown = (n: number, more: object = {}) =>
    image(n, { driver: null, driver_ver: '2', driver_path: null, ...more })
  const detail = (more: Partial<ProgramDetail>) =>
    bodyOf(`programs/${A}`, {
      'deployables.programDetail': {
        ...base,
        refusal: null,
        users: [],
        inStore: null,
        choices: { images: [], problem: null },
        ...more,
      },
    })
  const empty = {
    ...baseShown,
    former_image_uuid: 'former',
    ...states[0][1],
    refusal: null,
    arqs: [],
    arqs_left_out: 0,
    image: null,
    image_problem: null,
    images: [],
    images_left_out: 0,
    images_problem: null,
  }
  test('of one is shown with who uses it and what fits it, as many as are shown and how many more there are', async () => {
    expect(await detail({})).toEqual(empty)
    const digest = { algorithm: 'sha512', value: 'ab' }
    const [users, images] = [101, 201].map((length) => Array.from({ length }, (_, n) => n))
    const choices = { images: images!.map((n) => stored(n)), problem: 'p' }
    const inStore = { image: stored(7, { digest }), problem: 'i' }
    expect(await detail({ refusal: 'r', users: users!.map(uuid), inStore, choices })).toEqual({
      ...empty,
      refusal: 'r',
      arqs: users!.slice(0, 100).map(uuid),
      arqs_left_out: 1,
      image: asShown(7, { digest: 'sha512:ab' }),
      image_problem: 'i',
      images: images!.slice(0, 200).map((n) => asShown(n)),
      images_left_out: 1,
      images_problem: 'p',
    })
    const none = { image: null, problem: 'away' }
    expect(await detail({ inStore: none })).toEqual({ ...empty, image_problem: 'away' })
  })
})

test('the facts about the process are shown as it tells them', async () => {
  const facts: SystemFacts = {
    toldAt: at(1),
    process: { program: 'control', machine: 'm1', pid: 7, startedAt: at(2) },
    versions: { accelerando: '1.2.3', node: '24', schema: '0042', newer: ['0043'] },
    store: { kind: 'postgres', powerLoss: 'as_the_server_is_set' },
    neighbours: [{ name: 'nova', state: 'failing', detail: 'away' }],
    configuration: [{ key: 'listen', value: 'x', source: 'argument', from: '--listen', secret: true }],
    consumers: {
      bus: 'kafka',
      lags: [{ topic: 't', group: 'g', partition: 3, messages: 4 }],
      leftOut: 5,
      problem: 'some',
    },
    writes: { count: 6, since: at(7), p50: 8, p90: 9, p99: 10, max: 11 },
    audit: {
      at: at(12),
      version: '1.0',
      invariants: 13,
      violations: 14,
      violated: ['S1'],
      rows: 15,
      seconds: 16,
      sources: ['journal'],
    },
    auditProblem: 'none',
  }
  const of = async (said: SystemFacts, headers: Readonly<Record<string, string>> = {}) => {
    const system = { facts: async () => done(said) } as never
    return (await tell('GET /v2/system', {}, { headers }, { system })).got.json
  }
  const whole = {
    told_at: shown(1),
    process: { program: 'control', machine: 'm1', pid: 7, started_at: shown(2) },
    versions: { accelerando: '1.2.3', node: '24', schema: '0042', newer: ['0043'], api: { min: '2.0', max: '2.5' } },
    store: { kind: 'postgres', power_loss: 'as_the_server_is_set' },
    neighbours: facts.neighbours,
    configuration: facts.configuration,
    consumers: { bus: 'kafka', lags: facts.consumers.lags, lags_left_out: 5, problem: 'some' },
    journal_writes: { count: 6, since: shown(7), p50_ms: 8, p90_ms: 9, p99_ms: 10, max_ms: 11 },
    last_audit: { ...facts.audit, at: shown(12) },
    last_audit_problem: 'none',
  }
  expect(await of(facts, version(0))).toEqual(whole)
  expect(await of({ ...facts, writes: null, audit: null, auditProblem: null })).toEqual({
    ...whole,
    journal_writes: null,
    last_audit: null,
    last_audit_problem: null,
  })
})
