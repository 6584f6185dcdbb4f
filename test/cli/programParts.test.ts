/** Small parts of the programs: the group of a cloud, drivers of this machine, playbooks, simulated hosts, programs. */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Config } from '../../src/cli/config/config.ts'
import { drain } from '../../src/cli/programs/control.ts'
import { demoHosts } from '../../src/cli/programs/demo.ts'
import { imagesIn } from '../../src/cli/programs/host.ts'
import { cleansUnder, localDrivers, playbooksOf, reportedAtOnce } from '../../src/cli/programs/hosts.ts'
import { isWell } from '../../src/cli/programs/neighbours.ts'
import { clientIdIn, foreignMember } from '../../src/cli/programs/oneCloud.ts'
import { programAt } from '../../src/cli/programs/programAt.ts'
import { listensOf } from '../../src/cli/programs/untilEnded.ts'
import { reachedAt, urlOf } from '../../src/cli/programs/listen.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

describe('a control joins a group', () => {
  const kafka = { brokers: ['b1:9092', 'b2:9092'], prefix: 'p.' }
  const [own, other] = [clientIdIn('cloud-1', 7), clientIdIn('cloud-2', 8)]
  test('under a name that ends with its cloud', () => expect(own).toBe('accelerando-control-7@cloud-1'))
  test.each([
    ['nobody', []],
    ['controls of its own cloud', [own, clientIdIn('cloud-1', 9)]],
    ['controls of releases that do not name theirs', ['accelerando-control-3', '']],
  ])('with %s', (_, members) => expect(foreignMember(members, 'cloud-1', kafka)).toBeNull())
  test.each([
    ['cloud-2', [own, 'accelerando-control-3', other]],
    ['', ['accelerando-control-3@']],
    ['b', ['strange@a@b']],
  ])('but not with one of the cloud "%s"', (cloud, members) =>
    expect(foreignMember(members, 'cloud-1', kafka)).toBe(
      `another cloud (${cloud}) uses the topics at b1:9092, b2:9092 with the prefix "p.", and this is cloud cloud-1: set kafka.prefix to another one for each cloud`,
    ),
  )
})

describe('the drivers of this machine', () => {
  const configOf = (enabledDrivers: readonly string[]) => ({ enabledDrivers, drivers: {} }) as unknown as Config
  test('are those that are enabled, in their order', () => {
    const found = localDrivers(configOf(['fake_driver', 'pci_driver']))
    expect(found.ok && found.drivers.map(({ name }) => name)).toEqual(['fake_driver', 'pci_driver'])
    expect(localDrivers(configOf([]))).toEqual({ ok: true, drivers: [] })
  })
  test('are none where one of them cannot be used, and each problem is told', () => {
    const found = localDrivers(configOf(['fake_driver', 'simulated_driver', 'simulated_driver']))
    expect(found).toEqual({ ok: false, problems: Array.from({ length: 2 }, () => expect.stringMatching(/^\S+: .+/)) })
  })
  test('are watched for changes only where they drive hardware', () => {
    const log = memoryLog()
    const stop = reportedAtOnce({ reportNow: () => expect.fail('nothing has changed') }, [{ name: 'fake_driver' }], log)
    expect(stop()).toBeUndefined()
    expect(log.said).toEqual([])
  })
})

test('playbooks are those of the configured folder, with their program and limit; without a folder there are none', () => {
  const playbooks = { dir: 'some/books', program: '/usr/bin/books', limitMs: 7 }
  expect(playbooksOf({ playbooks: { ...playbooks, dir: null } } as unknown as Config)).toBeNull()
  expect(playbooksOf({ playbooks } as Config)).toEqual({
    dir: join(process.cwd(), 'some/books'),
    program: '/usr/bin/books',
    limitMs: 7,
    environment: process.env,
    programAt: expect.any(Function),
    run: expect.any(Function),
  })
})

describe('a program that cleans', () => {
  const folder = tempFolder('cleans-under')
  afterAll(folder.remove)
  const warn = () => expect.fail('nothing is wrong')
  const { locks } = realHostIo({ hostname: 'h1', stateDir: join(folder.path, 'state'), warn })
  const run = cleansUnder(locks)
  const limits = { timeoutMs: 60_000, folder: folder.path, signal: new AbortController().signal }
  const WAITS = 'setInterval(() => {}, 1000)'
  test('runs in the given folder, with its own environment', async () => {
    const args = ['-p', 'process.env.SLOT + process.cwd()']
    const ended = await run(process.execPath, args, { SLOT: 's1 ' }, limits, 'card-1')
    const output = `s1 ${folder.path}\n`
    expect(ended).toEqual({
      ...{ code: 0, why: null, outputEnd: output, outputBytes: output.length },
      outputSha256: createHash('sha256').update(output).digest('hex'),
    })
  })
  test('holds the lock of its card, and of no other, until it is stopped', async () => {
    const stop = new AbortController()
    const begun = join(folder.path, 'begun')
    const args = ['-e', `fs.writeFileSync('${begun}', ''); ${WAITS}`]
    const first = run(process.execPath, args, {}, { ...limits, signal: stop.signal }, 'card-1')
    await until(() => existsSync(begun))
    expect(await run(process.execPath, ['-v'], {}, limits, 'card-1')).toMatchObject({
      code: null,
      why: 'was not begun, because a program that was begun earlier still works on the same card',
    })
    expect(await run(process.execPath, ['-v'], {}, limits, 'card-2')).toMatchObject({ code: 0, why: null })
    stop.abort()
    expect(await first).toMatchObject({ code: null, why: 'was stopped' })
    expect(await run(process.execPath, ['-v'], {}, limits, 'card-1')).toMatchObject({ code: 0, why: null })
  })
  test('is not begun after a stop, and is ended when its time is over', async () => {
    const stopped = { ...limits, signal: AbortSignal.abort() }
    await expect(run(process.execPath, ['-v'], {}, stopped, 'card-1')).rejects.toThrow('aborted')
    expect(await run(process.execPath, ['-e', WAITS], {}, { ...limits, timeoutMs: 1 }, 'card-1')).toMatchObject({
      code: null,
      why: 'did not end within 1 ms',
    })
  })
})

