/**
 * The units of infra/systemd: systemd reads them without complaint, their exposure stays below a limit, and allow what
 * Node asks for.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const UNITS = join(import.meta.dirname, '../../infra/systemd')
/**
 * What `systemd-analyze security` may say at most, of 100: 0 is sealed, 100 is a program with every right. A host has
 * to reach hardware.
 */
const EXPOSURE_MAX = { control: 15, host: 40 }
const part = {
  name: 'systemd-analyze',
  installable: true,
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

/**
 * The calls that the lines `SystemCallFilter=` of a unit leave: the first says what is allowed, later ones add, or with
 * ~ take away.
 */
const allowedCalls = (text: string, groups: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const callsOf = (name: string): readonly string[] =>
    name.startsWith('@') ? (groups.get(name) ?? []).flatMap(callsOf) : [name]
  const allowed = new Set<string>()
  for (const [, without, names] of text.matchAll(/^SystemCallFilter=(~?)(.*)$/gm))
    for (const call of names!.split(' ').flatMap(callsOf))
      if (without === '~') allowed.delete(call)
      else allowed.add(call)
  return allowed
}

test('a stop of the host ends its program alone: a tool that writes a card is left to its end', () =>
  expect(textOf('host')).toMatch(/^KillMode=process$/m))

describeWith(part, 'the calls that the units of systemd allow', (analyze) => {
  const groupsOf = () =>
    new Map(
      spawnSync(analyze, ['syscall-filter'], { encoding: 'utf8', timeout: 30_000 })
        .stdout.split(/^(?=@)/m)
        .map((block) => block.split('\n').map((line) => line.trim()))
        .map(([name, ...lines]) => [name!, lines.filter((line) => /^[@a-z]/.test(line))] as const),
    )

  test.each(['control', 'host'] as const)('%s: those of V8 for protection keys, whichever processor this is', (name) =>
    expect([...allowedCalls(textOf(name), groupsOf())]).toEqual(
      expect.arrayContaining(['pkey_alloc', 'pkey_mprotect', 'pkey_free', 'socket', 'execve']),
    ),
  )

  test.each(['control', 'host'] as const)('%s: one that is not allowed fails, and ends nothing', (name) => {
    expect(textOf(name)).toMatch(/^SystemCallErrorNumber=EPERM$/m)
    expect(
      [...allowedCalls(textOf(name), groupsOf())].filter((call) => /^(mount|reboot|init_module)$/.test(call)),
    ).toEqual([])
  })
})
