/** Playbooks of drivers, carried out by programs that stand in for Ansible: real processes, on the real disk. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runTailed } from '../../src/drivers/hostIo.ts'
import { until } from '../support/lab.ts'
import { type PlaybookHost, type PlaybookStart, endsOf, openPlaybookHost } from '../support/playbookHost.ts'

const folder = mkdtempSync(join(tmpdir(), 'playbooks-'))
const opened: PlaybookHost[] = []
afterAll(async () => {
  await Promise.all(opened.map((host) => host.stop()))
  rmSync(folder, { recursive: true, force: true })
})

/** Notes each call as `DRIVER PLAYBOOK` in `calls`, and then does what `script` says. */
const machine = (script = 'true') => {
  const root = mkdtempSync(join(folder, 'm-'))
  const [dir, program, calls] = [join(root, 'books'), join(root, 'ansible-playbook'), join(root, 'calls')]
  const book = (driver: string, playbook: 'setup' | 'teardown', text = 'nothing\n'): void => {
    mkdirSync(join(dir, driver), { recursive: true })
    writeFileSync(join(dir, driver, `${playbook}.yml`), text)
  }
  const becomes = (text: string): void => {
    writeFileSync(program, `#!/bin/sh\nfor last; do :; done\necho "$(basename "$PWD") $last" >> ${calls}\n${text}\n`)
    chmodSync(program, 0o755)
  }
  becomes(script)
  mkdirSync(dir)
  const start = async (drivers: readonly string[], more: Partial<PlaybookStart> = {}): Promise<PlaybookHost> => {
    const host = await openPlaybookHost({ folder: join(root, 'state'), dir, program, drivers, ...more })
    opened.push(host)
    return host
  }
  return {
    root,
    dir,
    book,
    becomes,
    start,
    calls: (): readonly string[] => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
  }
}
const isAlive = (pid: string): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const textIn = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')

test('a set-up is run before its driver is asked, once for a content, and again when the content changes (PLAYBOOK-2)', async () => {
  const it = machine()
  it.book('a', 'setup')
  const first = await it.start(['a', 'b'])
  expect(first.heldBack('a')).toMatchObject({ isOver: false })
  expect(first.heldBack('b')).toBe(null)
  expect(await endsOf(first, 1)).toMatchObject([{ driver: 'a', playbook: 'setup', status: 'done' }])
  expect(first.heldBack('a')).toBe(null)
  await first.stop()

  // what Ansible leaves behind is no content
  writeFileSync(join(it.dir, 'a/setup.retry'), 'h1')
  const second = await it.start(['a', 'b'])
  expect([second.heldBack('a'), it.calls()]).toEqual([null, ['a setup.yml']])
  await second.stop()

  mkdirSync(join(it.dir, 'a/templates'))
  writeFileSync(join(it.dir, 'a/templates/conf'), 'new')
  await endsOf(await it.start(['a', 'b']), 1)
  expect(it.calls()).toEqual(['a setup.yml', 'a setup.yml'])
})

test('a set-up is run again once the machine was restarted (PLAYBOOK-2)', async () => {
  const it = machine()
  it.book('a', 'setup')
  for (const [bootId, calls] of [
    ['one', 1],
    ['one', 1],
    ['two', 2],
  ] as const) {
    const host = await it.start(['a'], { bootId })
    await until(() => host.heldBack('a') === null, 'the set-up')
    await host.stop()
    expect(it.calls()).toHaveLength(calls)
  }
})

