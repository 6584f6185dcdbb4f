/** Evidence in files: which lines are taken, what is said of the others, and what is concluded from moments. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Recorded } from '../../src/audit/evidence.ts'
import { figuresOf } from '../../src/cli/audit/figures.ts'
import { readClients, readHost, readJournal, readTopicFile, writeJournal } from '../../src/cli/audit/files.ts'
import { type AuditOptions, gatherEvidence, sourceOf } from '../../src/cli/audit/gather.ts'
import { silent } from '../../src/log.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('evidence')
afterAll(folder.remove)
const file = (name: string, ...lines: readonly unknown[]): string => {
  const path = join(folder.path, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return path
}
const row = (at: number, more: object = {}) => ({
  key: 'arq/a',
  version: 1,
  commandId: 'c',
  events: [{ type: 'T' }],
  at,
  cause: { by: 'b' },
  ...more,
})

describe('a journal', () => {
  test('is written as it was read, with the positions that it has', async () => {
    const rows = [row(1), row(2, { position: '5.1', key: 'instance-x/b', version: 2 })]
    const path = file('journal', '', rows[0], '  ', rows[1])
    const journal = await readJournal(path)
    expect([...journal]).toEqual(rows)
    await writeJournal(join(folder.path, 'copy'), journal)
    expect(readFileSync(join(folder.path, 'copy'), 'utf8')).toBe(
      rows
        .map(
          ({ key, version, commandId, events, at, cause, ...rest }) =>
            `${JSON.stringify({ key, version, commandId, events, at, cause, ...rest })}\n`,
        )
        .join(''),
    )
  })
  test.each<readonly [line: unknown, said: string]>([
    ['{', 'line 2: the line: must be JSON'],
    ['7', 'line 2: the line: Invalid type: Expected Object but received 7'],
    [row(1, { key: 'arq/' }), 'line 2: key: must be <kind>/<id>'],
    [row(1, { key: 'Arq/a' }), 'line 2: key: must be <kind>/<id>'],
    [row(1, { key: '1arq/a' }), 'line 2: key: must be <kind>/<id>'],
    [row(1, { version: 0 }), 'line 2: version: Invalid value: Expected >=1 but received 0'],
    [row(1, { version: 1.5 }), 'line 2: version: Invalid integer: Received 1.5'],
    [row(1, { commandId: 1 }), 'line 2: commandId: Invalid type: Expected string but received 1'],
    [row(1, { events: [{}] }), 'line 2: events.0.type: Invalid key: Expected "type" but received undefined'],
    [row('1' as never), 'line 2: at: Invalid type: Expected number but received "1"'],
    [row(1, { cause: null }), 'line 2: cause: Invalid type: Expected Object but received null'],
    [row(1, { position: 5 }), 'line 2: position: Invalid type: Expected string but received 5'],
  ])('a line that is none is named: %j', async (line, said) => {
    const path = file('bad', row(1), line)
    await expect(readJournal(path)).rejects.toThrow(`${path}: ${said}`)
  })
})

describe('what clients recorded', () => {
  const CALLER = { projectId: 'p', isAdmin: false, isService: true }
  const asked = (more: object) => ({ act: 'bind', status: 202, caller: CALLER, ...more })
  const rows = [100, 200, 150, 300, 300, 400].map((at, n) => row(at, { version: n + 1 }) as Recorded)
  const moments = async (more: object, skewMs = 0) => {
    const journal = await readJournal(file('clients-journal', ...rows))
    const [one] = await readClients([file('client', asked(more))], journal, skewMs)
    return [one!.from, one!.to]
  }
  test('by its own clock: the widest range of rows that it can mean', async () => {
    expect(await moments({ fromMs: 0, toMs: 99 })).toEqual([0, 0])
    expect(await moments({ fromMs: 100, toMs: 100 })).toEqual([0, 1])
    expect(await moments({ fromMs: 101, toMs: 149 })).toEqual([1, 1])
    expect(await moments({ fromMs: 101, toMs: 150 })).toEqual([1, 3])
    expect(await moments({ fromMs: 200, toMs: 200 })).toEqual([1, 3])
    expect(await moments({ fromMs: 201, toMs: 300 })).toEqual([3, 5])
    expect(await moments({ fromMs: 400, toMs: 400 })).toEqual([5, 6])
    expect(await moments({ fromMs: 401, toMs: 500 })).toEqual([6, 6])
    expect(await moments({ fromMs: 201, toMs: 299 }, 1)).toEqual([1, 5])
  })
  test('with places in the journal, which count more', async () => {
    expect(await moments({ from: 2, to: 4 })).toEqual([2, 4])
    expect(await moments({ from: 2, to: 4, fromMs: 0, toMs: 1 })).toEqual([2, 4])
    expect(await moments({ from: 2, fromMs: 101, toMs: 400 })).toEqual([2, 6])
  })
  test('is read from every file, and not without one', async () => {
    const journal = await readJournal(file('clients-journal', ...rows))
    expect(await readClients([], journal, 0)).toEqual([])
    const [one, two] = [file('one', asked({ from: 0, to: 1 })), file('two', asked({ from: 1, to: 2, act: 'get' }))]
    expect((await readClients([one, two], journal, 0)).map(({ act }) => act)).toEqual(['bind', 'get'])
  })
  test.each<readonly [more: object, said: string]>([
    [{}, 'fromMs, toMs: must be there where from and to are not'],
    [{ from: 1 }, 'fromMs, toMs: must be there where from and to are not'],
    [{ to: 1, fromMs: 1 }, 'fromMs, toMs: must be there where from and to are not'],
    [{ from: 1, toMs: 1 }, 'fromMs, toMs: must be there where from and to are not'],
    [{ from: 1, to: 2, act: 'boot' }, 'line 1: act: '],
    [{ from: 1, to: 2, status: 'ok' }, 'line 1: status: '],
    [{ from: 1, to: 2, caller: { ...CALLER, isAdmin: 1 } }, 'line 1: caller.isAdmin: '],
    [{ from: 1, to: 2, caller: { ...CALLER, projectId: null } }, 'line 1: caller.projectId: '],
    [{ from: 1, to: 2, arqs: 'a' }, 'line 1: arqs: '],
    [{ from: 1, to: 2, instance: 1 }, 'line 1: instance: '],
    [{ from: 1, to: 2, shown: [{ uuid: 'a' }] }, 'line 1: shown.0.state: '],
  ])('that cannot be judged is refused: %j', async (more, said) => {
    const path = file('bad-client', asked(more))
    await expect(readClients([path], await readJournal(file('none')), 0)).rejects.toThrow(`${path}: ${said}`)
  })
})

describe('each part of what a client recorded', () => {
  const WHOLE = {
    act: 'other',
    from: 0,
    to: 1,
    fromMs: 2,
    toMs: 3,
    status: null,
    caller: { projectId: 'p', isAdmin: false, isService: false },
    arqs: ['a'],
    instance: 'i',
    shown: [{ uuid: 'a', state: 'Bound', projectId: null, handle: null }],
  }
  const reading = async (one: object) => readClients([file('parts', one)], await readJournal(file('none')), 0)
  test('is taken as it is', async () => {
    expect(await reading(WHOLE)).toEqual([WHOLE])
    const acts = 'create bind unbind remove removeByInstance get list disable enable other'.split(' ')
    for (const act of acts) expect(await reading({ ...WHOLE, act })).toMatchObject([{ act }])
  })
  test.each(Object.keys(WHOLE))('is looked at: %s', async (name) => {
    await expect(reading({ ...WHOLE, [name]: {} })).rejects.toThrow(`line 1: ${name}`)
  })
  test.each(Object.keys(WHOLE.caller))('is looked at: the caller, %s', async (name) => {
    const caller = { ...WHOLE.caller, [name]: {} }
    await expect(reading({ ...WHOLE, caller })).rejects.toThrow(`line 1: caller.${name}: `)
  })
  test.each(Object.keys(WHOLE.shown[0]!))('is looked at: what was shown, %s', async (name) => {
    const shown = [{ ...WHOLE.shown[0], [name]: {} }]
    await expect(reading({ ...WHOLE, shown })).rejects.toThrow(`line 1: shown.0.${name}: `)
  })
})

describe('the ledger of a host', () => {
  const HEAD = { ledger: 1, host: 'h1' }
  const FAILED = { status: 'failed', reason: 'no', final: true }
  const entry = (more: object) => ({
    slot: 's',
    number: 1,
    type: 'PrepareSlot',
    driver: 'd',
    deployable: 'p',
    deployableUuid: 'u',
    handle: 'x',
    arq: 'q',
    result: { status: 'done' },
    state: 'done',
    startedAt: 0,
    finishedAt: 0,
    sent: false,
    ...more,
  })
  const steps = async (...lines: readonly unknown[]) =>
    (await readHost(dirname(file('h/ledger.jsonl', HEAD, ...lines)))).steps
  test('says what reached the disk, and what was told', async () => {
    const noted = { did: 'noted', slot: 's', number: 1 }
    expect(
      await steps(
        entry({}),
        entry({ sent: true }),
        entry({ state: 'in-hand', sent: true, result: undefined }),
        entry({ result: FAILED }),
        entry({ type: 'ReleaseSlot' }),
        entry({ type: 'ReleaseSlot', result: FAILED }),
        entry({ arq: undefined }),
      ),
    ).toEqual([
      { ...noted, done: true, preparedFor: 'q' },
      { ...noted, done: true, preparedFor: 'q' },
      { did: 'reported', slot: 's', number: 1 },
      { ...noted, done: false },
      { ...noted, done: true },
      { ...noted, done: true, preparedFor: null },
      { ...noted, done: true },
      { ...noted, done: true },
    ])
  })
  test('ends before a line that was not written whole; hardware is shown where it is simulated', async () => {
    const path = file('whole/ledger.jsonl', HEAD, entry({}))
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"slot": "cut`)
    expect(await readHost(dirname(path))).toMatchObject({ name: 'h1', steps: [{ number: 1 }] })
    expect(await readHost(dirname(path))).not.toHaveProperty('prepared')
    file('whole/drivers/simulated_driver.effects.json', { prepared: { s: { deployable: 'p', info: '' } }, loaded: {} })
    expect(await readHost(dirname(path))).toMatchObject({ prepared: ['s'] })
  })
  test('is asked for where there is none, and named where it is broken', async () => {
    await expect(readHost(join(folder.path, 'nowhere'))).rejects.toThrow(
      `${join(folder.path, 'nowhere')} holds no ledger.jsonl of a host`,
    )
    const broken = file('broken/ledger.jsonl', HEAD, entry({}), '{')
    await expect(readHost(dirname(broken))).rejects.toThrow(`${broken}: line 3: `)
    const old = file('old/ledger.jsonl', { ledger: 2, host: 'h' })
    await expect(readHost(dirname(old))).rejects.toThrow(`${old}: line 1: `)
  })
})

const RAW = { topic: 'arq.events.v1', partition: 0, offset: 7, key: 'k', value: null, time: 5 }
test('messages of topics', async () => {
  expect(await readTopicFile(file('topics', RAW))).toEqual({
    messages: [
      {
        topic: 'arq.events.v1',
        partition: 0,
        offset: 7,
        key: 'k',
        id: null,
        type: null,
        position: null,
        time: 5,
        body: null,
      },
    ],
    cut: new Set(),
    missing: [],
  })
  for (const name of Object.keys(RAW))
    await expect(readTopicFile(file('bad-topics', { ...RAW, [name]: [] }))).rejects.toThrow(`line 1: ${name}: `)
})

describe('all of it', () => {
  const OPTIONS: AuditOptions = {
    config: { database: null, data: '/data', kafka: null },
    folder: false,
    file: null,
    topicFile: null,
    hostData: [],
    clients: [],
    now: null,
    stopped: false,
    settled: false,
    slackMs: 30_000,
    skewMs: 1000,
  }
  const KAFKA = { brokers: ['b:1'], prefix: '' } as never
  test('the store that is read: the database, else the folder, which need not be there beside Kafka', () => {
    const source = (config: object, inFolder = false) =>
      sourceOf({ config: { ...OPTIONS.config, ...config }, folder: inFolder })
    const pglite = { kind: 'pglite', dir: '/data/store' }
    expect(source({})).toEqual(pglite)
    expect(source({ kafka: KAFKA })).toBe(null)
    expect(source({ kafka: KAFKA }, true)).toEqual(pglite)
    expect(source({ database: { url: 'u' }, kafka: KAFKA }, true)).toEqual({ kind: 'postgres', url: 'u' })
  })
  test('a file of rows alone, and with all that may lie beside it', async () => {
    const journal = file('all', row(30, { position: '1.1' }), row(20, { version: 2, position: '1.2' }))
    const plain = await gatherEvidence(
      { ...OPTIONS, file: journal, config: { ...OPTIONS.config, kafka: KAFKA } },
      silent,
    )
    expect(plain.sources).toEqual([journal])
    const { journal: rows, ...rest } = plain.evidence
    expect([rows.length, rest]).toEqual([2, { now: 30, quiet: false, slackMs: 30_000, unboundTtlMs: 0 }])

    const [client, topics, ledger] = [
      file('all-client', {
        act: 'get',
        from: 0,
        to: 1,
        status: 200,
        caller: { projectId: 'p', isAdmin: true, isService: false },
      }),
      file('all-topics', RAW),
      dirname(file('all-host/ledger.jsonl', { ledger: 1, host: 'h9' })),
    ]
    const more = { topicFile: topics, hostData: [ledger], clients: [client], now: 77, settled: true }
    const full = await gatherEvidence({ ...OPTIONS, file: journal, ...more }, silent)
    expect(full.sources).toEqual([journal, topics, ledger, client])
    expect(full.evidence).toMatchObject({
      now: 77,
      quiet: true,
      hosts: [{ name: 'h9', steps: [] }],
      clients: [{ act: 'get' }],
      topics: { messages: [{ offset: 7 }], cut: new Set(), publishedTo: '1.2', open: null, settled: true },
    })
    const stopped = await gatherEvidence({ ...OPTIONS, file: journal, stopped: true }, silent)
    expect(stopped.evidence.now).toBe(30)
    expect((await gatherEvidence({ ...OPTIONS, file: file('empty') }, silent)).evidence.now).toBe(0)
  })
})

test('figures: what there was of each, and how long binds took', () => {
  const bind = (uuid: string, at: number, ...events: readonly object[]) => row(at, { key: `instance/${uuid}`, events })
  const accepted = (...arqs: readonly string[]) => ({ type: 'BindAccepted', parts: arqs.map((arq) => ({ arq })) })
  const settled = (outcome: string, ...arqs: readonly string[]) => ({ type: 'BindSettled', outcome, arqs })
  const message = (topic: string, id: string | null) => ({ topic, id })
  const journal = [
    bind('i1', 1000, accepted('a', 'b')),
    bind('i2', 1010, accepted('c')),
    bind('i1', 1100, settled('completed', 'a', 'b')),
    bind('i2', 1310, settled('failed', 'c')),
    bind('i3', 1320, accepted('d')),
    row(1330, { key: 'arq/z', events: [{ type: 'of another time' }] }),
  ]
  const figures = figuresOf({
    journal,
    topics: { messages: [message('t', '1'), message('t', '1'), message('t', null), message('u', '1')] },
    hosts: [{}, {}],
    lost: [
      { rows: [{ key: 'a' }, { key: 'a' }, { key: 'b' }], adoptedAt: 0 },
      { rows: [{ key: 'a' }], adoptedAt: null },
    ],
  } as never)
  expect(figures).toEqual({
    rows: 6,
    lastPosition: null,
    from: '1970-01-01T00:00:01.000Z',
    to: '1970-01-01T00:00:01.330Z',
    entities: { instance: 3, arq: 1 },
    arqs: { Absent: 1 },
    binds: { completed: 2, failed: 1, 'open or left': 1 },
    bindMs: { p50: 100, p99: 300, max: 300 },
    topics: { t: { messages: 3, repeats: 1 }, u: { messages: 1, repeats: 0 } },
    hosts: 2,
    lost: [
      { rows: 3, entities: 2, adopted: '1970-01-01T00:00:00.000Z' },
      { rows: 1, entities: 1, adopted: null },
    ],
    clients: null,
  })
  expect(figuresOf({ journal: [] } as never)).toEqual({
    rows: 0,
    lastPosition: null,
    from: null,
    to: null,
    entities: {},
    arqs: {},
    binds: {},
    bindMs: null,
    topics: null,
    hosts: null,
    lost: [],
    clients: null,
  })
})
