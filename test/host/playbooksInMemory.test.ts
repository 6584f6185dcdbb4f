/** Playbooks of drivers over a machine in memory: what is asked of Ansible, kept on the disk and told, in full. */
import { describe, expect, test } from 'vitest'
import type { RunEnd, RunRequest } from '../../src/drivers/runToEnd.ts'
import { type Disk, memoryDisk } from '../../src/host/disk.ts'
import { type Run, withRun } from '../../src/host/playbookPlan.ts'
import { type PlaybookTools, Playbooks } from '../../src/host/playbooks.ts'
import { recordedHostIo, type Tree } from '../drivers/recordedHostIo.ts'
import { openHostLab } from '../support/hostLab.ts'
import { handClock, memoryLog, quiet, until } from '../support/lab.ts'

const BOTH: Tree = { 'setup.yml': 'set up', 'teardown.yml': 'tear down' }
const WELL: RunEnd = { failure: null, output: 'all well\n', cut: 0 }
const TOOLS: PlaybookTools = {
  dir: '/books',
  program: 'ansible-playbook',
  limitMs: 5000,
  environment: { HOME: '/root', LC_ALL: 'C' },
  programAt: async (name) => `/usr/bin/${name}`,
  killAged: async () => [],
  run: async () => WELL,
}
type Given = Partial<PlaybookTools> & {
  readonly drivers?: readonly string[]
  readonly books?: Tree
  /** The file of an earlier start. */
  readonly kept?: unknown
  readonly disk?: (disk: Disk) => Disk
  readonly prepared?: number
}
const machine = async ({
  drivers = ['a'],
  books = { a: BOTH },
  kept,
  disk: made,
  prepared = 0,
  ...more
}: Given = {}) => {
  const [clock, log, memory] = [handClock(), memoryLog(), memoryDisk()]
  if (kept !== undefined) await memory.replace('/state/playbooks.json', JSON.stringify(kept))
  const requests: RunRequest[] = []
  const end = more.run ?? (async () => WELL)
  const tools: PlaybookTools = {
    ...TOOLS,
    ...more,
    run: (request) => {
      requests.push(request)
      return end(request)
    },
  }
  const io = recordedHostIo({ books, proc: { sys: { kernel: { random: { boot_id: 'start-1\n' } } } } })
  const disk = made?.(memory) ?? memory
  const playbooks = await Playbooks.open({ tools, host: 'h1', drivers, stateDir: '/state', io, disk, clock, log })
  let changes = 0
  const start = async () => {
    playbooks.start(
      () => prepared,
      () => void changes++,
    )
    await quiet(40)
  }
  return {
    clock,
    io,
    memory,
    playbooks,
    requests,
    start,
    began: clock.now(),
    changes: () => changes,
    said: () => log.said.map(({ message }) => message),
    onDisk: async () => JSON.parse((await memory.read('/state/playbooks.json'))!) as { readonly runs: object },
    reasons: () => playbooks.lastRuns()!.map(({ reason }) => reason),
    played: () => requests.map(({ folder, args }) => `${folder} ${args.at(-1)}`),
  }
}