test('a tear-down is run once, when the driver is no longer enabled, and before set-ups of others (PLAYBOOK-1)', async () => {
  const it = machine()
  for (const driver of ['a', 'b']) for (const one of ['setup', 'teardown'] as const) it.book(driver, one)
  const first = await it.start(['a'])
  await endsOf(first, 1)
  await first.stop()
  const second = await it.start(['b'])
  expect(await endsOf(second, 2)).toMatchObject([
    { driver: 'a', playbook: 'teardown', status: 'done' },
    { driver: 'b', playbook: 'setup', status: 'done' },
  ])
  await second.stop()
  const third = await it.start(['b'])
  await third.stop()
  expect(it.calls()).toEqual(['a setup.yml', 'a teardown.yml', 'b setup.yml'])
  await endsOf(await it.start(['a', 'b']), 1)
  expect(it.calls().at(-1)).toBe('a setup.yml')
})

test('what failed is run again after a pause that becomes longer, with the end of its output told (PLAYBOOKS-5)', async () => {
  const it = machine('echo the card is not there >&2; exit 3')
  it.book('a', 'setup')
  const host = await it.start(['a'])
  expect(await endsOf(host, 1)).toMatchObject([
    { status: 'failed', reason: 'exit status 3', output: 'the card is not there\n' },
  ])
  expect(host.heldBack('a')).toEqual({
    isOver: true,
    reason: 'its set-up playbook failed: exit status 3\nthe card is not there',
  })
  await host.clock.pass(60_000)
  await endsOf(host, 2)
  await host.clock.pass(60_000)
  expect(it.calls()).toHaveLength(2)
  const pauses = host.log.said.filter(({ message }) => message === 'playbooks.again')
  expect(pauses.map(({ detail }) => detail['inMs'])).toEqual([60_000, 120_000])
  it.becomes('true')
  await host.clock.pass(60_000)
  expect(await endsOf(host, 3)).toMatchObject([{ status: 'done', reason: null }])
  expect(host.heldBack('a')).toBe(null)
})

test('one that hangs is killed with its children, also with those in sessions of their own, and the next is run', async () => {
  const it = machine()
  it.becomes(`[ $(basename $PWD) = b ] && exit 0
setsid sh -c 'echo $$ > ${it.root}/child; exec sleep 600' & echo $! > ${it.root}/own; sleep 600`)
  for (const driver of ['a', 'b']) it.book(driver, 'setup')
  const host = await it.start(['a', 'b'], { limitMs: 1500 })
  expect(await endsOf(host, 2)).toMatchObject([
    { driver: 'a', status: 'failed', reason: 'did not end within 1500 ms' },
    { driver: 'b', status: 'done' },
  ])
  expect(isAlive(textIn(join(it.root, 'child')))).toBe(false)
})

test('of output without end, and of any bytes, the end is told and more of it kept on the host', async () => {
  const it = machine(`head -c 3000000 /dev/urandom; yes line | head -n 200000; printf 'the \\0 end'`)
  it.book('a', 'setup')
  const host = await it.start(['a'])
  const [run] = await endsOf(host, 1)
  expect(run).toMatchObject({ status: 'done' })
  expect(run!.output).toMatch(/^\[\d+ bytes or more before this are on the host\]\n[\s\S]*\nline\nthe {2}end$/)
  expect(run!.output.length).toBe(4000)
  expect(readFileSync(join(it.root, 'state/playbooks/a-setup.log'), 'utf8').length).toBe(256 * 1024)
})

test('a program that is not there is told with what to do, and drivers without playbooks go on', async () => {
  const it = machine()
  it.book('a', 'setup')
  const host = await it.start(['a', 'b'], { program: 'no-such-ansible' })
  expect(await endsOf(host, 1)).toMatchObject([
    { status: 'failed', reason: expect.stringMatching(/^no-such-ansible is not installed/) },
  ])
  expect([host.heldBack('a')?.isOver, host.heldBack('b')]).toEqual([true, null])
})

test('a folder that is not there fails every driver by name, until it is there', async () => {
  const it = machine()
  const host = await it.start(['a'], { dir: join(it.root, 'nowhere') })
  expect(await endsOf(host, 1)).toMatchObject([{ status: 'failed', reason: expect.stringContaining('nowhere') }])
})

