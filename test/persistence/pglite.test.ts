/**
 * The embedded store: one process to a folder, nothing acknowledged lost by a kill, and never in the way of the
 * program.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import * as sample from './samples.ts'

beforeAll(embeddedStoreMade)
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-embedded-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const appender = (folder: string) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./appender.ts', import.meta.url)), folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  const { promise: full, resolve: enough } = Promise.withResolvers<void>()
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>()
  child.stdout.on('data', (bytes: Buffer) => {
    said.out += bytes.toString()
    if (said.out.split('\n').length > 200) enough()
  })
  child.stderr.on('data', (bytes: Buffer) => (said.err += bytes.toString()))
  child.on('close', (code) => {
    end(code)
    enough()
  })
  return { child, said, full, ended }
}

test('a kill in mid-write loses nothing that was acknowledged, and its lock holds nobody up', async () => {
  await embeddedStoreIn(dir)
  const { child, said, full, ended } = appender(dir)
  await full
  const second = appender(dir)
  expect(await second.ended).not.toBe(0)
  expect(second.said.err).toContain(`${dir} is in use by process ${child.pid}`)
  child.kill('SIGKILL')
  await ended
  const acknowledged = new Map(
    said.out
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ') as [string, string]),
  )
  const store = await openStore({ kind: 'pglite', dir })
  const tails = await store.journal.recall([...acknowledged.keys()].map((key) => ({ key, after: 0 })))
  expect(acknowledged.size).toBe(8)
  for (const [key, version] of acknowledged) {
    const versions = tails.get(key)!.rows.map((row) => row.version)
    expect(versions).toEqual(versions.map((_, index) => index + 1))
    expect(versions.length).toBeGreaterThanOrEqual(Number(version))
  }
  await store.close()
})

test('what was closed is there again, and a closed store lets go of its folder', async () => {
  const key = sample.newKey()
  await embeddedStoreIn(dir)
  const first = await openStore({ kind: 'pglite', dir })
  await first.journal.append(sample.one(key, 1))
  await expect(openStore({ kind: 'pglite', dir })).rejects.toThrow(`in use by process ${process.pid}`)
  await first.close()
  const second = await openStore({ kind: 'pglite', dir })
  expect(second.journal.exclusive).toBe(true)
  expect(await sample.versionsOf(second.journal, key)).toEqual([1])
  expect((await sample.fedAll(second.journal)).map((row) => row.key)).toEqual([key])
  await second.close()
})

test('the event loop goes on while thousands of rows are written', async () => {
  await embeddedStoreIn(dir)
  const store = await openStore({ kind: 'pglite', dir })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // what this machine delays a loop that has nothing to do
  delay.enable()
  await setTimeout(300)
  const idle = delay.percentile(90)
  delay.reset()
  for (let round = 0; round < 20; round++) {
    const appends = Array.from({ length: 200 }, () =>
      sample.one(sample.newKey(), 1, [sample.arqChange(sample.arqRow())]),
    )
    await Promise.all(appends.map((append) => store.journal.append(append)))
  }
  delay.disable()
  // A statement of 200 rows keeps the database itself busy for longer than this.
  expect(delay.percentile(90)).toBeLessThan(15e6 + 10 * idle)
  await store.close()
})