test('a set-up is asked of Ansible, below a lock of the host, and recorded before and after', async () => {
  const gate = Promise.withResolvers<RunEnd>()
  const it = await machine({ run: () => gate.promise })
  const { playbooks, began, requests, clock } = it
  expect(await it.onDisk()).toEqual({ enabled: ['a'], runs: {} })
  expect(playbooks.heldBack('a')).toEqual({ reason: 'its set-up playbook has not been run yet', isOver: false })
  expect(playbooks.lastRuns()).toEqual([])
  await it.start()
  expect(requests).toEqual([
    {
      program: '/usr/bin/flock',
      args: [
        ...['--nonblock', '--conflict-exit-code', '75', '/state/playbooks.lock', '/usr/bin/ansible-playbook'],
        ...['--inventory', '/dev/null', '--connection', 'local', '--extra-vars'],
        '{"accelerando_host":"h1","accelerando_driver":"a"}',
        'setup.yml',
      ],
      folder: '/books/a',
      environment: {
        HOME: '/root',
        LC_ALL: 'C.UTF-8',
        ANSIBLE_NOCOLOR: '1',
        ANSIBLE_FORCE_COLOR: '0',
        ANSIBLE_RETRY_FILES_ENABLED: '0',
        ANSIBLE_LOCALHOST_WARNING: '0',
        ANSIBLE_INVENTORY_UNPARSED_WARNING: '0',
      },
      timeoutMs: 5000,
      keepBytes: 262_144,
      signal: expect.any(AbortSignal),
    },
  ])
  const running = {
    playbook: 'setup',
    status: 'running',
    startedAt: began,
    finishedAt: null,
    reason: null,
    output: '',
  }
  const more = { digest: expect.stringMatching(/^[0-9a-f]{64}$/), machine: 'start-1' }
  expect(playbooks.lastRuns()).toEqual([{ driver: 'a', ...running }])
  expect(await it.onDisk()).toEqual({ enabled: ['a'], runs: { a: { ...running, ...more } } })
  expect([playbooks.heldBack('a')?.reason, playbooks.heldBack('b'), it.changes()]).toEqual([
    'its set-up playbook is running',
    null,
    1,
  ])
  await clock.pass(1500)
  gate.resolve(WELL)
  await quiet(40)
  const done = { ...running, status: 'done', finishedAt: began + 1500, output: 'all well\n' }
  expect(playbooks.lastRuns()).toEqual([{ driver: 'a', ...done }])
  expect(await it.onDisk()).toEqual({ enabled: ['a'], runs: { a: { ...done, ...more } } })
  expect(await it.memory.read('/state/playbooks/a-setup.log')).toBe('all well\n')
  expect([playbooks.heldBack('a'), it.changes(), it.said()]).toEqual([null, 2, ['playbook.begun', 'playbook.done']])
})

test('what failed is tried again after a minute, and then after twice the time, up to an hour (PLAYBOOKS-5)', async () => {
  const begun: number[] = []
  const it = await machine({
    run: async () => {
      begun.push((it.clock.now() - it.began) / 60_000)
      return { ...WELL, failure: 'exit status 2' }
    },
  })
  await it.start()
  await it.clock.pass(250 * 60_000)
  expect(begun).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
})

test('of several, what is well is not run again with what failed, tear-downs are run first, and all is told by driver', async () => {
  const gone = { playbook: 'setup', digest: 'd', machine: 'start-1', status: 'done', startedAt: 1, finishedAt: 2 }
  const it = await machine({
    drivers: ['c', 'b'],
    books: { a: BOTH, b: BOTH, c: BOTH, d: BOTH },
    kept: { enabled: ['a', 'b'], runs: { a: { ...gone, reason: null, output: '' } } },
    run: async ({ folder }) => (folder === '/books/c' ? { ...WELL, failure: 'exit status 2' } : WELL),
  })
  await it.start()
  expect(it.played()).toEqual(['/books/a teardown.yml', '/books/c setup.yml', '/books/b setup.yml'])
  const told = () => it.playbooks.lastRuns()!.map(({ driver, playbook, status }) => `${driver} ${playbook} ${status}`)
  expect(told()).toEqual(['a teardown done', 'b setup done', 'c setup failed'])
  expect(await it.onDisk()).toMatchObject({ enabled: ['c', 'b'] })
  await it.clock.pass(60_000)
  expect(it.played().slice(3)).toEqual(['/books/c setup.yml'])
  // its playbook is taken away: nothing is left to do
  it.io.remove('/books/c/setup.yml')
  await it.clock.pass(10_000_000)
  expect(it.played()).toHaveLength(4)
})

test('a playbook that is taken away before its turn is not run', async () => {
  const it = await machine({
    drivers: ['a', 'b'],
    books: { a: BOTH, b: BOTH },
    run: async () => {
      it.io.remove('/books/b/setup.yml')
      return WELL
    },
  })
  await it.start()
  expect([it.played(), it.playbooks.heldBack('b')]).toEqual([['/books/a setup.yml'], null])
})

