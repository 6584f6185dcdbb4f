/**
 * Both programs under the units of infra/systemd as they are shipped, with all that these forbid, run by a real
 * systemd.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootUnit, ownSystemd } from '../support/bootUnit.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const UNITS = join(import.meta.dirname, '../../infra/systemd')
const textOf = (name: string): string => readFileSync(join(UNITS, `accelerando-${name}.service`), 'utf8')
const PORTS = '--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --ui-listen 127.0.0.1:0'
const TOUR = `/run/node /run/checkout/bin/accelerando.js start --demo --tour ${PORTS}`

describeWith(ownSystemd, 'under the units of systemd', () => {
  const boot = (name: string, settings: readonly string[], begin = TOUR) => {
    const own = tempFolder('unit')
    return bootUnit(own.path, { unit: textOf(name), settings, begin }).finally(own.remove)
  }

  test.each(['control', 'host'] as const)(
    '%s: both programs work, and make no call that is not allowed, with the Node of this machine',
    { timeout: 300_000 },
    async (name) => {
      const { output, result } = await boot(name, ['SystemCallErrorNumber=kill'])
      expect(output).toMatch(/^tour: every step did what Nova expects/m)
      expect(result).toBe('success')
    },
  )

  test('what is forbidden is', { timeout: 60_000 }, async () => {
    const { result } = await boot('control', ['SystemCallFilter=~uname', 'SystemCallErrorNumber=kill'], '/bin/uname')
    expect(result).toMatch(/core-dump|signal/)
  })
})
