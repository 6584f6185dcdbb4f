/** Programs and files of the real host: in which words each end is told, and what a program is given. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realHostIo, runTailed, runToEnd } from '../../src/drivers/hostIo.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('host-io-runs')
afterAll(() => folder.remove())
type Limits = { readonly readMaxBytes?: number; readonly outputMaxBytes?: number }
const open = (limits: Limits = {}, warned: unknown[] = []) =>
  realHostIo({
    hostname: 'here',
    stateDir: join(folder.path, 'state'),
    warn: (...warning) => void warned.push(warning),
    ...limits,
  })
const never = new AbortController().signal

describe('a program that reads', () => {
  const fails = (script: string, outputMaxBytes = 1000) =>
    open({ outputMaxBytes })
      .run('/bin/sh', ['-c', script], 10_000)
      .then(
        (text) => `printed ${text}`,
        (error: unknown) => (error as Error).message,
      )
  test.each([
    ['a complaint, without blanks around it', 'echo " no card " >&2; exit 3', 'sh: no card'],
    [
      'the beginning and the end of a long complaint',
      'printf "%0600d" 7 >&2; exit 3',
      `sh: ${'0'.repeat(247)} [...] ${'0'.repeat(245)}7`,
    ],
    ['its exit status, where it says nothing', 'echo; exit 3', 'sh: exit status 3'],
    ['what it prints, where it complains there', 'echo no devices; exit 6', 'sh: exit status 6: no devices'],
    ['its complaint alone, where it has both', 'echo text; echo broken >&2; exit 3', 'sh: broken'],
    ['its complaint, also when a signal has ended it', 'echo late >&2; kill -TERM $$', 'sh: late'],
    ['the signal, where it says nothing', 'kill -TERM $$', 'sh: killed by SIGTERM'],
    ['its output, whatever it complains of', 'echo text; echo careful >&2', 'printed text\n'],
    ['too long an output', 'printf "%01001d" 7', 'sh: more than 1000 bytes of output'],
    ['too long a complaint', 'printf "%01001d" 7 >&2', 'sh: more than 1000 bytes of output'],
  ])('is told by %s', async (_, script, told) => expect(await fails(script)).toBe(told))
  test('may print as much as allowed', async () =>
    expect(await fails('printf "%01000d" 7')).toBe(`printed ${'7'.padStart(1000, '0')}`))
  test('that is not there, or whose time is over, is told so', async () => {
    const { run } = open()
    await expect(run('/no/such-tool', [], 1000)).rejects.toThrow('such-tool: spawn /no/such-tool ENOENT')
    await expect(run('/bin/sleep', ['9'], 20)).rejects.toThrow('sleep: no end within 20 ms')
    await expect(run('/bin/sleep', ['9'], 9000, AbortSignal.abort())).rejects.toThrow(
      'sleep: was not begun, because its time is over',
    )
    await expect(run('/bin/sleep', ['9'], 9000, AbortSignal.timeout(20))).rejects.toThrow(
      'sleep: was stopped, because its time is over',
    )
  })
})

describe('a program that is run to its end', () => {
  const tailed = (script: string, more: Partial<Parameters<typeof runTailed>[0]> = {}) =>
    runTailed({
      ...{ program: '/bin/sh', args: ['-c', script], folder: '/', environment: {}, timeoutMs: 10_000 },
      ...{ keepBytes: 1000, signal: never },
      ...more,
    })
  test.each([
    ['true', null],
    ['exit 3', 'exit status 3'],
    ['kill -TERM $$', 'was killed by SIGTERM'],
  ])('is told by how it ended, with what it printed: %s', async (end, failure) =>
    expect(await tailed(`echo one; echo two >&2; ${end}`)).toEqual({ failure, output: 'one\ntwo\n', cut: 0 }),
  )
  test('has its folder and its environment, and nothing of this process', async () => {
    process.env['SECRET_OF_THE_HOST'] = 'x'
    const { output } = await tailed('pwd; /usr/bin/env', {
      folder: folder.path,
      environment: { OWN: 'yes', NONE: undefined },
    }).finally(() => delete process.env['SECRET_OF_THE_HOST'])
    const [place, ...lines] = output.trim().split('\n')
    expect(place).toBe(folder.path)
    const names = lines
      .map((line) => line.split('=')[0]!)
      .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))
    expect(names.toSorted()).toEqual(['ACCELERANDO_RUN', 'OWN'])
  })
  test('is told by the end of what it printed', async () =>
    expect(await tailed('printf 1234567890', { keepBytes: 4 })).toEqual({ failure: null, output: '7890', cut: 6 }))
  test('is killed after its time, or when nobody waits for it', async () => {
    expect(await tailed('echo one; sleep 9', { timeoutMs: 100 })).toMatchObject({
      failure: 'did not end within 100 ms',
    })
    const over = AbortSignal.timeout(50)
    expect(await tailed('sleep 9', { signal: over })).toMatchObject({ failure: 'was stopped' })
  })
  test('is not begun when nobody waits for it, or when it is not there', async () => {
    const file = join(folder.path, 'begun')
    const over = AbortSignal.abort(new Error('the host stops'))
    const none = { output: '', cut: 0 }
    expect(await tailed(`echo > ${file}`, { signal: over })).toEqual({ ...none, failure: 'the host stops' })
    expect(existsSync(file)).toBe(false)
    expect(await tailed('', { program: '/no/tool' })).toEqual({ ...none, failure: 'spawn /no/tool ENOENT' })
  })
  test('leaves the digest and the length of all that it printed, and at least the first and the last 4096 bytes', async () => {
    const limits = { timeoutMs: 10_000, folder: '/', signal: never }
    const text = `${'x'.repeat(5000)}end`
    const run = (script: string, environment: Readonly<Record<string, string>> = {}) =>
      runToEnd('/bin/sh', ['-c', script], environment, limits)
    expect(await run('printf "%s" "$TEXT"; exit 4', { TEXT: text })).toEqual({
      code: 4,
      why: null,
      outputSha256: createHash('sha256').update(text).digest('hex'),
      outputBytes: 5003,
      outputBegin: 'x'.repeat(4096),
      outputEnd: text.slice(-4096),
    })
    expect((await run('printf "%s" "$PATH"')).outputEnd).toBe(
      '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    )
    expect((await run('printf "%s" "$PATH"', { PATH: '/own' })).outputEnd).toBe('/own')
    expect(await run('kill -KILL $$')).toMatchObject({ code: null, why: 'was killed by SIGKILL' })
    await expect(runToEnd('/no/tool', [], {}, limits)).rejects.toThrow('spawn /no/tool ENOENT')
  })
})

describe('files', () => {
  test('of the driver itself are made with their folders, and nothing lies beside them', async () => {
    const io = open()
    await io.keep(`${io.stateDir}/a/b/kept`, 'one')
    await io.write(`${io.stateDir}/a/b/written`, 'two')
    expect(readdirSync(join(folder.path, 'state/a/b')).toSorted()).toEqual(['kept', 'written'])
    expect(await io.read(`${io.stateDir}/a/b/kept`)).toBe('one')
    const outside = join(folder.path, 'outside')
    await expect(io.keep(outside, 'x')).rejects.toThrow(`${outside}: is not below ${io.stateDir}`)
    await expect(io.keep(io.stateDir, 'x')).rejects.toThrow('is not below')
    expect(existsSync(outside)).toBe(false)
  })
  test('are read from their beginning, up to as many bytes as asked for', async () => {
    const { head } = open()
    const file = join(folder.path, 'head')
    writeFileSync(file, 'abcdef')
    const read = async (bytes: number) => Buffer.from(await head(file, bytes)).toString()
    expect([await read(3), await read(6), await read(7)]).toEqual(['abc', 'abcdef', 'abcdef'])
    mkdirSync(join(folder.path, 'd'))
    await expect(head(join(folder.path, 'd'), 1)).rejects.toMatchObject({ code: 'EISDIR' })
  })
  test('are read up to a limit, which is 4 MiB where none is given', async () => {
    const file = join(folder.path, 'big')
    writeFileSync(file, Buffer.alloc(4 * 1024 * 1024, 'x'))
    expect((await open().read(file)).length).toBe(4 * 1024 * 1024)
    writeFileSync(file, 'y', { flag: 'a' })
    await expect(open().read(file)).rejects.toThrow(`${file}: must not be longer than 4194304 bytes`)
  })
})
