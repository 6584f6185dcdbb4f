/** CLEAN and PLAYED: a host that cleans with a playbook, carried out by programs that stand in for Ansible. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NotClean, createCleaner } from '../../src/host/cleaning.ts'
import { runToEnd } from '../../src/drivers/hostIo.ts'
import { NO_ANSIBLE, cleanedByPlaybook } from '../support/ansible.ts'
import { openHostLab } from '../support/hostLab.ts'
import { until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('cleaning-playbook')
afterAll(folder.remove)
const PLAYBOOK = join(folder.path, 'wipe.yml')
writeFileSync(PLAYBOOK, 'as the program wants it\n')

const program = (script: string): string => {
  const path = join(folder.path, 'ansible-playbook')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}
const recap = (counts: string): string => `printf 'PLAY RECAP ****\\n${counts}\\n'`
const DONE = recap('localhost                  : ok=2    changed=1    unreachable=0    failed=0    skipped=0 ')
const cleaned = (script: string, limitMs?: number) =>
  cleanedByPlaybook({ program: program(script), playbook: PLAYBOOK, ...(limitMs && { limitMs }) })
const refused = (script: string, limitMs?: number) =>
  cleaned(script, limitMs).then(
    () => null,
    (error: unknown) => (error instanceof NotClean ? error : null),
  )

test('the evidence names the playbook, its exit code and its output', async () => {
  expect(await cleaned(`echo wiping\n${DONE}`)).toMatchObject({
    command: PLAYBOOK,
    exitCode: 0,
    output: expect.stringMatching(/^wiping\nPLAY RECAP/),
  })
})

test('Ansible is told what to clean as variables, in the folder of the playbook, and gathers no facts by itself', async () => {
  const [args, seen] = [join(folder.path, 'args'), join(folder.path, 'seen')]
  process.env['SECRET_OF_THE_HOST'] = 'x'
  await cleaned(`for one; do echo "$one"; done > ${args}\n{ pwd; env; } > ${seen}\n${DONE}`)
  delete process.env['SECRET_OF_THE_HOST']
  const words = readFileSync(args, 'utf8').trim().split('\n')
  expect(words.filter((word) => !word.startsWith('{'))).toEqual([
    '--inventory',
    '/dev/null',
    '--connection',
    'local',
    '--extra-vars',
    PLAYBOOK,
  ])
  expect(JSON.parse(words.find((word) => word.startsWith('{'))!)).toEqual({
    accelerando_host: 'h1',
    accelerando_driver: 'pci_driver',
    accelerando_deployable: 'h1_card',
    accelerando_handle: 'b0a70000-0000-4000-8000-000000000001',
    accelerando_handle_type: 'PCI',
    accelerando_handle_info: { domain: '0000', bus: 'af', device: '00', function: '1' },
    accelerando_address: '0000:af:00.1',
    accelerando_order: '7',
  })
  const text = readFileSync(seen, 'utf8')
  expect(text.split('\n')[0]).toBe(folder.path)
  expect(text).toContain('ANSIBLE_GATHERING=explicit')
  expect(text).not.toContain('SECRET_OF_THE_HOST')
})

test.each([
  ['no play is for this host', "printf 'skipping: no hosts matched\\n\\nPLAY RECAP ****\\n\\n'"],
  ['every task was skipped', recap('localhost    : ok=0    changed=0    unreachable=0    failed=0    skipped=2 ')],
  ['only another host was worked on', recap('other   : ok=3    changed=0    unreachable=0    failed=0 ')],
  ['a task printed such a line before', "printf 'localhost : ok=3 \\n\\nPLAY RECAP ***\\n\\n'"],
  ['it printed nothing', 'true'],
])('PLAYED-1 it has not cleaned where %s, though Ansible ended with exit code 0', async (_, script) => {
  expect(await refused(script)).toMatchObject({
    message: `cleaning failed: ${PLAYBOOK} ended with exit code 0, but carried out no task on localhost`,
    cleaned: { exitCode: 0 },
  })
})

test.each([
  ['ignored', 'ok=2    changed=1    unreachable=0    failed=0    skipped=0    rescued=0    ignored=1   ', 'ignored=1'],
  ['rescued', 'ok=1    changed=0    unreachable=0    failed=0    skipped=0    rescued=2    ignored=0   ', 'rescued=2'],
])('PLAYED-2 nor where a failure was %s, though Ansible ended with exit code 0', async (_, counts, said) => {
  expect(await refused(recap(`localhost                  : ${counts}`))).toMatchObject({
    message: `cleaning failed: ${PLAYBOOK} ended with exit code 0, but tasks of it failed (${said})`,
    cleaned: { exitCode: 0 },
  })
})

test('it has not cleaned where a task failed, where it hangs, and where Ansible is not installed', async () => {
  expect(await refused(`${DONE}\nexit 2`)).toMatchObject({
    message: `cleaning failed: ${PLAYBOOK} ended with exit code 2`,
    cleaned: { exitCode: 2 },
  })
  expect(await refused('sleep 60', 200)).toMatchObject({ cleaned: { exitCode: null } })
  await expect(cleanedByPlaybook({ program: null, playbook: PLAYBOOK })).rejects.toThrow(
    'ansible-playbook is not installed on this host',
  )
})

test('its driver is told to be cleaned by the host, and a release holds the evidence', async () => {
  const lab = await openHostLab()
  const path = program(DONE)
  const cleaner = createCleaner({
    policies: new Map([
      ['simulated_driver', { driver: 'simulated_driver', kind: 'playbook', playbook: PLAYBOOK, limitMs: 60_000 }],
    ]),
    run: runToEnd,
    clock: lab.clock,
    ansible: { ...NO_ANSIBLE, programAt: async () => path },
  })
  await lab.boot({ cleaner })
  expect(JSON.stringify(lab.inventories().at(-1))).toContain('"cleaning":"by_host"')
  await lab.send(lab.order('ReleaseSlot', 2, { clean: true }))
  await until(() => lab.results().length > 0, 'the release', 20_000)
  expect(lab.results().at(-1)!.result).toMatchObject({ status: 'done', cleaned: { command: PLAYBOOK, exitCode: 0 } })
})
