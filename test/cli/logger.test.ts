/** What the programs log: one line for people on a terminal, one JSON object anywhere else. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lineOf } from '../../src/cli/logger.ts'
import { describeWith } from '../support/needs.ts'

const FIXTURE = join(import.meta.dirname, '../support/fixtures/logs.fixture.ts')
const FIELDS = 'host=h1 hostname=compute-1 hosts=["a","b"] hint="two words\\nand two lines" none=null'
/** Runs a program on a new terminal and copies what it shows there. */
const ON_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

const shown = (program: string, args: readonly string[], env: Readonly<Record<string, string>>): readonly string[] =>
  execFileSync('sh', ['-c', '"$@" 2>&1', 'sh', program, ...args], {
    encoding: 'utf8',
    // with CI set, Node takes a terminal for one without colours
    env: { ...process.env, CI: undefined, NO_COLOR: '', TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
    .trimEnd()
    .split(/\r?\n/)

test('without a terminal each entry is a JSON object with everything in it', () => {
  const entries = shown(process.execPath, [FIXTURE], {}).map((line) => JSON.parse(line) as object)
  expect(entries).toEqual([
    expect.objectContaining({ level: 30, msg: 'http.answered', path: '/v2/devices', pid: expect.any(Number) }),
    expect.objectContaining({ level: 40, msg: 'shown', hint: 'two words\nand two lines', hosts: ['a', 'b'] }),
  ])
})

test('without a terminal entries are lines as well where they always are', () => {
  const lines = shown(process.execPath, [FIXTURE, 'always'], { NO_COLOR: '1' })
  expect(lines.map((line) => line.replace(/^\[\d\d:\d\d:\d\d\] /, ''))).toEqual([
    'INFO: http.answered request=req-1 path=/v2/devices took_ms=7',
    `WARN: shown ${FIELDS}`,
  ])
})

describeWith('terminal', 'on a terminal', (python) => {
  test('each entry is a JSON object where none is ever a line', () => {
    const entries = shown(python, ['-c', ON_TERMINAL, process.execPath, FIXTURE, 'never'], {})
    expect(entries.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: 'http.answered', hostname: expect.any(String) },
      { msg: 'shown' },
    ])
  })
  test('each entry is one line: time, level, message, fields', () => {
    const lines = shown(python, ['-c', ON_TERMINAL, process.execPath, FIXTURE], { NO_COLOR: '1' })
    expect(lines.map((line) => line.replace(/^\[\d\d:\d\d:\d\d\] /, ''))).toEqual([
      'INFO: http.answered request=req-1 path=/v2/devices took_ms=7',
      `WARN: shown ${FIELDS}`,
    ])
    expect(lines.every((line) => /^\[\d\d:\d\d:\d\d\] /.test(line))).toBe(true)
  })
  test('colours are used unless NO_COLOR forbids them', () => {
    const coloured = (env: Readonly<Record<string, string>>) =>
      shown(python, ['-c', ON_TERMINAL, process.execPath, FIXTURE], env).join('').includes('\u001B[')
    expect([coloured({}), coloured({ NO_COLOR: '1' })]).toEqual([true, false])
  })
})

test('what could manipulate the terminal is not written to it', () => {
  const line = lineOf({
    msg: 'a\u001b[2Jb',
    key: 'x\u001b]0;t\u0007',
    c1: '\u009b2J',
    bidi: 'a\u202eb',
    more: { at: '\u2028' },
  })
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(line).toContain('key=x ]0;t')
})
