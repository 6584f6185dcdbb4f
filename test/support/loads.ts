/** Finds the files and packages that a program loads, as recorded by Node itself. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Loads = {
  /** Environment of the program to be recorded. */
  readonly env: { readonly NODE_OPTIONS: string }
  /** URLs, in the order in which they were loaded. */
  readonly loaded: () => readonly string[]
}

/** Keeps its two files in the folder. Programs of one name are recorded together. */
export const recordLoads = (folder: string, name = 'loads'): Loads => {
  const [record, recorder] = [join(folder, name), join(folder, `${name}.recorder.mjs`)]
  writeFileSync(record, '')
  writeFileSync(
    recorder,
    `import { registerHooks } from 'node:module'
     import { appendFileSync } from 'node:fs'
     registerHooks({ load: (url, context, next) => (appendFileSync(${JSON.stringify(record)}, url + '\\n'), next(url, context)) })`,
  )
  return {
    env: { NODE_OPTIONS: `--import ${recorder}` },
    loaded: () => readFileSync(record, 'utf8').split('\n').filter(Boolean),
  }
}
