/**
 * The summary at the end of a test run: skipped tests with their reasons, the files in which something failed, then one
 * line of counts.
 */
import { writeSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node'

type Skip = { readonly name: string; readonly reason: string }

/**
 * A skip carries its reason as the note of `context.skip(note)` or as `meta.reason`, which suites hand down to their
 * tests.
 */
const reasonOf = (test: TestCase): string | undefined => {
  const result = test.result()
  return (result.state === 'skipped' ? result.note : undefined) ?? test.meta().reason
}

const skips = (modules: readonly TestModule[], filtered: boolean): Skip[] =>
  modules.flatMap((module) =>
    [...module.children.allTests('skipped')].flatMap((test) => {
      const reason = reasonOf(test)
      if (reason === undefined && filtered) return []
      const file = relative(process.cwd(), module.moduleId)
      return [{ name: `${file} > ${test.fullName}`, reason: reason ?? 'no reason given' }]
    }),
  )

const count = (modules: readonly TestModule[], state: 'passed' | 'failed'): number =>
  modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0)

/** Files that failed without a failed test of their own: they did not load, or a hook of theirs threw. */
const broken = (modules: readonly TestModule[]): number =>
  modules.filter((module) => module.state() === 'failed' && count([module], 'failed') === 0).length

const failedIn = (modules: readonly TestModule[]): readonly string[] =>
  modules
    .filter((module) => module.state() === 'failed')
    .map(({ moduleId }) => `failed in: ${relative(process.cwd(), moduleId)}`)

const lastWords = (modules: readonly TestModule[], errors: number, filtered: boolean): string => {
  const skipped = skips(modules, filtered)
  const failed = count(modules, 'failed') + broken(modules) + errors
  const lines = skipped.map(({ name, reason }) => `skipped: ${name} (${reason})`)
  return [
    ...lines,
    ...new Set(failedIn(modules)),
    `${count(modules, 'passed')} passed, ${failed} failed, ${skipped.length} skipped`,
  ].join('\n')
}

export default class Summary implements Reporter {
  #filtered = false

  onInit(vitest: Vitest): void {
    this.#filtered = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const text = lastWords(modules, errors.length, this.#filtered)
    // at exit, since the other reporters print more after this hook
    process.once('exit', () => writeSync(1, `\n${text}\n`))
  }
}
