/** CLEAN: a host cleans what it releases as its operator has chosen, and its result proves it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { runToEnd } from '../../src/drivers/hostIo.ts'
import { NotClean, createCleaner } from '../../src/host/cleaning.ts'
import { type CleaningOrder, type CleaningPolicy, NO_ANSIBLE, type ProgramEnd } from '../support/ansible.ts'
import { openHostLab, type HostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const DRIVER = 'simulated_driver'
const ENDED: ProgramEnd = { code: 0, why: null, outputSha256: 'ab'.repeat(32), outputBytes: 3, outputEnd: 'ok\n' }
const wipe = (more: object = {}): CleaningPolicy => ({
  driver: DRIVER,
  kind: 'command',
  command: ['/sbin/wipe', '--all'],
  limitMs: 60_000,
  ...more,
})

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
/** A host whose command ends as told; `runs` names the slots that were cleaned, and by which order. */
const cleaning = (policy: CleaningPolicy = wipe(), end: () => Promise<ProgramEnd> = async () => ENDED) => {
  const runs: string[] = []
  const cleaner = createCleaner({
    policies: new Map([[policy.driver, policy]]),
    run: (program, args, env) => {
      runs.push([program, ...args, env['ACCELERANDO_HANDLE']!.slice(-1), env['ACCELERANDO_ORDER']].join(' '))
      return end()
    },
    clock: lab.clock,
    ansible: NO_ANSIBLE,
  })
  return { runs, cleaner }
}
const last = () => lab.results().at(-1)!.result

describe('a host with a command for a driver', () => {
  test('says so of each deployable of the driver', async () => {
    await lab.boot(cleaning())
    const [section] = lab.inventories().at(-1)!.drivers
    const shown = section?.status === 'ok' ? section.devices.flatMap(({ deployables }) => deployables) : []
    expect(new Set(shown.map((one) => one.cleaning))).toEqual(new Set(['by_host']))
  })
  test('cleans after the release, and its result holds the evidence', async () => {
    const { runs, cleaner } = cleaning()
    await lab.boot({ cleaner })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2, { clean: true }))
    expect(runs).toEqual(['/sbin/wipe --all 0 2'])
    expect(last()).toMatchObject({
      status: 'done',
      cleaned: { command: '/sbin/wipe', exitCode: 0, outputSha256: ENDED.outputSha256, output: 'ok\n' },
    })
  })
  test('cleans also where the order does not ask for it, as a control of an earlier release does', async () => {
    const { runs, cleaner } = cleaning()
    await lab.boot({ cleaner })
    await lab.send(lab.order('ReleaseSlot', 2))
    expect(runs).toHaveLength(1)
  })
  test('answers a repeated order with the recorded evidence, and cleans once', async () => {
    const { runs, cleaner } = cleaning()
    const host = await lab.boot({ cleaner })
    const order = lab.order('ReleaseSlot', 2, { clean: true })
    await lab.send(order)
    const first = last()
    await lab.kill(host)
    await lab.boot({ cleaner })
    await lab.send(order)
    expect(runs).toHaveLength(1)
    expect(last()).toEqual(first)
  })
  test('cleans again when it died in the middle, under the same number', async () => {
    let hangs = true
    const { runs, cleaner } = cleaning(wipe(), () => (hangs ? new Promise(() => {}) : Promise.resolve(ENDED)))
    const host = await lab.boot({ cleaner })
    const order = lab.order('ReleaseSlot', 2, { clean: true })
    await lab.send(order)
    expect(lab.results()).toEqual([])
    await lab.kill(host)
    hangs = false
    await lab.boot({ cleaner })
    await lab.send(order)
    expect(runs).toEqual(['/sbin/wipe --all 0 2', '/sbin/wipe --all 0 2'])
    expect(last()).toMatchObject({ status: 'done', cleaned: { exitCode: 0 } })
  })
  test('fails for good when the command does, with the evidence, and the slot is not prepared any more', async () => {
    const { cleaner } = cleaning(wipe(), async () => ({ ...ENDED, code: 3, outputEnd: 'no\u0000 answer\u001b\n' }))
    await lab.boot({ cleaner })
    await lab.send(lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2, { clean: true }))
    expect(last()).toMatchObject({
      status: 'failed',
      final: true,
      reason: 'cleaning failed: /sbin/wipe ended with exit code 3',
      cleaned: { exitCode: 3, output: 'no answer\n' },
    })
    expect((await lab.effects()).prepared).toEqual({})
    expect(await lab.ledger()).toMatchObject([{ prepared: false, state: 'done' }])
  })
  test('does not clean what its driver could not release', async () => {
    const { runs, cleaner } = cleaning()
    lab.driver.control.faults.failRelease = 1
    await lab.boot({ cleaner })
    await lab.send(lab.order('ReleaseSlot', 2, { clean: true }))
    expect(runs).toEqual([])
    expect(last()).toMatchObject({ status: 'failed' })
    expect(last()).not.toHaveProperty('cleaned')
  })
  test('gives the command its own time, beyond that of a release', async () => {
    let finish: (end: ProgramEnd) => void = () => {}
    const { cleaner } = cleaning(wipe({ limitMs: 600_000 }), () => new Promise((resolve) => (finish = resolve)))
    await lab.boot({ cleaner })
    await lab.send(lab.order('ReleaseSlot', 2, { clean: true }))
    await lab.clock.pass(500_000)
    expect(lab.results()).toEqual([])
    finish(ENDED)
    await quiet()
    expect(last()).toMatchObject({ status: 'done', cleaned: { startedAt: expect.any(Number) } })
  })
})

