/** The words that a shell proposes, and the scripts that ask for them, without any shell. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

let said: string[]
beforeEach(() => {
  said = []
  vi.spyOn(console, 'log').mockImplementation((line: unknown) => void said.push(String(line)))
})
afterEach(() => void vi.restoreAllMocks())
const proposed = async (...words: readonly string[]) => {
  said = []
  expect(await commandHere(['complete', '--', ...words])).toEqual({ code: 0, out: '', err: '' })
  return said.flatMap((line) => line.split('\n')).filter((line) => !line.startsWith(':'))
}

test('the commands of a family, as far as the word is written, with what they do', async () => {
  expect(await proposed('host', 're')).toEqual([
    'retire\tStops offering the devices of this host; each is withdrawn when it is no longer used.',
    'remove\tRemoves a host that will not return.',
    'restore\tBrings back a host that was retired or removed.',
    'rekey\tLets a host that has lost its key report with another one: the one named, or the next that it shows.',
  ])
})
test('values of an option and of an argument', async () => {
  const words = async (...before: readonly string[]) => (await proposed(...before)).map((line) => line.trim())
  expect(await words('host', 'list', '--format', '')).toEqual(['table', 'json', 'jsonl', 'yaml', 'csv', 'value'])
  expect(await words('completion', '')).toEqual(['bash', 'zsh', 'fish', 'powershell'])
})
test('no command that is hidden, and those of a family that runs one without being told', async () => {
  const names = (await proposed('')).map((line) => line.split('\t')[0])
  expect(names).toContain('completion')
  expect(names).not.toContain('complete')
  expect(names).not.toContain('hosts')
  expect((await proposed('host', '--na')).map((line) => line.split('\t')[0])).toEqual(['--name'])
})
test.each(['bash', 'zsh', 'fish', 'powershell'])('a script for %s asks the program', async (shell) => {
  const { code, out, err } = await commandHere(['completion', shell])
  expect([code, err]).toEqual([0, ''])
  expect(`${out}${said.join('\n')}`).toContain('accelerando')
  expect(out.startsWith('declare -F _get_comp_words_by_ref ')).toBe(shell === 'bash')
})
test('another shell is refused', async () => {
  const { code, out, err } = await commandHere(['completion', 'csh'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Allowed choices are bash, zsh, fish, powershell.')
})
