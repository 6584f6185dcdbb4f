/** A rig ends whatever it has begun, on every way out, and says why a part did not start. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { isRunning } from '../../infra/cluster/part.ts'
import { tempFolder } from '../support/program.ts'

const FIXTURE = join(import.meta.dirname, '../support/fixtures/rig.fixture.ts')
const folder = tempFolder('rig')
const began: number[] = []
afterAll(() => {
  for (const pid of began.filter(isRunning)) process.kill(pid, 'SIGKILL')
  folder.remove()
})

const rig = (how: string) => {
  const own = mkdtempSync(join(folder.path, 'own-'))
  const child = spawn(process.execPath, [FIXTURE, how, own], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  const heard = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
    for (const [, pid] of part.matchAll(/is process (\d+)/g)) began.push(Number(pid))
    for (const each of heard) each()
  })
  const ended = new Promise<number | null>((resolve) => void child.once('exit', resolve))
  return {
    child,
    ended,
    folder: own,
    text: () => text,
    said: (line: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => (line.test(text) ? resolve() : undefined)
        heard.add(look)
        look()
      }),
    running: () => [...text.matchAll(/is process (\d+)/g)].map(([, pid]) => Number(pid)).filter(isRunning),
  }
}

describe('a rig', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends its parts on %s', async (signal) => {
    const run = rig('waits')
    await run.said(/^ready$/m)
    expect(run.running()).toHaveLength(2)
    run.child.kill(signal)
    // npm passes on what the terminal has sent to all already
    run.child.kill(signal)
    expect(await run.ended).toBe(0)
    expect(run.running()).toEqual([])
    expect(existsSync(join(run.folder, 'guard'))).toBe(false)
  })

  test('ends a part that is just being started', async () => {
    const run = rig('waits')
    await run.said(/^other +ready/m)
    run.child.kill('SIGTERM')
    expect(await run.ended).toBe(0)
    expect([run.text(), run.running()]).toEqual([expect.stringMatching(/^slow +stopped/m), []])
    expect(run.text()).not.toMatch(/^ready$/m)
  })

  test('of which a part does not start ends the others, and says which, why and what to do', async () => {
    const run = rig('fails')
    expect(await run.ended).toBe(1)
    expect(run.running()).toEqual([])
    expect(run.text()).toContain(
      [
        'rig: other did not start: other: cannot begin',
        '  more about it',
        `  last lines of ${join(run.folder, 'other.log')}:`,
        '    first line',
        '    the folder is full',
        '  what to do: make room in the folder',
        '',
      ].join('\n'),
    )
  })

  test.each([
    ['throws', 'rig: the work went wrong'],
    ['crashes', 'rig: nobody handles this'],
  ])('whose work %s ends its parts', async (how, sentence) => {
    const run = rig(how)
    expect(await run.ended).toBe(1)
    expect([run.text(), run.running()]).toEqual([expect.stringContaining(sentence), []])
  })

  test('to which nobody listens any more ends', async () => {
    const run = rig('talks')
    await run.said(/^talking$/m)
    run.child.stdout.destroy()
    expect(await run.ended).toBe(0)
    expect(run.running()).toEqual([])
  })

  test('that is killed is ended by its guard', async () => {
    const run = rig('waits')
    await run.said(/^ready$/m)
    run.child.kill('SIGKILL')
    await run.ended
    for (let waited = 0; !existsSync(join(run.folder, 'guard')) && waited < 5000; waited += 10) await sleep(10)
    expect(existsSync(join(run.folder, 'guard'))).toBe(true)
  })
})
