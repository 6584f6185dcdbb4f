/** Commands that documents show exist, with the flags and the values that are shown. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withCommands } from '../../src/cli/commandLine.ts'

const ROOT = new URL('../..', import.meta.url).pathname
/** The contract describes upstream, and a decision shows commands as they were when it was made. */
const FOREIGN = /^docs\/(contract|decisions)\//
const documents = ['README.md', ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })]
  .map((path) => (path === 'README.md' ? path : join('docs', path)))
  .filter((path) => path.endsWith('.md') && !FOREIGN.test(path))

/** In a block of code or within a sentence, without what a shell would not pass on. */
const SHOWN = [/^ {4,}(?:\S+=\S+ )*(?:npx )?accelerando ([a-z].*)$/gm, /`accelerando ([a-z][^`]*)`/g]
const shownIn = (text: string): readonly string[] =>
  SHOWN.flatMap((pattern) => [...text.matchAll(pattern)].map(([, rest]) => rest!.replace(/ #.*| [|>&].*/, '')))
const commands = documents.flatMap((path) =>
  shownIn(readFileSync(join(ROOT, path), 'utf8')).map((rest) => [path, rest] as const),
)

/**
 * What is wrong with it; empty: nothing. `[...]` around what may be left out, and `A|B` for a choice, are the style of
 * the documents.
 */
const faultsOf = (rest: string): readonly string[] => {
  const words = rest.replaceAll(/[[\]]/g, ' ').trim().split(/\s+/)
  let command = withCommands()
  const lineage = [command]
  const named: string[] = []
  for (const word of words) {
    const next = word
      .split('|')
      .map((name) => command.commands.find((one) => [one.name(), ...one.aliases()].includes(name)))
    if (word.startsWith('-') || next.length === 0 || next[0] === undefined) break
    if (next.some((one) => one === undefined)) return [`${word}: not all of these are commands`]
    command = next[0]
    lineage.push(command)
    named.push(word)
  }
  if (named.length === 0) return [`there is no command ${words[0]}`]
  const left = words.slice(named.length)
  if (command.commands.length > 0 && /^[a-z]/.test(left[0] ?? '-')) return [`${named.join(' ')} has no ${left[0]}`]
  const usual = command.usualCommand
  if (usual) lineage.push(usual)
  const known = new Set(lineage.flatMap(({ options }) => options.flatMap(({ long, short }) => [long, short])))
  return left
    .filter((word) => /^--?[a-z]/.test(word))
    .flatMap((word) => word.split('|'))
    .map((word) => word.replace(/=.*|,$/, ''))
    .filter((flag) => flag.startsWith('-') && !known.has(flag) && !['--help', '--version'].includes(flag))
    .map((flag) => `${named.join(' ')} has no ${flag}`)
}

test('there are such commands', () => expect(commands.length).toBeGreaterThan(50))
test.each(commands)('%s: accelerando %s', (_path, rest) => expect(faultsOf(rest)).toEqual([]))
test.each([
  ['frobnicate', 'there is no command frobnicate'],
  ['hosts frobnicate', 'hosts has no frobnicate'],
  ['hosts list --frobnicate 1', 'hosts list has no --frobnicate'],
  ['drift heal|frobnicate', 'heal|frobnicate: not all of these are commands'],
])('a wrong one is found: accelerando %s', (rest, fault) => expect(faultsOf(rest)).toEqual([fault]))
