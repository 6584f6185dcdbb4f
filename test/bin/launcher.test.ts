/**
 * The launcher, on a stand-in for the program: which Node runs it, what reaches it, and that nothing outlives a kill.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Part, describeWith } from '../support/needs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'launcher-'))

/** Says what it sees, then waits: for SIGTERM, or for ever. */
const STAND_IN = `
process.on('SIGTERM', () => process.exit(7))
setInterval(() => {}, 1000)
const inherited: string[] = Object.keys(process.env).filter((name) => name === 'ACCELERANDO_PARENT_FD')
console.log(JSON.stringify({ pid: process.pid, node: process.versions.node, args: process.argv.slice(2), inherited }))
`

beforeAll(() => {
  cpSync(join(root, 'bin'), join(home, 'bin'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
  mkdirSync(join(home, 'src/cli'), { recursive: true })
  writeFileSync(join(home, 'src/cli/main.ts'), STAND_IN)
  const scripts = { start: 'node bin/accelerando.js start' }
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'stand-in', type: 'module', scripts }))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

type Seen = {
  readonly pid: number
  readonly node: string
  readonly args: readonly string[]
  readonly inherited: readonly string[]
}

const started: ChildProcess[] = []
afterAll(() => started.forEach((child) => child.kill('SIGKILL')))

type Run = { readonly child: ChildProcess; readonly seen: Seen; readonly gone: Promise<unknown> }

const start = async (program: string, args: readonly string[]): Promise<Run> => {
  const child = spawn(program, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  // Comes when all that hold its standard output are gone: the process and its children. A zombie holds nothing.
  const gone = once(child, 'close')
  const said = new Promise<Seen>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += String(chunk)
      const line = /^\{.*\}$/m.exec(text)?.[0]
      if (line !== undefined) resolve(JSON.parse(line) as Seen)
    })
    child.on('close', () => reject(new Error(`it ended and said: ${text}`)))
  })
  return { child, seen: await said, gone }
}

const answersAndStops = async (node: string, sameProcess: boolean): Promise<void> => {
  const { child, seen, gone } = await start(node, ['bin/accelerando.js', 'start', '--demo'])
  expect(seen).toMatchObject({ args: ['start', '--demo'], inherited: [] })
  expect(Number(seen.node.split('.')[0])).toBeGreaterThanOrEqual(24)
  expect(seen.pid === child.pid).toBe(sameProcess)
  child.kill('SIGTERM')
  expect(await gone).toEqual([7, null])
}

const diesWhole = async (program: string, args: readonly string[]): Promise<void> => {
  const { child, gone } = await start(program, args)
  child.kill('SIGKILL')
  expect(await gone).toEqual([null, 'SIGKILL'])
}

describe('on the Node that came with the packages', () => {
  test('the program runs in the process that was started', () => answersAndStops(process.execPath, true))
  test('npm that is killed leaves nothing behind', () => diesWhole('npm', ['start', '--', '--demo']))
})

/** The first `node` in PATH that is not ours. */
const olderNode: Part = {
  name: 'a Node older than 24.11 in PATH',
  installable: false,
  find: () => {
    const at = (process.env['PATH'] ?? '')
      .split(delimiter)
      .filter((folder) => !folder.includes('node_modules'))
      .map((folder) => join(folder, 'node'))
      .find((path) => {
        try {
          accessSync(path)
          return /^v(20|22)\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout)
        } catch {
          return false
        }
      })
    return at === undefined ? { lacking: 'found none' } : { at }
  },
}

describeWith(olderNode, 'on an older Node', (node) => {
  const replaces = node !== '' && spawnSync(node, ['-p', 'typeof process.execve']).stdout.includes('function')

  test('the program still runs on Node 24, with its signals and its exit code', () => answersAndStops(node, replaces))
  test('a kill leaves nothing behind', () => diesWhole(node, ['bin/accelerando.js', 'start']))
})
