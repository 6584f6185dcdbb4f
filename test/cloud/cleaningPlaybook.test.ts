/** A handle is cleaned by a playbook, carried out by the real Ansible on this machine. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cleanedByPlaybook } from '../support/ansible.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const GET = join(import.meta.dirname, '../../infra/rig/ansible/get')
/** The first call installs it. */
const GET_MS = 600_000
const folder = tempFolder('real-cleaning')
afterAll(folder.remove)

const book = (name: string, ...lines: readonly string[]): string => {
  const path = join(folder.path, name)
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

describeWith('pip', 'a cleaning by the real ansible-playbook', () => {
  let program = ''
  beforeAll(async () => {
    program = (await promisify(execFile)(GET, { timeout: GET_MS })).stdout.trim()
  }, GET_MS)
  const cleaned = (playbook: string) => cleanedByPlaybook({ program, playbook })

  test('has the variables of the handle, and counts when a task was carried out', async () => {
    const told = join(folder.path, 'told')
    const text = '{{ accelerando_address }} {{ accelerando_handle_info.bus }} {{ accelerando_host }}'
    const wipe = book('wipe.yml', '- hosts: localhost', '  tasks:', `    - copy: { content: "${text}", dest: ${told} }`)
    expect(await cleaned(wipe)).toMatchObject({ command: wipe, exitCode: 0, output: expect.stringContaining('ok=1') })
    expect(readFileSync(told, 'utf8')).toBe('0000:af:00.1 af h1')
  })

  test('does not count where no play is for this machine, and where every task was skipped', async () => {
    const NO_TASK = 'ended with exit code 0, but carried out no task on localhost'
    await expect(cleaned(book('no.yml', '- hosts: compute', '  tasks: [debug: { msg: x }]'))).rejects.toThrow(NO_TASK)
    const skipped = book('skip.yml', '- hosts: localhost', '  tasks:', '    - debug: { msg: x }', '      when: false')
    await expect(cleaned(skipped)).rejects.toThrow(NO_TASK)
  })

  test('does not count where a task fails', async () => {
    const failing = book('bad.yml', '- hosts: localhost', '  tasks:', '    - fail: { msg: still dirty }')
    await expect(cleaned(failing)).rejects.toMatchObject({
      message: `cleaning failed: ${failing} ended with exit code 2`,
      cleaned: { output: expect.stringContaining('still dirty') },
    })
  })
})
