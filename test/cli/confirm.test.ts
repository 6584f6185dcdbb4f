/** What a person at a terminal is asked before something is destroyed, and which answers count. */
import { PassThrough } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { scriptedApi } from './scriptedApi.ts'

const REMOVED = { 'DELETE /hosts/h1?reason=x&force=false': '' }
const { run } = scriptedApi(REMOVED)
const before = Object.getOwnPropertyDescriptor(process, 'stdin')!
const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
/** A terminal for this process, at which somebody types. */
const typed = (text: string, terminal = true) => {
  const keyboard = Object.assign(new PassThrough(), { isTTY: terminal })
  Object.defineProperty(process, 'stdin', { configurable: true, value: keyboard })
  Object.defineProperty(process.stderr, 'isTTY', { configurable: true, value: true })
  keyboard.write(text)
}
afterEach(() => {
  Object.defineProperty(process, 'stdin', before)
  Reflect.deleteProperty(process.stderr, 'isTTY')
  if (isTTY) Object.defineProperty(process.stderr, 'isTTY', isTTY)
})

test.each(['y', 'YES', ' y '])('%j lets it be done', async (text) => {
  typed(`${text}\n`)
  const { code, asked, err } = await run('host remove h1 --reason x')
  expect([code, asked]).toEqual([0, Object.keys(REMOVED)])
  expect(err).toContain('Host h1 is removed for good. Go on? [y/N] ')
})
test.each(['', 'n', 'ye', 'yess', 'yes please'])('%j does not', async (text) => {
  typed(`${text}\n`)
  expect(await run('host remove h1 --reason x')).toMatchObject({ code: 130, asked: [] })
})
test('--yes asks nothing, and where one end is no terminal nobody is asked', async () => {
  typed('n\n')
  expect(await run('host remove h1 --reason x --yes')).toMatchObject({ code: 0, err: '' })
  typed('y\n', false)
  expect(await run('host remove h1 --reason x')).toMatchObject({
    code: 2,
    asked: [],
    err: expect.stringContaining('There is no terminal to ask: add --yes'),
  })
})
