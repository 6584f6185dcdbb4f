/** The units of infra/systemd: systemd reads them without complaint, and their exposure stays below a limit. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const UNITS = join(import.meta.dirname, '../../infra/systemd')
/** What `systemd-analyze security` may say at most, of 100: 0 is sealed, 100 is a program with every right. A host has to reach hardware. */
const EXPOSURE_MAX = { control: 15, host: 40 }
const part = {
  name: 'systemd-analyze',
  installable: false,
  find: () =>
    spawnSync('systemd-analyze', ['--version'], { timeout: 10_000 }).status === 0
      ? { at: 'systemd-analyze' }
      : { lacking: 'systemd-analyze does not answer' },
}
const folder = tempFolder('systemd')
afterAll(folder.remove)

const textOf = (name: string): string => readFileSync(join(UNITS, `accelerando-${name}.service`), 'utf8')
/** The program is not installed here; systemd would say so and nothing else. */
const unitAt = (name: string, text = textOf(name)): string => {
  const path = join(folder.path, `accelerando-${name}.service`)
  writeFileSync(path, text.replaceAll('/usr/bin/accelerando', '/bin/true'))
  return path
}

describeWith(part, 'the units of systemd', (analyze) => {
  const run = (...args: readonly string[]) => spawnSync(analyze, args, { encoding: 'utf8', timeout: 30_000 })
  const verified = (path: string) => {
    const { stdout, stderr } = run('verify', '--man=no', path)
    return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('accelerando'))
  }

  test.each(['control', 'host'] as const)('%s: nothing in it is unknown or wrong', (name) =>
    expect(verified(unitAt(name))).toEqual([]),
  )

  test('a mistake would be found', () =>
    expect(verified(unitAt('control', textOf('control').replace('ProtectHome=', 'ProtectHomes=')))).not.toEqual([]))

  test.each(['control', 'host'] as const)('%s: its exposure is below the limit', (name) => {
    const { stdout, status } = run('security', '--offline=true', `--threshold=${EXPOSURE_MAX[name]}`, unitAt(name))
    expect(status, stdout.slice(-2000)).toBe(0)
  })
})
