/** What a host hands to a program that cleans, and the whole evidence that it keeps of it. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type CleanerParts, NotClean, cleaningLimitMs, createCleaner, withCleaning } from '../../src/host/cleaning.ts'
import { type CleaningPolicy, type ProgramEnd, environmentOf } from '../../src/host/cleaningCall.ts'
import type { Section } from '../../src/host/sections.ts'
import { CLEANED_HANDLE, NO_ANSIBLE } from '../support/ansible.ts'

const DRIVER = 'pci_driver'
const COMMAND = { driver: DRIVER, kind: 'command', command: ['/sbin/wipe', '--all'], limitMs: 1000 } as const
const PLAYBOOK = { driver: DRIVER, kind: 'playbook', playbook: '/etc/books/wipe.yml', limitMs: 2000 } as const
const QUARANTINE = { driver: DRIVER, kind: 'quarantine' } as const
const policiesOf = (policy: CleaningPolicy) => new Map([[DRIVER, policy]])
const ENDED: ProgramEnd = { code: 0, why: null, outputSha256: 'ab'.repeat(32), outputBytes: 3, outputEnd: 'ok\n' }
const ENVIRONMENT = {
  ACCELERANDO_DRIVER: 'pci_driver',
  ACCELERANDO_DEPLOYABLE: 'h1_card',
  ACCELERANDO_HANDLE: 'b0a70000-0000-4000-8000-000000000001',
  ACCELERANDO_HANDLE_TYPE: 'PCI',
  ACCELERANDO_HANDLE_INFO: '{"domain":"0000","bus":"af","device":"00","function":"1"}',
  ACCELERANDO_ADDRESS: '0000:af:00.1',
  ACCELERANDO_ORDER: '7',
}
/** `times`: what the clock says, one after the other. */
const cleaning = (policy: CleaningPolicy, run: CleanerParts['run'], times: readonly number[] = [10, 25]) => {
  const left = [...times]
  const ansible = {
    ...NO_ANSIBLE,
    programAt: async (name: string) => `/usr/bin/${name}`,
    environment: { PATH: '/bin', LC_ALL: 'C', ANSIBLE_GATHERING: 'smart' },
  }
  const { signal } = new AbortController()
  const cleaner = createCleaner({ policies: policiesOf(policy), run, clock: { now: () => left.shift()! }, ansible })
  return { signal, cleaned: cleaner.clean(CLEANED_HANDLE, signal) }
}
/** The reason and the evidence where it has not cleaned. */
const refusedBy = (policy: CleaningPolicy, run: CleanerParts['run'], times?: readonly number[]) =>
  cleaning(policy, run, times).cleaned.then(
    () => null,
    (error: unknown) => (error instanceof NotClean ? { reason: error.message, cleaned: error.cleaned } : error),
  )

