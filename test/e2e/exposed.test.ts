/** What another user of the machine, or another site, could do to a program, and what it says of it at its start. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { runProgram, type Service, startService, tempFolder } from '../support/program.ts'

const LIMIT = { timeout: 120_000 }
const folder = tempFolder('exposed')
const at = (name: string): string => join(folder.path, name)
const file = (name: string, mode: number): string => {
  writeFileSync(at(name), '#!/bin/sh\n')
  chmodSync(at(name), mode)
  return at(name)
}
const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--ui-listen', '127.0.0.1:0']
let service: Service
let wipe: string
beforeAll(async () => {
  wipe = file('wipe', 0o757)
  const own = file('own', 0o755)
  const policy = (driver: string, command: string) =>
    `- { driver: ${driver}, policy: command, command: [${command}] }\n`
  writeFileSync(at('cleaning.yaml'), policy('simulated_driver', wipe) + policy('pci_driver', own))
  mkdirSync(at('open'))
  chmodSync(at('open'), 0o777)
  await embeddedStoreIn(at('open/data/store'))
  service = await startService({
    args: ['start', ...listen, '--demo-devices', '1', '--data', at('open/data')],
    env: { ACCELERANDO_CLEANING_POLICIES: at('cleaning.yaml'), ACCELERANDO_API_TRUSTED_HOSTS: 'console.example.org' },
  })
}, LIMIT.timeout)
afterAll(async () => {
  await service?.end('SIGKILL').catch(() => undefined)
  folder.remove()
})

const WHY = 'everybody on this machine may write to it'
describe('it is logged', () => {
  test('that everybody may replace a program that cleans, and only that one', () => {
    const exposed = service.logged().filter(({ msg }) => msg === 'cleaning.pathExposed')
    expect(exposed).toEqual([expect.objectContaining({ level: 40, path: wipe, reason: WHY })])
  })
  test('that everybody may replace the data folder, because of the folder above it', () => {
    const exposed = service.logged().filter(({ msg }) => msg === 'data.folderExposed')
    expect(exposed).toEqual([expect.objectContaining({ level: 40, folder: at('open'), reason: WHY })])
  })
})

const statusOf = (port: string, path: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })
test('a page of another site reaches neither the console nor the admin listener', async () => {
  const { console: pages } = service.logged().find(({ msg }) => msg === 'started') as unknown as { console: string }
  const [ui, admin] = [new URL(pages).port, new URL(service.admin).port]
  expect(await statusOf(ui, '/ui/', 'evil.example.org')).toBe(403)
  expect(await statusOf(ui, '/ui/', 'console.example.org')).toBe(200)
  expect(await statusOf(admin, 'http://evil.example/metrics', `127.0.0.1:${admin}`)).toBe(400)
  expect(await statusOf(admin, `http://127.0.0.1:${admin}/healthz`, `127.0.0.1:${admin}`)).toBe(200)
})

describe('it does not start', LIMIT, () => {
  const failed = async (...args: readonly string[]) => {
    const program = runProgram({ args: ['start', ...args] })
    const { code } = await program.exited
    return { code, out: program.stdout(), err: program.stderr() }
  }
  test.each(['a file', 'a dangling link', 'below a file', 'below /proc'])(
    'where its data folder is %s',
    async (kind) => {
      file('plain', 0o644)
      if (kind === 'a dangling link') symlinkSync(at('nowhere'), at('link'))
      const path = { 'a file': at('plain'), 'a dangling link': at('link'), 'below a file': at('plain/x') }[kind]
      const { code, out, err } = await failed(...listen, '--data', path ?? '/proc/nope/below')
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(`data: ${path ?? '/proc/nope/below'} is not a folder`)
    },
  )
  test('on an address that is in use, and names the flag that chooses another', async () => {
    const taken = new URL(service.base).host
    const { code, out, err } = await failed('--listen', taken, ...listen.slice(2), '--data', at('other'))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`${taken} is in use by another program: choose another address with --listen`)
  })
})
