/**
 * Programs that change cards, as real processes: one at a time for each card, also when the host program that began one
 * is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { realHostIo, runToEnd } from '../../src/drivers/hostIo.ts'
import { HostStops } from '../../src/drivers/runToEnd.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-locks-'))
const CHANGING = join(import.meta.dirname, '../support/fixtures/changingHost.ts')
const [CARD, OTHER] = ['here_0000:5e:00.0', 'here_0000:af:00.0']
const begun: number[] = []
const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}
afterAll(() => {
  for (const pid of begun) end(pid)
  rmSync(folder, { recursive: true })
})

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
/**
 * A tool that notes in `calls` when it begins and ends, and ends when the file `go` is there; `text`: what it does
 * besides.
 */
const machine = (text = '') => {
  const root = mkdtempSync(join(folder, 'm-'))
  const [state, tool, calls, go, pids] = ['state', 'fpgaconf', 'calls', 'go', 'pids'].map((name) =>
    join(root, name),
  ) as [string, string, string, string, string]
  mkdirSync(state)
  const wait = `while [ ! -e ${go} ]; do sleep 0.02; done`
  const script = `#!/bin/sh\necho $$ >> ${pids}\necho begin $1 >> ${calls}\n${text}\n${wait}\necho loaded $1\necho end $1 >> ${calls}\n`
  writeFileSync(tool, script, { mode: 0o755 })
  const noted = (): readonly number[] => {
    const found = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []
    begun.push(...found)
    return found
  }
  return {
    root,
    tool,
    pids,
    wait,
    io: realHostIo({ hostname: 'here', stateDir: state, warn: () => {} }),
    go: () => writeFileSync(go, ''),
    stop: () => rmSync(go),
    calls: (): readonly string[] => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    tools: noted,
    /** Another process, as an earlier start of the host program. */
    earlier: (name: string): ChildProcess =>
      spawn(process.execPath, [CHANGING, state, CARD, tool, name], { stdio: 'inherit' }),
  }
}
type Machine = ReturnType<typeof machine>
/** A host program that was killed while its tool works on the card. */
const killedInMidst = async (it: Machine): Promise<number> => {
  const host = it.earlier('first')
  const gone = new Promise((resolve) => host.once('close', resolve))
  await expect.poll(it.calls, { timeout: 20_000 }).toEqual(['begin first'])
  host.kill('SIGKILL')
  await gone
  return it.tools()[0]!
}
const BUSY = 'fpgaconf: was not begun, because a program that was begun earlier still works on the same card'

test('a tool outlives its killed host program, and no second one is begun beside it (TOOLS-1)', async () => {
  const it = machine()
  const tool = await killedInMidst(it)
  expect(isAlive(tool)).toBe(true)
  await expect(it.io.change(CARD, it.tool, ['second'], 5000)).rejects.toThrow(BUSY)
  const [found, ...others] = await it.io.locks.atWork()
  expect(others).toEqual([])
  expect(found).toMatchObject({ card: CARD })
  expect(found!.workers[0]).toMatchObject({ pid: tool, program: 'fpgaconf' })
  it.go()
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
  expect(await it.io.change(CARD, it.tool, ['third'], 5000)).toBe('loaded third\n')
  expect(it.calls()).toEqual(['begin first', 'end first', 'begin third', 'end third'])
})

test('a tool is left at work when the host program stops, and is killed when its order is over otherwise (TOOLS-4)', async () => {
  const it = machine()
  const [stops, late] = [new AbortController(), new AbortController()]
  const works = [
    it.io.change(CARD, it.tool, ['one'], 60_000, stops.signal),
    it.io.change(OTHER, it.tool, ['other'], 60_000, late.signal),
  ].map((work) => work.catch((error: unknown) => (error as Error).message))
  await expect.poll(() => it.calls().toSorted()).toEqual(['begin one', 'begin other'])
  stops.abort(new HostStops('the host stops'))
  late.abort(new Error('too late'))
  expect(await Promise.all(works)).toEqual([
    'fpgaconf: is left at work, because the host program stops',
    'fpgaconf: was stopped, because its time is over',
  ])
  it.go()
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
  expect(it.calls().slice(2)).toEqual(['end one'])
})