test('a control that stops says so at once, ends its streams, and goes on for a second and a half', async () => {
  const clock = handClock()
  const seen = { streamsEnded: 0, over: false }
  const draining = drain(clock, () => void seen.streamsEnded++)
  expect([draining.notReady(), seen]).toEqual([null, { streamsEnded: 0, over: false }])
  void draining.begin().then(() => (seen.over = true))
  await clock.pass(1499)
  expect([draining.notReady(), seen]).toEqual(['stopping', { streamsEnded: 1, over: false }])
  await clock.pass(1)
  expect([draining.notReady(), seen]).toEqual(['stopping', { streamsEnded: 1, over: true }])
})
test('a host says where its images come from, and works in part while they cannot be had', () => {
  const source = () => 'the image service' as const
  expect(imagesIn({ whyFailing: () => null, source })).toEqual({ images: 'the image service' })
  const reason = 'images: it answers 503'
  expect(imagesIn({ whyFailing: () => reason, source })).toEqual({ images: reason, degraded: reason })
})

test('simulated hosts are as many as the demo says, a mixed cloud without sizes, and always the same', () => {
  const sized = { kind: 'sized', seed: 's', hosts: 2, devices: 3, handles: 4, hostWork: true } as const
  expect(demoHosts(null)).toEqual([])
  const hosts = demoHosts(sized)
  expect(hosts.map(({ hostname }) => hostname)).toEqual(['sim-1', 'sim-2'])
  expect(demoHosts(sized)).toEqual(hosts)
  const mixed = demoHosts({ kind: 'mixed', seed: 's' })
  expect(mixed.length).toBeGreaterThan(2)
  expect(demoHosts({ kind: 'mixed', seed: 's' })).toEqual(mixed)
})

describe('a program of this machine', () => {
  const folder = tempFolder('program-at')
  afterAll(folder.remove)
  const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')]
  for (const [dir, name, mode] of [
    [first, 'not-executable', 0o600],
    [second, 'not-executable', 0o700],
    [second, 'both', 0o700],
    [first, 'both', 0o700],
  ] as const) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, name), '')
    chmodSync(join(dir, name), mode)
  }
  const path = ['', first, second].join(delimiter)
  test('is the first in the folders of the search path that may be run', async () => {
    expect(await programAt('both', path)).toBe(join(first, 'both'))
    expect(await programAt('not-executable', path)).toBe(join(second, 'not-executable'))
    expect(await programAt('nowhere', path)).toBeNull()
    expect(await programAt('both', '')).toBeNull()
  })
  test('is taken as it is where it is named by its path', async () => {
    expect(await programAt(join(second, 'both'), first)).toBe(join(second, 'both'))
    expect(await programAt(relative(process.cwd(), join(first, 'both')), '')).toBe(join(first, 'both'))
    expect(await programAt(join(first, 'not-executable'), second)).toBeNull()
  })
})

test('a neighbour is well where it is used, or where images come from', () => {
  const said = ['in use', 'a folder', 'the image service', 'absent', 'it answers 503', 'toString', '']
  expect(said.filter(isWell)).toEqual(['in use', 'a folder', 'the image service'])
})

test('the addresses of a program stand under the flags that set them', () => {
  const [listen, adminListen, uiListen] = [1, 2, 3].map((port) => ({ host: 'h', port, chosen: true }))
  expect(listensOf({ listen, adminListen, uiListen } as never)).toEqual({
    '--listen': listen,
    '--admin-listen': adminListen,
    '--ui-listen': uiListen,
  })
})
test.each([
  ['0.0.0.0', 'http://127.0.0.1:1'],
  ['::', 'http://[::1]:1'],
  ['10.0.0.1', 'http://10.0.0.1:1'],
  ['fd00::1', 'http://[fd00::1]:1'],
])('a listener on %s is reached at %s', (host, url) => {
  expect(reachedAt({ host, port: 1 })).toBe(url)
  expect(urlOf({ host, port: 1 })).toBe(host.includes(':') ? `http://[${host}]:1` : `http://${host}:1`)
})
