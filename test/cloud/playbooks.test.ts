/** Playbooks of drivers, carried out by the real Ansible on this machine. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { endsOf, openPlaybookHost } from '../support/playbookHost.ts'

const GET = join(import.meta.dirname, '../../infra/rig/ansible/get')
/** The first call installs it. */
const GET_MS = 600_000

const folder = mkdtempSync(join(tmpdir(), 'real-playbooks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const play = (...tasks: readonly string[]): string =>
  ['- hosts: localhost', '  gather_facts: false', '  tasks:', ...tasks.map((task) => `    - ${task}`), ''].join('\n')

describeWith('pip', 'with the real ansible-playbook', () => {
  let program = ''
  beforeAll(async () => {
    program = (await promisify(execFile)(GET, { timeout: GET_MS })).stdout.trim()
  }, GET_MS)

  test('a driver is set up once and torn down when it is disabled, with the variables of the host', async () => {
    const dir = join(folder, 'books')
    const [marker, gone] = [join(folder, 'set-up'), join(folder, 'torn-down')]
    mkdirSync(join(dir, 'a/templates'), { recursive: true })
    writeFileSync(join(dir, 'a/templates/facts'), '{{ accelerando_host }} {{ accelerando_driver }}\n')
    const copy = `template: { src: facts, dest: ${marker} }`
    writeFileSync(join(dir, 'a/setup.yml'), play(copy, `shell: date +%N >> ${marker}.runs`))
    writeFileSync(
      join(dir, 'a/teardown.yml'),
      play(`file: { path: ${marker}, state: absent }`, `copy: { content: "", dest: ${gone} }`),
    )
    const start = { folder: join(folder, 'one'), dir, program }

    const host = await openPlaybookHost({ ...start, drivers: ['a'] })
    expect(await endsOf(host, 1)).toMatchObject([{ driver: 'a', playbook: 'setup', status: 'done', reason: null }])
    expect(host.lastRuns()![0]!.output).toMatch(/localhost\s+: ok=2\s+changed=2/)
    expect(readFileSync(marker, 'utf8')).toBe('h1 a\n')
    expect(host.heldBack('a')).toBe(null)
    await host.stop()

    const again = await openPlaybookHost({ ...start, drivers: ['a'] })
    expect(again.heldBack('a')).toBe(null)
    await again.stop()
    expect(readFileSync(`${marker}.runs`, 'utf8').trim().split('\n')).toHaveLength(1)

    const without = await openPlaybookHost({ ...start, drivers: ['b'] })
    expect(await endsOf(without, 1)).toMatchObject([{ driver: 'a', playbook: 'teardown', status: 'done' }])
    expect([existsSync(marker), existsSync(gone)]).toEqual([false, true])
    await without.stop()
  })

  test('what Ansible says of a failing task is told', async () => {
    const dir = join(folder, 'bad')
    mkdirSync(join(dir, 'a'), { recursive: true })
    writeFileSync(join(dir, 'a/setup.yml'), play('fail: { msg: no such card here }'))
    const host = await openPlaybookHost({ folder: join(folder, 'two'), dir, program, drivers: ['a'] })
    expect(await endsOf(host, 1)).toMatchObject([{ status: 'failed', reason: 'exit status 2' }])
    expect(host.lastRuns()![0]!.output).toContain('no such card here')
    expect(host.heldBack('a')).toMatchObject({
      isOver: true,
      reason: expect.stringMatching(/^its set-up playbook failed/),
    })
    await host.stop()
  })

  test('a task that hangs is killed when the time is over, although Ansible runs it in a session of its own', async () => {
    const dir = join(folder, 'slow')
    const pid = join(folder, 'slow.pid')
    mkdirSync(join(dir, 'a'), { recursive: true })
    writeFileSync(join(dir, 'a/setup.yml'), play(`shell: echo $$ > ${pid}; sleep 600`))
    const host = await openPlaybookHost({ folder: join(folder, 'three'), dir, program, drivers: ['a'], limitMs: 6000 })
    expect(await endsOf(host, 1)).toMatchObject([{ status: 'failed', reason: 'did not end within 6000 ms' }])
    const state = `/proc/${readFileSync(pid, 'utf8').trim()}/status`
    expect(existsSync(state) ? /^State:\s+(\S)/m.exec(readFileSync(state, 'utf8'))![1] : 'Z').toBe('Z')
    await host.stop()
  })
})