describe('a playbook fails with its reason', () => {
  test('where another one holds the lock, which is killed when it is too old (PLAYBOOKS-6)', async () => {
    const aged: unknown[] = []
    const killAged: PlaybookTools['killAged'] = async (...asked) => {
      aged.push(asked)
      return aged.length > 1 ? [{ pid: 4711, program: 'ansible-playbook', ageMs: 6000 }] : []
    }
    const it = await machine({ killAged, run: async () => ({ ...WELL, failure: 'exit status 75' }) })
    await it.start()
    const reason = 'another playbook still runs on this host, begun by an earlier start of the host program'
    expect([it.reasons(), aged]).toEqual([[reason], [['/state/playbooks.lock', 5000]]])
    expect(it.playbooks.heldBack('a')).toEqual({
      reason: `its set-up playbook failed: ${reason}\nall well`,
      isOver: true,
    })
    expect(it.said()).toEqual(['playbook.begun', 'playbook.failed', 'playbooks.again'])
    await it.clock.pass(60_000)
    expect(it.said().slice(3)).toEqual([
      'playbook.begun',
      'playbook.survivorKilled',
      'playbook.failed',
      'playbooks.again',
    ])
  })
  test.each<[string, Given, string]>([
    [
      'Ansible is not installed',
      { programAt: async (name) => (name === 'flock' ? '/usr/bin/flock' : null) },
      'ansible-playbook is not installed on this host, or not where its PATH leads: install Ansible, or set playbooks.program',
    ],
    [
      'flock is not installed',
      { programAt: async (name) => (name === 'flock' ? null : `/usr/bin/${name}`) },
      'flock (of util-linux) is not installed on this host',
    ],
    ['it cannot be looked for', { programAt: () => Promise.reject(new Error('EACCES')) }, 'EACCES'],
    ['its folder cannot be read', { books: { a: { 'setup.yml': { '->': 'gone' } } } }, 'ENOENT: /books/a/setup.yml'],
    [
      'something may be prepared through its driver',
      { drivers: [], kept: { enabled: ['a'], runs: {} }, prepared: 2 },
      '2 attach handles may be prepared through a: enable it again until they are released',
    ],
  ])('where %s', async (_, given, reason) => {
    const it = await machine(given)
    await it.start()
    expect([it.reasons(), it.played(), it.said()]).toEqual([[reason], [], ['playbook.failed', 'playbooks.again']])
  })
  test('where the disk does not record its begin; what could not be recorded is told all the same', async () => {
    let full = false
    const refusing = (disk: Disk): Disk => ({
      ...disk,
      replace: (path, text) => (full ? Promise.reject(new Error('ENOSPC')) : disk.replace(path, text)),
    })
    const it = await machine({ disk: refusing })
    full = true
    await it.start()
    expect([it.reasons(), it.played()]).toEqual([['ENOSPC'], []])
    expect(it.said()).toEqual(['playbook.notKept', 'playbook.failed', 'playbooks.again'])
    full = false
    await it.clock.pass(60_000)
    expect([it.reasons(), it.played()]).toEqual([[null], ['/books/a setup.yml']])
  })
  test('a set-up is run although something is prepared through its driver', async () => {
    const it = await machine({ prepared: 2 })
    await it.start()
    expect(it.played()).toEqual(['/books/a setup.yml'])
  })
})

test('a driver is not torn down while slots are prepared through it, as the ledger of the host says (PLAYBOOKS-4)', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', '{"ledger":1,"host":"h1"}\n')
  const first = await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1), lab.order('PrepareSlot', 1, { device: 1 }))
  await first.stop()
  await lab.disk.replace('/state/playbooks.json', JSON.stringify({ enabled: ['simulated_driver'], runs: {} }))
  const io = recordedHostIo({ books: { simulated_driver: { 'teardown.yml': 'tear down' } } }, 'h1')
  await lab.boot({ io, drivers: [], playbooks: TOOLS })
  await until(() => lab.inventories().at(-1)?.playbooks?.[0]?.status === 'failed')
  const reason = '2 attach handles may be prepared through simulated_driver: enable it again until they are released'
  expect(lab.inventories().at(-1)!.playbooks).toMatchObject([{ playbook: 'teardown', status: 'failed', reason }])
})