test('a host without a command fails an order that asks for a cleaning, once and for all, and has released the slot', async () => {
  await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2, { clean: true }))
  expect((await lab.effects()).prepared).toEqual({})
  expect(await lab.ledger()).toMatchObject([{ prepared: false, state: 'done' }])
  expect(last()).toMatchObject({
    status: 'failed',
    final: true,
    reason: expect.stringContaining('neither a command nor a playbook'),
  })
})
test('a host whose policy is quarantine says so, and runs nothing', async () => {
  const { runs, cleaner } = cleaning({ driver: DRIVER, kind: 'quarantine' })
  await lab.boot({ cleaner })
  await lab.send(lab.order('ReleaseSlot', 2))
  expect([runs, last()]).toEqual([[], { status: 'done' }])
  expect(JSON.stringify(lab.inventories().at(-1))).toContain('"cleaning":"by_operator"')
})

const really = (policy: CleaningPolicy) =>
  createCleaner({
    policies: new Map([[policy.driver, policy]]),
    run: runToEnd,
    clock: systemClock,
    ansible: NO_ANSIBLE,
  })

describe('a real command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cleaning-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const info = { domain: '0000', bus: 'af', device: '00', function: '1' }
  const order: CleaningOrder = {
    driver: 'pci_driver',
    number: 7,
    slot: { uuid: 'b0a70000-0000-4000-8000-000000000001', deployable: 'h1_card', type: 'PCI', info },
  }
  const run = (script: string, limitMs = 20_000, signal = new AbortController().signal) => {
    const policy: CleaningPolicy = {
      driver: 'pci_driver',
      kind: 'command',
      command: ['/bin/sh', '-c', script],
      limitMs,
    }
    return really(policy).clean(order, signal)
  }
  const refused = (script: string, limitMs?: number) =>
    run(script, limitMs).then(
      () => null,
      (error: unknown) => (error instanceof NotClean ? error : null),
    )

  test('is told what it has to clean, and nothing else of this process', async () => {
    const file = join(folder, 'env')
    process.env['SECRET_OF_THE_HOST'] = 'x'
    await run(`env | grep -v '^\\(PWD\\|SHLVL\\|_\\|ACCELERANDO_RUN\\)=' | sort > ${file}`)
    delete process.env['SECRET_OF_THE_HOST']
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(lines.filter((line) => !line.startsWith('PATH='))).toEqual([
      'ACCELERANDO_ADDRESS=0000:af:00.1',
      'ACCELERANDO_DEPLOYABLE=h1_card',
      'ACCELERANDO_DRIVER=pci_driver',
      'ACCELERANDO_HANDLE=b0a70000-0000-4000-8000-000000000001',
      `ACCELERANDO_HANDLE_INFO=${JSON.stringify(info)}`,
      'ACCELERANDO_HANDLE_TYPE=PCI',
      'ACCELERANDO_ORDER=7',
    ])
  })
  test('that ends badly, hangs, is killed or cannot be started did not clean', async () => {
    expect(await refused('echo no; exit 4')).toMatchObject({ cleaned: { exitCode: 4, output: 'no\n' } })
    expect(await refused('sleep 60', 200)).toMatchObject({
      message: 'cleaning failed: /bin/sh did not end within 200 ms',
      cleaned: { exitCode: null },
    })
    expect(await refused('kill -9 $$')).toMatchObject({ message: expect.stringContaining('was killed by SIGKILL') })
    const gone = { driver: 'pci_driver', kind: 'command', command: ['/nowhere/wipe'], limitMs: 1000 } as const
    await expect(really(gone).clean(order, new AbortController().signal)).rejects.toThrow('ENOENT')
  })
  test('is killed when nobody waits for it any more, and that is no evidence', async () => {
    const abort = new AbortController()
    const ended = run('sleep 60', 20_000, abort.signal)
    setTimeout(() => abort.abort(new Error('a newer order came')), 50)
    await expect(ended).rejects.toThrow('a newer order came')
  })
})

