/** The flags of the commands, their defaults and what is said of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandsPage } from '../../infra/commandsPage.ts'
import { commandHere } from '../support/commandHere.ts'

test('the printed help is that of the commands', () => {
  expect(commandsPage()).toBe(readFileSync(new URL('../../infra/contracts/commands.md', import.meta.url), 'utf8'))
})

test('the version is the one of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as object & {
    readonly version: string
  }
  expect(await commandHere(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})