test('nothing is torn down while anything may be prepared through it (PLAYBOOKS-4)', async () => {
  const it = machine()
  it.book('a', 'teardown')
  await (await it.start(['a'])).stop()
  let prepared = 2
  const host = await it.start([], { preparedBy: () => prepared })
  expect(await endsOf(host, 1)).toMatchObject([
    { status: 'failed', reason: expect.stringMatching(/^2 attach handles/) },
  ])
  expect(it.calls()).toEqual([])
  prepared = 0
  await host.clock.pass(60_000)
  expect(await endsOf(host, 2)).toMatchObject([{ status: 'done' }])
})

/**
 * A host program that is killed when its playbook has written this file: the playbook goes on, and nobody waits for it.
 */
const killedWhile = async (it: ReturnType<typeof machine>, pid: string) => {
  const { promise: never } = Promise.withResolvers<never>()
  const host = await it.start(['a'], {
    run: (request) => {
      void runTailed(request)
      return never
    },
  })
  await until(() => textIn(pid) !== '', 'the playbook')
  return host
}
test('one that was interrupted is run again, but not beside the one that an earlier start left behind (PLAYBOOKS-1, 2)', async () => {
  const it = machine()
  const [pid, go] = [join(it.root, 'pid'), join(it.root, 'go')]
  it.becomes(`echo $$ > ${pid}; while [ ! -e ${go} ]; do sleep 0.05; done`)
  it.book('a', 'setup')
  const first = await killedWhile(it, pid)
  const second = await it.start(['a'])
  expect(await endsOf(second, 1)).toMatchObject([
    {
      status: 'failed',
      reason: 'another playbook still runs on this host, begun by an earlier start of the host program',
    },
  ])
  writeFileSync(go, '')
  await until(() => !isAlive(textIn(pid)), 'its end')
  await second.clock.pass(60_000)
  expect(await endsOf(second, 2)).toMatchObject([{ status: 'done' }])
  expect(it.calls()).toEqual(['a setup.yml', 'a setup.yml'])
  expect(first.lastRuns()).toMatchObject([{ status: 'running' }])
  opened.splice(opened.indexOf(first), 1)
})

test('one that an earlier start left behind is killed when it is as old as a playbook may become (PLAYBOOKS-6)', async () => {
  const it = machine()
  const pid = join(it.root, 'pid')
  it.becomes(`[ -e ${pid} ] && exit 0; echo $$ > ${pid}; sleep 600`)
  it.book('a', 'setup')
  const first = await killedWhile(it, pid)
  const second = await it.start(['a'], { limitMs: 1500 })
  const killed = () => second.log.said.filter(({ message }) => message === 'playbook.survivorKilled')
  let ends = 1
  for (await endsOf(second, ends); killed().length === 0; await endsOf(second, ++ends)) {
    expect(isAlive(textIn(pid))).toBe(true)
    await second.clock.pass(3_600_000)
  }
  await until(() => !isAlive(textIn(pid)), 'its end')
  await second.clock.pass(3_600_000)
  expect(await endsOf(second, ends + 1)).toMatchObject([{ status: 'done' }])
  expect(it.calls()).toEqual(['a setup.yml', 'a setup.yml'])
  opened.splice(opened.indexOf(first), 1)
})

test('a stop kills what is running, and it is run again with the next start', async () => {
  const it = machine()
  it.becomes(`echo $$ > ${it.root}/pid; sleep 600`)
  it.book('a', 'setup')
  const host = await it.start(['a'])
  await until(() => textIn(join(it.root, 'pid')) !== '', 'the playbook')
  expect(host.heldBack('a')).toEqual({ isOver: false, reason: 'its set-up playbook is running' })
  await host.stop()
  expect(isAlive(textIn(join(it.root, 'pid')))).toBe(false)
  it.becomes('true')
  await endsOf(await it.start(['a']), 1)
  expect(it.calls()).toHaveLength(2)
})