describe('a stop', () => {
  const stopped: NonNullable<Given['run']> = ({ signal }) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ ...WELL, failure: 'was stopped' }), { once: true }),
    )
  test('ends the playbook, which stays unfinished, and begins no other', async () => {
    const it = await machine({ drivers: ['a', 'b'], books: { a: BOTH, b: BOTH }, run: stopped })
    await it.start()
    await it.playbooks.stop()
    expect(it.playbooks.lastRuns()).toMatchObject([{ driver: 'a', status: 'running' }])
    expect((await it.onDisk()).runs).toMatchObject({ a: { status: 'running' } })
    await it.clock.pass(10_000_000)
    expect([it.played(), it.said()]).toEqual([['/books/a setup.yml'], ['playbook.begun']])
  })
  test('leaves what ended well in that moment as it is', async () => {
    const gate = Promise.withResolvers<RunEnd>()
    const it = await machine({ run: () => gate.promise })
    await it.start()
    const done = it.playbooks.stop()
    gate.resolve(WELL)
    await done
    expect(it.playbooks.lastRuns()).toMatchObject([{ status: 'done' }])
  })
  test('is the end of all further tries', async () => {
    const it = await machine({ run: async () => ({ ...WELL, failure: 'exit status 2' }) })
    await it.start()
    await it.playbooks.stop()
    await it.clock.pass(10_000_000)
    expect(it.played()).toHaveLength(1)
  })
})

test('a file that cannot be read is told, and all is due again', async () => {
  const it = await machine({ kept: { enabled: 1 } })
  expect([it.said(), await it.onDisk()]).toEqual([['playbooks.unreadable'], { enabled: ['a'], runs: {} }])
  await it.start()
  expect(it.played()).toEqual(['/books/a setup.yml'])
})

test('what was carried out at an earlier start of the program is not due, and still told', async () => {
  const first = await machine()
  await first.start()
  const second = await machine({ kept: await first.onDisk() })
  expect(second.playbooks.heldBack('a')).toBe(null)
  await second.start()
  expect([second.played(), second.changes()]).toEqual([[], 0])
  expect(second.playbooks.lastRuns()).toEqual(first.playbooks.lastRuns())
})

test('a host without playbooks tells of none, keeps nothing, and holds no driver back', async () => {
  const [disk, clock, log] = [memoryDisk(), handClock(), memoryLog()]
  const io = recordedHostIo({})
  const open = { tools: null, host: 'h1', drivers: ['a'], stateDir: '/state', io, disk, clock, log }
  const playbooks = await Playbooks.open(open)
  playbooks.start(
    () => 0,
    () => undefined,
  )
  await clock.pass(10_000_000)
  expect([playbooks.lastRuns(), playbooks.heldBack('a'), log.said]).toEqual([null, null, []])
  expect(await disk.read('/state/playbooks.json')).toBe(null)
  await playbooks.stop()
})

describe('what is told of the output of all runs together', () => {
  const run = (status: Run['status'], startedAt: number, bytes: number): Run => ({
    playbook: 'setup',
    digest: 'd',
    machine: 'm',
    status,
    startedAt,
    finishedAt: null,
    reason: null,
    output: 'x'.repeat(bytes),
  })
  const told = async (runs: Readonly<Record<string, Run>>) => {
    const kept = Object.entries(runs).reduce((all, [driver, one]) => withRun(all, driver, one), {
      enabled: [],
      runs: {},
    } as Parameters<typeof withRun>[0])
    const { playbooks } = await machine({ drivers: [], kept })
    return playbooks.lastRuns()!.map(({ driver, output }) => `${driver} ${output.length}`)
  }
  /** In JSON, a text has two bytes more. */
  const LEFT = 64 * 1024 - 30_002 - 2
  test('is that of what did not succeed first, then that of the newest', async () => {
    expect(await told({ c: run('failed', 0, 30_000), a: run('done', 1, 1), b: run('done', 2, LEFT) })).toEqual([
      'a 0',
      `b ${LEFT}`,
      'c 30000',
    ])
    expect(await told({ c: run('running', 0, 30_000), a: run('done', 1, 1), b: run('done', 2, LEFT + 1) })).toEqual([
      'a 1',
      'b 0',
      'c 30000',
    ])
    expect(await told({ b: run('failed', 1, LEFT), c: run('failed', 2, 30_000), a: run('failed', 0, 1) })).toEqual([
      'a 0',
      `b ${LEFT}`,
      'c 30000',
    ])
  })
})
