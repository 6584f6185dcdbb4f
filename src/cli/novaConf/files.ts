/**
 * Reads the configuration files that an operator names: files, and folders, of which each `*.conf` is read in the order
 * of names.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../vocabulary/errorText.ts'
import { readText } from '../config/readText.ts'
import { type Assignment, type ConfProblem, readOslo } from '../oslo/osloFile.ts'

const FILES_MAX = 1000

export type ConfFiles = {
  /** The assignments of each file. */
  readonly files: readonly (readonly Assignment[])[]
  readonly problems: readonly ConfProblem[]
}

const filesAt = (path: string): readonly string[] => {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => name.endsWith('.conf'))
  if (names.length > FILES_MAX) throw new Error(`the folder holds more than ${FILES_MAX} files *.conf`)
  return names.toSorted().map((name) => join(path, name))
}

/** Returns what can be read, and adds a problem for what cannot. */
const orProblem = <Value>(at: string, problems: ConfProblem[], read: () => readonly Value[]): readonly Value[] => {
  try {
    return read()
  } catch (error) {
    problems.push({ at, rule: `it cannot be read: ${messageOf(error)}` })
    return []
  }
}

export const readConfFiles = (paths: readonly string[]): ConfFiles => {
  const problems: ConfProblem[] = []
  const files = paths
    .flatMap((path) => orProblem(path, problems, () => filesAt(path)))
    .flatMap((file) => orProblem(file, problems, () => [readOslo(readText(file), file)]))
  return {
    files: files.map(({ assignments }) => assignments),
    problems: [...problems, ...files.flatMap((one) => one.problems)],
  }
}
