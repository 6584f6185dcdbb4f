/** Completion of command lines, by the real program and in a real bash. */
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'

const PROGRAM = new URL('../../bin/accelerando.js', import.meta.url).pathname
const folder = tempFolder('completion')
afterAll(folder.remove)
const COMMAND = join(folder.path, 'accelerando')
symlinkSync(PROGRAM, COMMAND)
const env = { ...process.env, PATH: `${folder.path}:${process.env['PATH'] ?? ''}` }
const LIMIT = { timeout: 30_000 }

const ran = (...args: readonly string[]): string => execFileSync(COMMAND, args, { env, encoding: 'utf8' })
/** The words that are proposed, without their descriptions and the last line, which tells the script how to go on. */
const proposed = (...words: readonly string[]): readonly string[] =>
  ran('complete', '--', ...words)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => line.split('\t')[0]!)

describe('what is proposed', LIMIT, () => {
  test('the commands, without those that are hidden', () => {
    const names = proposed('')
    expect(names).toEqual(expect.arrayContaining(['start', 'control', 'host', 'explain', 'completion']))
    expect(names).not.toContain('complete')
  })
  test('the commands of a family, as far as the word is written', () => {
    expect(proposed('host', 're')).toEqual(expect.arrayContaining(['retire', 'restore', 'remove', 'rekey']))
    expect(proposed('host', 're')).not.toContain('list')
  })
  test('the options of a command, and the values of an option', () => {
    expect(proposed('host', 'list', '--')).toEqual(expect.arrayContaining(['--format', '--api']))
    expect(proposed('host', 'list', '--format', '')).toEqual(expect.arrayContaining(['table', 'json', 'csv']))
  })
})

describe('scripts', LIMIT, () => {
  test('bash completes a word', () => {
    const script = `
      source <(accelerando completion bash)
      read -r _ _ completer _ < <(complete -p accelerando)
      COMP_WORDS=(accelerando host reti) COMP_CWORD=2 COMP_LINE='accelerando host reti' COMP_POINT=21
      "$completer" accelerando reti host 2>/dev/null # compopt wants a line that is being typed
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const said = execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' })
    expect(said.trim()).toBe('retire')
  })
  test.each(['zsh', 'fish', 'powershell'])('%s has one that asks the program', (shell) => {
    expect(ran('completion', shell)).toMatch(/accelerando complete|complete --/)
  })
  test('another shell is refused', () => {
    expect(() => ran('completion', 'csh')).toThrow(/Allowed choices are bash, zsh, fish, powershell/)
  })
})