describe('a command', () => {
  test('is run with its words, what it has to clean, its time, and the card that it changes', async () => {
    const calls: unknown[] = []
    const run: CleanerParts['run'] = async (...call) => (calls.push(call), ENDED)
    const { signal, cleaned } = cleaning(COMMAND, run)
    expect(await cleaned).toStrictEqual({
      command: '/sbin/wipe',
      startedAt: 10,
      finishedAt: 25,
      exitCode: 0,
      outputSha256: 'ab'.repeat(32),
      outputBytes: 3,
      output: 'ok\n',
    })
    expect(calls).toStrictEqual([
      ['/sbin/wipe', ['--all'], ENVIRONMENT, { timeoutMs: 1000, folder: '/', signal }, 'h1_card'],
    ])
  })
  test('is told no address of a handle that has none', () =>
    expect(
      environmentOf({ ...CLEANED_HANDLE, slot: { ...CLEANED_HANDLE.slot, type: 'MDEV', info: { a: 'b' } } }),
    ).toEqual({
      ...ENVIRONMENT,
      ACCELERANDO_HANDLE_TYPE: 'MDEV',
      ACCELERANDO_HANDLE_INFO: '{"a":"b"}',
      ACCELERANDO_ADDRESS: '',
    }))
  test.each<[string, ProgramEnd, string]>([
    ['ended badly', { ...ENDED, code: 4 }, 'ended with exit code 4'],
    ['was killed', { ...ENDED, code: null, why: 'was killed by SIGKILL' }, 'was killed by SIGKILL'],
    ['did not end', { ...ENDED, code: null }, 'did not end by itself'],
  ])('that %s has not cleaned', async (_, end, problem) =>
    expect(await refusedBy(COMMAND, async () => end)).toStrictEqual({
      reason: `cleaning failed: /sbin/wipe ${problem}`,
      cleaned: {
        command: '/sbin/wipe',
        startedAt: 10,
        finishedAt: 25,
        exitCode: end.code,
        outputSha256: 'ab'.repeat(32),
        outputBytes: 3,
        output: 'ok\n',
      },
    }),
  )
  test('that could not be started has printed nothing; a clock that was set back makes no negative time', async () =>
    expect(await refusedBy(COMMAND, () => Promise.reject(new Error('spawn ENOENT')), [30, 20])).toStrictEqual({
      reason: 'cleaning failed: /sbin/wipe spawn ENOENT',
      cleaned: {
        command: '/sbin/wipe',
        startedAt: 30,
        finishedAt: 30,
        exitCode: null,
        outputSha256: createHash('sha256').update('').digest('hex'),
        outputBytes: 0,
        output: '',
      },
    }))
  test('is kept with the end of its name, and with the beginning and the end of its output, without what no terminal shows', async () => {
    const name = `/${'x'.repeat(1000)}`
    const outputEnd = `${'y'.repeat(1500)}\t\n\u0000\u001B\u007F\uD800é✓`
    const { cleaned } = cleaning({ ...COMMAND, command: [name] }, async () => ({ ...ENDED, outputEnd }))
    const output = `${'y'.repeat(497)} [...] ${'y'.repeat(492)}\t\né✓`
    expect(await cleaned).toMatchObject({ command: 'x'.repeat(1000), output })
  })
  test('is kept with the error that a program prints before it tells how it is used', async () => {
    const usage = {
      outputBytes: 9000,
      outputBegin: 'NVMe status: Access Denied\nUsage: ',
      outputEnd: '-n\n'.repeat(1000),
    }
    const kept = await cleaning(COMMAND, async () => ({ ...ENDED, ...usage })).cleaned
    expect(kept?.output).toMatch(/^NVMe status: Access Denied\n[^]*-n\n$/)
    expect(kept?.output).toHaveLength(1000)
  })
  test('is refused in at most 2,000 characters', async () => {
    const refused = await refusedBy(COMMAND, async () => ({ ...ENDED, code: null, why: 'z'.repeat(3000) }))
    const told = 'cleaning failed: /sbin/wipe '
    expect(refused).toMatchObject({ reason: `${told}${'z'.repeat(2000 - told.length)}` })
  })
})

