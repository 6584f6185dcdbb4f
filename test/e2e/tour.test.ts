/** `start --demo --tour`: the main job as Nova does it, and the program's own account of it. */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { portThatFetchRefuses } from '../support/port.ts'
import { runProgram, tempFolder } from '../support/program.ts'

const folder = tempFolder('tour')
afterAll(folder.remove)

test('a tour walks the main job and ends with its result', { timeout: 90_000 }, async () => {
  const args = ['start', '--demo', '--tour', '--data', join(folder.path, 'data')]
  // the default port is one that `fetch` refuses
  const listen = `127.0.0.1:${await portThatFetchRefuses()}`
  const tour = runProgram({ args: [...args, '--listen', listen, '--admin-listen', '127.0.0.1:0'] })
  const { code } = await tour.exited
  expect(code, tour.stdout() + tour.stderr()).toBe(0)
  const lines = tour.stdout().trimEnd().split('\n')
  expect(lines.at(-1)).toMatch(/^tour: every step did what Nova expects/)
  for (const step of ['device profile', 'ARQ', 'binds', 'Bound', 'timeline|happened', 'unbinds', 'deletes'])
    expect(tour.stdout()).toMatch(new RegExp(step))
})
