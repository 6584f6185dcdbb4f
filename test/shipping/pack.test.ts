/**
 * What `npm pack` makes, installed in an empty folder as an operator does: the tour, the console, and the same package
 * under Deno.
 */
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { recordLoads } from '../support/loads.ts'
import { describeWith } from '../support/needs.ts'
import { startService, tempFolder } from '../support/program.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const [INSTALL_MS, STARTS] = [300_000, { timeout: 120_000 }]
const SIZE_MAX = 6_500_000
const PORTS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--ui-listen', '127.0.0.1:0']
const folder = tempFolder('pack')
const [source, empty] = [join(folder.path, 'source'), join(folder.path, 'empty')]

/** Without the programs of this checkout, so that the Node of the machine begins, as it does for an operator. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|ACCELERANDO_|VITEST)/.test(name))),
  PATH: process.env['PATH']!.split(delimiter)
    .filter((path) => !path.endsWith('node_modules/.bin'))
    .join(delimiter),
}

const SEED = ['--handles', '1', '--arqs', '0', '--projects', '1', '--data', join(folder.path, 'seeded')]

let tarball: string
let files: readonly string[]
const launcher = join(empty, 'node_modules/accelerando/bin/accelerando.js')

beforeAll(async () => {
  // A copy: packing writes beside the sources, which other tests read at the same time.
  for (const name of ['bin', 'src', 'infra/pack', 'package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    cpSync(join(ROOT, name), join(source, name), { recursive: true })
  mkdirSync(join(source, 'documents'))
  writeFileSync(join(source, 'documents/index.html'), 'built before')
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder.path], {
    cwd: source,
    env,
    maxBuffer: 16 * 1024 * 1024,
  })
  // Some releases of npm answer a list, others an object of packages by name.
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string; files: { path: string }[] }>)
  tarball = join(folder.path, packed!.filename)
  files = packed!.files.map(({ path }) => path)
  mkdirSync(empty)
  writeFileSync(join(empty, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: empty, env })
  await embeddedStoreMade()
}, INSTALL_MS)
afterAll(folder.remove)

const dataFolder = async (name: string): Promise<string> => {
  const data = join(folder.path, name)
  await embeddedStoreIn(join(data, 'store'))
  return data
}

describe('the package', () => {
  test('holds the program and what every package holds, and nothing of its tests', () => {
    const kinds = new Set(files.map((path) => path.split('/')[0]))
    const KINDS = ['bin', 'dist', 'prepared', 'documents', 'package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']
    expect(kinds).toEqual(new Set(KINDS))
    expect(files.filter((path) => /\.tsx?$|tsconfig|\btests?\b|fixture/i.test(path))).toEqual([])
    expect(files).toContain('dist/ui/style.css')
  })

  test('is smaller than its limit', () => expect(statSync(tarball).size).toBeLessThan(SIZE_MAX))

  test('leaves nothing beside the sources', () => {
    expect(spawnSync('ls', [source], { encoding: 'utf8' }).stdout.split('\n')).not.toContain('dist')
  })

  test('names no source file that it does not hold', () => {
    const { stdout } = spawnSync('grep', ['-rnE', String.raw`'\.{1,2}/[^']*\.ts'`, join(launcher, '../../dist')], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  })
})

describe('installed in an empty folder', () => {
  test('npx runs the tour to its end', STARTS, async () => {
    const args = ['accelerando', 'start', '--demo', '--tour', '--data', await dataFolder('tour'), ...PORTS]
    const { stdout } = await run('npx', ['--no-install', ...args], { cwd: empty, env })
    expect(stdout).toMatch(/^tour: every step did what Nova expects, \d+ ms$/m)
  })

  test('it serves the API and the console with its scripts', STARTS, async () => {
    const args = ['start', '--demo', '--data', await dataFolder('service'), ...PORTS]
    const service = await startService({ args, launcher }, STARTS.timeout)
    try {
      const [, address] = await service.said(/^console (http:\/\/\S+\/ui\/)$/m)
      const page = await (await fetch(address!)).text()
      const scripts = [...page.matchAll(/href="([^"]+\.js)"/g)].map(([, path]) => new URL(path!, address).href)
      expect(scripts.length).toBeGreaterThan(5)
      for (const script of scripts) expect((await fetch(script)).status, script).toBe(200)
      expect((await service.end('SIGTERM')).code).toBe(0)
    } finally {
      await service.end('SIGKILL')
    }
  })

  test('its first start unpacks a store, for which it needs no migrations', STARTS, async () => {
    const loads = recordLoads(folder.path)
    await run(process.execPath, [launcher, 'seed', '--hosts', '1', '--devices', '1', ...SEED], {
      cwd: empty,
      env: { ...env, ...loads.env },
    })
    expect(loads.loaded().filter((url) => url.includes('@mikro-orm/migrations'))).toEqual([])
    expect(existsSync(join(folder.path, 'seeded/store/pglite/PG_VERSION'))).toBe(true)
  })
})

describeWith('deno', 'under Deno', (deno) => {
  test('the same package runs the tour', STARTS, async () => {
    const args = ['run', '-A', launcher, 'start', '--demo', '--tour', '--data', await dataFolder('deno'), ...PORTS]
    const { stdout } = await run(deno, args, { cwd: empty, env })
    expect(stdout).toMatch(/^tour: every step did what Nova expects/m)
  })
})
