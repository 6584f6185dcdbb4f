/** What a person at a terminal is asked before something is destroyed, and which answers count. */
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { confirmed } from '../../src/cli/confirm.ts'
import { Failure } from '../../src/cli/exits.ts'

type Ends = { readonly stdin: boolean; readonly stderr: boolean }
const before = (['stdin', 'stderr'] as const).map(
  (name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const,
)
let keyboard: PassThrough
let said: string
/** A terminal for this process. */
const sit = ({ stdin, stderr }: Ends): void => {
  keyboard = new PassThrough()
  const screen = new PassThrough()
  screen.on('data', (text) => (said += String(text)))
  for (const [name, stream, isTTY] of [
    ['stdin', keyboard, stdin],
    ['stderr', screen, stderr],
  ] as const)
    Object.defineProperty(process, name, { configurable: true, value: Object.assign(stream, { isTTY }) })
}
beforeEach(() => {
  said = ''
  sit({ stdin: true, stderr: true })
})
afterEach(() => {
  for (const [name, descriptor] of before) Object.defineProperty(process, name, descriptor!)
})
const answered = (text: string) => {
  const asking = confirmed({}, 'All is deleted.')
  keyboard.write(`${text}\n`)
  return asking
}

test.each(['y', 'Y', 'yes', 'YES', ' y '])('%j lets it be done', async (text) => {
  await expect(answered(text)).resolves.toBeUndefined()
  expect(said).toContain('All is deleted. Go on? [y/N] ')
})
test.each(['', 'n', 'ye', 'yess', 'ay', 'yes please'])('%j does not', async (text) => {
  await expect(answered(text)).rejects.toEqual(new Failure('interrupted', 'nothing was changed'))
})
test('--yes asks nothing', async () => {
  await expect(confirmed({ yes: true }, 'All is deleted.')).resolves.toBeUndefined()
  expect(said).toBe('')
})
test.each([
  { stdin: false, stderr: true },
  { stdin: true, stderr: false },
])('where one end is no terminal, nobody is asked: %j', async (ends) => {
  sit(ends)
  await expect(confirmed({}, 'All is deleted.')).rejects.toEqual(
    new Failure('usage', 'All is deleted. There is no terminal to ask: add --yes'),
  )
  expect(said).toBe('')
})