test('a cleaning is left at work as well', async () => {
  const it = machine()
  const stops = new AbortController()
  const limits = { timeoutMs: 60_000, folder: it.root, signal: stops.signal }
  const work = it.io.locks.toEnd(CARD, it.tool, ['one'], (below, all) => runToEnd(below, all, {}, limits))
  await expect.poll(it.calls).toEqual(['begin one'])
  stops.abort(new HostStops('the host stops'))
  expect(await work).toMatchObject({ code: null, why: 'is left at work, because the host program stops' })
  it.go()
  await expect.poll(it.calls).toEqual(['begin one', 'end one'])
})

test('on which card a program works is known without its lock, also of one that an earlier start has left (TOOLS-3)', async () => {
  const it = machine()
  await killedInMidst(it)
  const { io } = it
  expect(io.worksOn!(CARD)).toBe(false)
  await io.locks.atWork()
  expect([io.worksOn!(CARD), io.worksOn!(OTHER)]).toEqual([true, false])
  expect(await io.locks.atWork(new Set([OTHER]))).toEqual([])
  expect(io.worksOn!(CARD)).toBe(true)
  it.go()
  await expect.poll(() => io.locks.atWork(new Set([CARD]))).toEqual([])
  expect(io.worksOn!(CARD)).toBe(false)
  it.stop()
  const limits = { timeoutMs: 60_000, folder: it.root, signal: new AbortController().signal }
  const works = [
    io.change(CARD, it.tool, ['one'], 60_000),
    io.locks.toEnd(OTHER, it.tool, ['other'], (below, all) => runToEnd(below, all, {}, limits)),
  ]
  await expect.poll(() => it.calls().slice(2).toSorted()).toEqual(['begin one', 'begin other'])
  expect([io.worksOn!(CARD), io.worksOn!(OTHER)]).toEqual([true, true])
  it.go()
  await Promise.all(works)
  expect([io.worksOn!(CARD), io.worksOn!(OTHER)]).toEqual([false, false])
})

test('another card is not locked', async () => {
  const it = machine()
  const work = it.io.change(CARD, it.tool, ['one'], 60_000)
  const other = it.io.change(OTHER, it.tool, ['other'], 60_000)
  await expect.poll(() => it.calls().toSorted()).toEqual(['begin one', 'begin other'])
  expect((await it.io.locks.atWork()).map(({ card }) => card).toSorted()).toEqual([CARD, OTHER])
  it.go()
  expect(await Promise.all([work, other])).toEqual(['loaded one\n', 'loaded other\n'])
})

test('a tool has ended when it has, and what it has started and holds its output keeps the lock until it ends', async () => {
  const it = machine(`setsid sh -c 'echo $$ >> "$0"; while [ ! -e "$1" ]; do sleep 0.02; done' PIDS GONE &`)
  const child = join(it.root, 'child-may-end')
  writeFileSync(it.tool, readFileSync(it.tool, 'utf8').replace('PIDS', it.pids).replace('GONE', child))
  it.go()
  expect(await it.io.change(CARD, it.tool, ['first'], 5000)).toBe('loaded first\n')
  await expect.poll(() => it.tools().length).toBe(2)
  await expect(it.io.change(CARD, it.tool, ['second'], 5000)).rejects.toThrow(BUSY)
  writeFileSync(child, '')
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
})

