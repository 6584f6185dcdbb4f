/** The locks of programs that change cards, over a machine in memory: how `flock` is called, and what it says. */
import { describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import type { Ended } from '../../src/drivers/runToEnd.ts'
import { toolLocks } from '../../src/drivers/toolLocks.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'

const CARD = 'h1_0000:5e:00.0'
const BUSY = 'was not begun, because a program that was begun earlier still works on the same card'
/** `held`: the locks that a look finds held, by the end of their path. */
const machine = (proc: Tree = {}, held: readonly string[] = []) => {
  const calls: (readonly unknown[])[] = []
  const ended: number[] = []
  const host = recordedHostIo({ proc: { uptime: '1000.50 1.0\n', ...proc } }, 'h1')
  const answers: (() => Promise<string>)[] = []
  const run: HostIo['run'] = async (program, args, ...more) => {
    calls.push([program, args, ...more])
    const answer = answers.shift()
    if (answer !== undefined) return answer()
    if (held.some((one) => String(args[3]).endsWith(one))) throw new Error('flock: exit status 213')
    return ''
  }
  const io = { ...host, run }
  return { io, calls, ended, answers, locks: toolLocks(io, (pid) => void ended.push(pid)) }
}
/** The shell that keeps what the program prints in files (TOOLS-4). */
const below = (files: unknown = expect.any(String)) => ['sh', '-c', expect.any(String), 'sh', files]
const lockIn = (calls: readonly (readonly unknown[])[]): string => (calls[0]![1] as readonly string[])[3]!

test('a program runs below flock with a lock of its card, whose name is noted beside it (TOOLS-1, TOOLS-2)', async () => {
  const it = machine()
  it.answers.push(async () => 'loaded\n')
  expect(await it.locks.change(CARD, '/opt/fpgaconf', ['-a', 'b'], 77, never)).toBe('loaded\n')
  const lock = lockIn(it.calls)
  expect(lock).toMatch(/^\/state\/tools\/[0-9a-f]{32}\.lock$/)
  const files = lock.replace('.lock', '')
  const args = ['--nonblock', '--conflict-exit-code', '213', lock, ...below(files), '/opt/fpgaconf', '-a', 'b']
  expect(it.calls).toEqual([['flock', args, 77, never]])
  expect(await it.io.read(lock.replace('.lock', '.json'))).toBe(`{"card":"${CARD}"}\n`)
  // each card has its own, and each folder
  await it.locks.change('other', 'x', [], 1)
  const elsewhere = { ...it.io, stateDir: '/state/../elsewhere' }
  await toolLocks({ ...elsewhere, write: async () => undefined }, () => undefined).change(CARD, 'x', [], 1)
  const locks = it.calls.map(([, all]) => (all as readonly string[])[3]!.split('/').at(-1))
  expect(new Set(locks).size).toBe(3)
})

describe('what flock says', () => {
  test.each([
    ['spawn flock ENOENT', 'fpgaconf: was not begun, because flock (of util-linux) is not installed on this host'],
    ['flock: exit status 213', `fpgaconf: ${BUSY}`],
    ['exit status 213', `fpgaconf: ${BUSY}`],
    ['flock: exit status 137', 'fpgaconf: was killed by SIGKILL (exit status 137)'],
    ['flock: exit status 134', 'fpgaconf: was killed by SIGABRT (exit status 134)'],
    ['flock: exit status 128', 'fpgaconf: exit status 128'],
    ['flock: exit status 3', 'fpgaconf: exit status 3'],
    ['flock: flock: failed to execute /x: No such file', 'fpgaconf: failed to execute /x: No such file'],
    ['no flock: here', 'fpgaconf: no flock: here'],
    ['an exit status 213', 'fpgaconf: an exit status 213'],
    ['exit status 213 or so', 'fpgaconf: exit status 213 or so'],
    ['spawn flock ENOENT or so', 'fpgaconf: spawn flock ENOENT or so'],
  ])('%j is told as %j', async (said, told) => {
    const it = machine()
    const cause = new Error(said)
    it.answers.push(() => Promise.reject(cause))
    const error = await it.locks.change(CARD, '/opt/fpgaconf', [], 1).catch((one: unknown) => one as Error)
    expect([(error as Error).message, (error as Error).cause]).toEqual([told, cause])
  })
  const end = (more: Partial<Ended>): Ended => ({
    code: 0,
    why: null,
    outputSha256: 'a',
    outputBytes: 1,
    outputEnd: '',
    ...more,
  })
  test.each<[Partial<Ended>, Partial<Ended>]>([
    [{}, {}],
    [{ code: 3 }, {}],
    [{ code: 213 }, { code: null, why: BUSY }],
    [{ code: 143 }, { code: null, why: 'was killed by SIGTERM (exit status 143)' }],
    [{ code: null, why: 'did not end within 1 ms' }, {}],
    [{ code: 69 }, {}],
    [{ code: 69, outputEnd: 'other' }, {}],
    [{ code: 70, outputEnd: 'flock: failed to execute /x' }, {}],
    [
      { code: 69, outputEnd: 'flock: failed to execute /x: No such file\n' },
      { code: null, why: 'was not begun: failed to execute /x: No such file' },
    ],
  ])('of an end %j becomes %j', async (given, becomes) => {
    const it = machine()
    const calls: unknown[] = []
    const told = await it.locks.toEnd(CARD, '/bin/wipe', ['-x'], async (...call) => (calls.push(call), end(given)))
    expect(told).toStrictEqual(end({ ...given, ...becomes }))
    expect(calls).toEqual([
      ['flock', ['--nonblock', '--conflict-exit-code', '213', expect.any(String), ...below(), '/bin/wipe', '-x']],
    ])
  })
})

describe('what works on a card', () => {
  const stat = (pid: number, name: string, parent: number, started: number, state = 'S') =>
    `${pid} (${name}) ${state} ${parent} ${Array.from({ length: 17 }, () => 0).join(' ')} ${started} 0 0`
  /** A card on which a tool works, as `flock` has begun it, beside processes that have nothing to do with it. */
  const working = (lock: string): Tree => {
    const fd = (path: string): Tree => ({ fd: { '0': { '->': '/dev/null' }, '3': { '->': path } } })
    return {
      self: { '->': '1' },
      '1': { stat: stat(1, 'init', 0, 0), fd: {} },
      '20': { stat: stat(20, 'flock', 1, 50_000), ...fd(lock) },
      // a tool that is a script of the shell is one of the workers, its caller is none
      '26': { stat: stat(26, 'sh', 20, 50_020), ...fd(lock) },
      '27': { stat: stat(27, 'sh', 26, 99_000), ...fd(lock) },
      '24': { stat: stat(24, 'late', 21, 90_000) },
      '21': { stat: stat(21, 'fpgaconf', 20, 50_050), ...fd(lock) },
      '23': { stat: stat(23, 'second', 21, 60_000) },
      '22': { stat: stat(22, 'first', 21, 60_000) },
      '25': { stat: stat(25, 'ended', 21, 60_000, 'Z'), ...fd(lock) },
      '30': { stat: stat(30, 'other', 1, 10), ...fd(`/elsewhere/${lock.slice(1)}x`) },
      '31': { stat: '', ...fd(lock) },
    }
  }
  const found = async () => {
    const before = machine()
    await before.locks.change(CARD, 'x', [], 1)
    const lock = lockIn(before.calls)
    const it = machine(working(lock), [lock])
    await it.io.write(lock, '')
    await it.io.write(lock.replace('.lock', '.json'), JSON.stringify({ card: CARD }))
    await it.io.write('/state/tools/unknown.lock', '')
    await it.io.write('/state/tools/odd.lock', '')
    await it.io.write('/state/tools/odd.json', '{"card": 7}')
    return { ...it, lock }
  }
  const WORKERS = [
    { pid: 21, program: 'fpgaconf', ageMs: 500_000 },
    { pid: 22, program: 'first', ageMs: 400_500 },
    { pid: 23, program: 'second', ageMs: 400_500 },
    { pid: 24, program: 'late', ageMs: 100_500 },
    { pid: 27, program: 'sh', ageMs: 10_500 },
  ]
  test('is found with its children and its age, the oldest first, without flock itself', async () => {
    const it = await found()
    expect(await it.locks.atWork()).toEqual([{ card: CARD, workers: WORKERS }])
    expect(it.calls).toHaveLength(3)
    const look = ['--nonblock', '--conflict-exit-code', '213', it.lock, 'true']
    expect(it.calls).toContainEqual(['flock', look, 10_000])
    expect([it.locks.worksOn(CARD), it.locks.worksOn('unknown')]).toEqual([true, false])
  })
  test('is looked for on the cards that are named, and a lock without a card is named by itself', async () => {
    const it = await found()
    expect(await it.locks.atWork(new Set(['unknown', 'odd']))).toEqual([])
    const looked = it.calls.map(([, args]) => (args as readonly string[])[3]!)
    expect(looked.toSorted()).toEqual(['/state/tools/odd.lock', '/state/tools/unknown.lock'])
  })
  test('is an error where the lock cannot be looked at', async () => {
    const it = await found()
    it.answers.push(() => Promise.reject(new Error('flock: exit status 71')))
    await expect(it.locks.atWork()).rejects.toThrow('flock: exit status 71')
  })
  test('is killed as a whole, and nothing of another card', async () => {
    const it = await found()
    await it.locks.kill('another')
    expect(it.ended).toEqual([])
    await it.locks.kill(CARD)
    expect(it.ended).toEqual([20, 26, 21, 22, 23, 24, 27])
  })
  test('is killed by its lock once one of it is old enough', async () => {
    const it = await found()
    expect([await it.locks.killAged(it.lock, 500_001), it.ended]).toEqual([[], []])
    expect(await it.locks.killAged(`/state/x/..${it.lock.slice('/state'.length)}`, 500_000)).toEqual(WORKERS)
    expect(it.ended).toEqual([20, 26, 21, 22, 23, 24, 27])
  })
  test('is known as long as any of several programs works (TOOLS-3)', async () => {
    const it = machine()
    const gates = [0, 1].map(() => Promise.withResolvers<string>())
    it.answers.push(
      ...gates.map(
        ({ promise }) =>
          () =>
            promise,
      ),
    )
    const works = gates.map(() => it.locks.change(CARD, 'x', [], 1))
    await new Promise((resolve) => setImmediate(resolve))
    const seen = [it.locks.worksOn(CARD), it.locks.worksOn('other')]
    gates[0]!.resolve('')
    await works[0]
    seen.push(it.locks.worksOn(CARD))
    gates[1]!.reject(new Error('no'))
    await works[1]!.catch(() => undefined)
    expect([...seen, it.locks.worksOn(CARD)]).toEqual([true, false, true, false])
  })
})
