/**
 * Runs in a copy of the repository and keeps one vitest alive there, since starting it takes longer than most test
 * files. A line of standard input is a `Question`, a line of standard output that begins with `MARK` is what has run.
 */
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type * as VitestNode from 'vitest/node'
import { MARK, type Question, type Ran } from './runs.ts'

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

const ran = async ({ files, changed }: Question): Promise<Ran> => {
  for (const path of changed) vitest.invalidateFile(join(root, path))
  const wanted = new Set(files.map((file) => join(root, file)))
  const found = await vitest.globTestSpecifications([...files])
  const specifications = found.filter(({ moduleId }) => wanted.has(moduleId))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false)
  const error = unhandledErrors[0]
  return {
    // among the modules are also those of earlier runs, as they ended then
    files: testModules
      .filter(({ moduleId }) => wanted.has(moduleId))
      .map((module) => ({
        file: relative(root, module.moduleId),
        state: module.state(),
        failed: [...module.children.allTests('failed')][0]?.fullName ?? null,
      })),
    trouble: error === undefined ? null : `the run failed: ${(error as Error).message}`,
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await ran(JSON.parse(line) as Question).catch((error: unknown): Ran => ({
    files: [],
    trouble: String(error),
  }))
  process.stdout.write(`${MARK}${JSON.stringify(answer)}\n`)
}
process.exit(0)