const recap = (ok: number, host = 'localhost') => `\nPLAY RECAP ****\n${host}   : ok=${ok}   changed=0\n\n`
describe('a playbook', () => {
  test('is run by Ansible in its folder, with what it has to clean as variables', async () => {
    const calls: unknown[] = []
    const run: CleanerParts['run'] = async (...call) => (calls.push(call), { ...ENDED, outputEnd: `wiped${recap(1)}` })
    const { signal, cleaned } = cleaning(PLAYBOOK, run)
    expect(await cleaned).toMatchObject({ command: '/etc/books/wipe.yml', exitCode: 0, output: `wiped${recap(1)}` })
    const facts = {
      accelerando_driver: 'pci_driver',
      accelerando_deployable: 'h1_card',
      accelerando_handle: 'b0a70000-0000-4000-8000-000000000001',
      accelerando_handle_type: 'PCI',
      accelerando_handle_info: CLEANED_HANDLE.slot.info,
      accelerando_address: '0000:af:00.1',
      accelerando_order: '7',
      accelerando_host: 'h1',
    }
    const words = ['--inventory', '/dev/null', '--connection', 'local', '--extra-vars', JSON.stringify(facts)]
    expect(calls).toStrictEqual([
      [
        '/usr/bin/ansible-playbook',
        [...words, '/etc/books/wipe.yml'],
        {
          PATH: '/bin',
          LC_ALL: 'C.UTF-8',
          ANSIBLE_NOCOLOR: '1',
          ANSIBLE_FORCE_COLOR: '0',
          ANSIBLE_RETRY_FILES_ENABLED: '0',
          ANSIBLE_LOCALHOST_WARNING: '0',
          ANSIBLE_INVENTORY_UNPARSED_WARNING: '0',
          ANSIBLE_GATHERING: 'explicit',
          ANSIBLE_STDOUT_CALLBACK: 'default',
          ...ENVIRONMENT,
        },
        { timeoutMs: 2000, folder: '/etc/books', signal },
        'h1_card',
      ],
    ])
  })
  test.each<[string, string, boolean]>([
    ['a task was carried out', recap(1), true],
    ['many were', recap(12), true],
    ['the last recap says so', `${recap(0)}${recap(2)}`, true],
    ['only an earlier recap says so', `${recap(2)}${recap(0)}`, false],
    ['none was', recap(0), false],
    ['another host was worked on', recap(3, 'other'), false],
    ['a host of a longer name was', recap(3, 'my-localhost'), false],
    ['the recap has no number', '\nPLAY RECAP ***\nlocalhost : ok=many \n', false],
    ['there is no recap', '', false],
  ])('PLAYED-1 where %s', async (_, outputEnd, hasCleaned) => {
    const refused = await refusedBy(PLAYBOOK, async () => ({ ...ENDED, outputEnd }))
    const why = 'ended with exit code 0, but carried out no task on localhost'
    expect(refused).toEqual(
      hasCleaned ? null : expect.objectContaining({ reason: `cleaning failed: /etc/books/wipe.yml ${why}` }),
    )
  })
})

test('a quarantine runs nothing, and takes no time', async () => {
  const run: CleanerParts['run'] = () => Promise.reject(new Error('it was run'))
  expect(await cleaning(QUARANTINE, run).cleaned).toBe(null)
  const limitOf = (policy: CleaningPolicy, driver = DRIVER) => cleaningLimitMs(policiesOf(policy), driver)
  expect([limitOf(COMMAND), limitOf(PLAYBOOK), limitOf(QUARANTINE), limitOf(COMMAND, 'other')]).toEqual([
    1000, 2000, 0, 0,
  ])
})

describe('a section', () => {
  const deployable = (name: string) => ({
    name,
    numAccelerators: 1,
    driverName: 'pci',
    attributes: [],
    handles: [],
    hostWork: false,
    programmable: false,
  })
  const device = (...names: readonly string[]) => ({
    type: 'GPU' as const,
    vendor: '10de',
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI' as const, info: '{}' },
    deployables: names.map(deployable),
  })
  const found = (driver: string): Section => ({ driver, status: 'ok', devices: [device('a', 'b'), device('c')] })
  test.each<[CleaningPolicy, string]>([
    [COMMAND, 'by_host'],
    [PLAYBOOK, 'by_host'],
    [QUARANTINE, 'by_operator'],
  ])('says of each deployable how it is cleaned: %j', (policy, cleaned) => {
    const marked = (one: ReturnType<typeof device>) => ({
      ...one,
      deployables: one.deployables.map((each) => ({ ...each, cleaning: cleaned })),
    })
    expect(withCleaning(policiesOf(policy), found(DRIVER))).toStrictEqual({
      driver: DRIVER,
      status: 'ok',
      devices: [marked(device('a', 'b')), marked(device('c'))],
    })
  })
  test('is as it was without a policy, or where the discovery failed', () => {
    const [other, failed] = [found('other'), { driver: DRIVER, status: 'failed', error: 'no' } as const]
    expect(withCleaning(policiesOf(COMMAND), other)).toBe(other)
    expect(withCleaning(policiesOf(COMMAND), failed)).toBe(failed)
  })
})
