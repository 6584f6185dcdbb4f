/**
 * Runs in a copy of the repository and keeps one vitest alive there, since starting it takes longer than most test
 * files. A run goes on after a failed test: vitest may take most of a minute to cancel one, and refuses the next run
 * for as long. A line of standard input is a `Question`, a line of standard output that begins with `MARK` is its
 * `Answer`.
 */
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type * as VitestNode from 'vitest/node'
import { type Answer, MARK, type Question } from './runs.ts'

const root = process.cwd()
const silent = () =>
  new Writable({ write: (_chunk, _encoding, done) => done() }) as unknown as NodeJS.WriteStream & Writable
const { createVitest } = (await import(
  pathToFileURL(join(root, 'node_modules/vitest/dist/node.js')).href
)) as typeof VitestNode
const vitest = await createVitest(
  'test',
  { root, watch: true, maxWorkers: 1, reporters: [{ onInit: () => undefined }] },
  { server: { watch: null } },
  { stdout: silent(), stderr: silent() },
)
await vitest.standalone()

const answer = async ({ files, changed }: Question): Promise<Answer> => {
  for (const path of changed) vitest.invalidateFile(join(root, path))
  const wanted = new Set(files.map((file) => join(root, file)))
  const found = await vitest.globTestSpecifications([...files])
  const specifications = found.filter(({ moduleId }) => wanted.has(moduleId))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false)
  const error = unhandledErrors[0]
  // among the modules are also those of earlier runs, as they ended then
  const asked = testModules.filter(({ moduleId }) => wanted.has(moduleId))
  return {
    files: asked.map((module) => {
      const failed = [...module.children.allTests('failed')][0]
      return {
        file: relative(root, module.moduleId),
        state: module.state(),
        ms: module.diagnostic().duration,
        failed: failed?.fullName ?? null,
      }
    }),
    unhandled: error === undefined ? null : (error as Error).message,
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answered = await answer(JSON.parse(line) as Question).catch((error: unknown): Answer => ({
    files: [],
    unhandled: String(error),
  }))
  process.stdout.write(`${MARK}${JSON.stringify(answered)}\n`)
}
process.exit(0)
