/** Completion of command lines, by the real program and in real shells. */
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
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
  test('powershell has one that asks the program', () => {
    expect(ran('completion', 'powershell')).toMatch(/accelerando complete|complete --/)
  })
  test('another shell is refused', () => {
    expect(() => ran('completion', 'csh')).toThrow(/Allowed choices are bash, zsh, fish, powershell/)
  })
})

/** What a shell itself offers for a line that is being typed, in the words of the shell. */
describeWith('fish', 'fish', (fish) => {
  const LINES = [
    'accelerando ho',
    'accelerando host reti',
    'accelerando host list --form',
    'accelerando host list --format js',
  ]
  test('completes a command, an action, an option and a value', LIMIT, () => {
    const script = [
      'accelerando completion fish | source',
      ...LINES.map((line) => `complete -C '${line}' | string replace -r '\\t.*' ''; echo`),
    ].join('; ')
    const said = execFileSync(fish, ['--no-config', '-c', script], { env, encoding: 'utf8' })
    expect(said.trim().split(/\s+/)).toEqual(['host', 'retire', '--format', 'json', 'jsonl'])
  })
})

describeWith('zsh', 'zsh', (zsh) => {
  /** A shell in a terminal of its own, in which the tab key is pressed; each line is waited for. */
  const TYPED = `
    zmodload zsh/zpty
    zpty typed 'TERM=dumb zsh -f -i'
    zpty -w typed 'PROMPT=; setopt no_beep; autoload -Uz compinit; compinit -u -D; source <(accelerando completion zsh); echo LOA""DED'
    zpty -r typed said '*LOADED*'
    for pair in "$@"; do
      zpty -w -n typed "\${pair%%=*}"$'\\t'
      zpty -r typed said "*\${pair#*=}"
      print -r -- "\${pair#*=}"
      zpty -w -n typed $'\\x15'
    done
    zpty -d typed`
  test('completes a command, an action and an option', LIMIT, () => {
    const pairs = ['accelerando ho=host ', 'accelerando host reti=retire ', 'accelerando host list --form=format ']
    const said = execFileSync(zsh, ['-f', '-c', TYPED, 'zsh', ...pairs], { env, encoding: 'utf8', timeout: 25_000 })
    expect(said).toBe('host \nretire \nformat \n')
  })
})