test('a tool that closes all files that it did not open itself is locked all the same', async () => {
  const it = machine()
  const inner = join(it.root, 'inner')
  writeFileSync(inner, readFileSync(it.tool, 'utf8'), { mode: 0o755 })
  // as `sudo` does it
  const closed = Array.from({ length: 7 }, (_, at) => `${at + 3}>&-`).join(' ')
  writeFileSync(it.tool, `#!/bin/sh\nexec ${inner} "$@" ${closed}\n`)
  const tool = await killedInMidst(it)
  await expect(it.io.change(CARD, it.tool, ['second'], 5000)).rejects.toThrow(BUSY)
  await it.io.locks.kill(CARD)
  await expect.poll(() => isAlive(tool)).toBe(false)
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
})

test('what works on a card can be killed with its children', async () => {
  const it = machine(`setsid sleep 600 & echo $! >> "$PIDS_FILE"`)
  writeFileSync(it.tool, readFileSync(it.tool, 'utf8').replace('$PIDS_FILE', it.pids))
  await killedInMidst(it)
  await expect.poll(() => it.tools().length).toBe(2)
  await it.io.locks.kill(CARD)
  await expect.poll(() => it.tools().filter(isAlive)).toEqual([])
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
})

test('a tool that its own host program kills for its time lets the card go', async () => {
  const it = machine()
  await expect(it.io.change(CARD, it.tool, ['first'], 300)).rejects.toThrow('fpgaconf: no end within 300 ms')
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
})

test('the complaint, the exit status and the absence of a tool are told as its own', async () => {
  const it = machine()
  const { change } = it.io
  await expect(change(CARD, 'ls', ['/no-such-folder'], 5000)).rejects.toThrow(/^ls: .*no-such-folder/)
  await expect(change(CARD, 'false', [], 5000)).rejects.toThrow('false: exit status 1')
  await expect(change(CARD, 'sh', ['-c', 'echo ERROR: no such card; exit 1'], 5000)).rejects.toThrow(
    'sh: exit status 1: ERROR: no such card',
  )
  await expect(change(CARD, 'sh', ['-c', 'echo loading; kill -KILL $$'], 5000)).rejects.toThrow(
    'sh: was killed by SIGKILL (exit status 137)',
  )
  await expect(change(CARD, 'sh', ['-c', 'kill -KILL $$'], 5000)).rejects.toThrow(
    'sh: was killed by SIGKILL (exit status 137)',
  )
  await expect(change(CARD, '/opt/no-such-tool', [], 5000)).rejects.toThrow(
    'no-such-tool: failed to execute /opt/no-such-tool: it is not there, or no program',
  )
})

test('a program that is told how it has ended is locked alike', async () => {
  const it = machine()
  await killedInMidst(it)
  const limits = { timeoutMs: 5000, folder: '/', signal: new AbortController().signal }
  const ended = (program: string, args: readonly string[]) =>
    it.io.locks.toEnd(CARD, program, args, (below, all) => runToEnd(below, all, {}, limits))
  expect(await ended('true', [])).toMatchObject({ code: null, why: expect.stringContaining('was not begun') })
  it.go()
  await expect.poll(() => it.io.locks.atWork()).toEqual([])
  expect(await ended('sh', ['-c', 'echo wiped; exit 3'])).toMatchObject({ code: 3, why: null, outputEnd: 'wiped\n' })
  expect(await ended('sh', ['-c', 'kill -TERM $$'])).toMatchObject({
    code: null,
    why: 'was killed by SIGTERM (exit status 143)',
  })
  expect(await ended('/opt/gone', [])).toMatchObject({
    code: null,
    why: 'was not begun: failed to execute /opt/gone: it is not there, or no program',
  })
})

test('a tool whose name has blanks and parentheses is named whole', async () => {
  const it = machine()
  const odd = join(it.root, 'a (b) c')
  writeFileSync(odd, readFileSync(it.tool, 'utf8'), { mode: 0o755 })
  const work = it.io.change(CARD, odd, ['one'], 60_000)
  await expect.poll(it.calls).toEqual(['begin one'])
  expect((await it.io.locks.atWork())[0]!.workers[0]).toMatchObject({ pid: it.tools()[0], program: 'a (b) c' })
  it.go()
  await work
})