describe('the file of policies', () => {
  const command = (more: object = {}) => ({ driver: 'pci_driver', policy: 'command', command: ['/sbin/wipe'], ...more })
  const playbook = (more: object = {}) => ({ driver: 'pci_driver', policy: 'playbook', playbook: '/x.yml', ...more })
  const read = (given: unknown) =>
    loadConfig({
      flags: {},
      env: { ACCELERANDO_CLEANING_POLICIES: 'policies.json' },
      readFile: () => JSON.stringify(given),
      osHostname: 'h1',
    })
  const policiesOf = (given: unknown) => {
    const loaded = read(given)
    return loaded.ok ? loaded.config.cleaning : loaded.problems
  }
  test('has one policy for each driver, and a minute where it names no time', () => {
    expect(policiesOf([command({ command: ['/sbin/wipe', 'x'] }), { driver: 'fake_driver', policy: 'none' }])).toEqual([
      { driver: 'pci_driver', kind: 'command', command: ['/sbin/wipe', 'x'], limitMs: 60_000 },
    ])
    expect(policiesOf([playbook({ timeout_seconds: 3600 })])).toEqual([
      { driver: 'pci_driver', kind: 'playbook', playbook: '/x.yml', limitMs: 3_600_000 },
    ])
    expect(policiesOf([{ driver: 'pci_driver', policy: 'quarantine' }])).toEqual([
      { driver: 'pci_driver', kind: 'quarantine' },
    ])
  })
  const TIME = '0.timeout_seconds: must be a number from 1 to 3600'
  test.each<readonly [unknown, string]>([
    [{}, 'must be a list of policies'],
    [[{ driver: 'pci_drivr', policy: 'quarantine' }], '0.driver: must be a driver of this release: '],
    [[{ driver: 'pci_driver', policy: 'wipe' }], '0.policy: must be a policy: driver, policy (none, command, playbook'],
    [[command({ command: ['wipe'] })], '0.command.0: must be an absolute path'],
    [[command({ command: [] })], '0.command.0: must be text'],
    [[command({ command: '/sbin/wipe' })], '0.command: must be a list of texts'],
    [[command({ command: ['/x', 'a\0b'] })], '0.command.1: must not hold a NUL'],
    [[command({ command: ['/x', 'x'.repeat(4097)] })], '0.command.1: must not be longer than 4096 characters'],
    [[command({ command: Array(101).fill('/x') })], '0.command: must not have more than 100 words'],
    [[playbook({ playbook: 'wipe.yml' })], '0.playbook: must be the absolute path'],
    ...[playbook({ command: ['/x'] }), { driver: 'pci_driver', policy: 'quarantine', command: ['/x'] }].map(
      (one) => [[one], '0.command: is not a field of this policy'] as const,
    ),
    ...[0, 0.5, 3601, '60', null].map((seconds) => [[command({ timeout_seconds: seconds })], TIME] as const),
    [[command(), { driver: 'pci_driver', policy: 'none' }], '1.driver: has a policy already'],
    [Array.from({ length: 51 }, () => command()), 'must not have more than 50 policies'],
  ])('refuses %j', (given, problem) => expect((policiesOf(given) as readonly unknown[]).join('\n')).toContain(problem))
})
