/**
 * Reads option values from several files of oslo.config together: later files win, and `$name` stands for another
 * option. Pure.
 */
import type { Assignment, ConfProblem } from './osloFile.ts'

/** Section and key of an option, which may have had other names before. */
export type Name = readonly [section: string, key: string]
export type Setting = { readonly value: string; readonly at: string }
export type Settings = {
  /** All values of an option that may be given many times, in the order of the files. */
  readonly all: (names: readonly Name[]) => readonly Setting[]
  /**
   * The value of an option that counts once: from the last file that sets it, and there by the first of its names.
   * Null: it is not set.
   */
  readonly last: (names: readonly Name[]) => Setting | null
  /** The problems that were found while values were read. */
  readonly problems: () => readonly ConfProblem[]
}

const DEPTH_MAX = 10
/** `$$`, `$name`, `${name}`; `\$` is the same as `$$`. Any other dollar sign is itself, as in a regular expression. */
const REFERENCE = /\\\$|\$\$|\$([_a-z][._a-z0-9]*)|\$\{([_a-z][._a-z0-9]*)\}/gi
const DEFAULT = 'DEFAULT'

/** The sections in which `name` may be set when another option refers to it, best first. */
const placesOf = (name: string, section: string): readonly Name[] => {
  const [group, ...rest] = name.split('.')
  return rest.length === 0
    ? [
        [section, name],
        [DEFAULT, name],
      ]
    : [
        [group!.toLowerCase(), rest.join('.')],
        [DEFAULT, name],
      ]
}

/** `files`: the assignments of each file, in the order in which the service reads the files. */
export const settingsOf = (files: readonly (readonly Assignment[])[]): Settings => {
  const problems = new Map<string, ConfProblem>()
  const isNamed =
    ([section, key]: Name) =>
    (one: Assignment) =>
      one.section === section && one.key === key
  const lastOf = (names: readonly Name[]): Assignment | null => {
    for (const assignments of files.toReversed())
      for (const name of names) {
        const found = assignments.findLast(isNamed(name))
        if (found) return found
      }
    return null
  }
  const resolved = ({ value, section, at }: Assignment, depth = 0): string =>
    value.replaceAll(REFERENCE, (whole: string, plain?: string, braced?: string) => {
      const name = plain ?? braced
      if (name === undefined) return '$'
      const found = placesOf(name, section)
        .map((place) => lastOf([place]))
        .find((one) => one !== null)
      if (found && depth < DEPTH_MAX) return resolved(found, depth + 1)
      const rule = found ? `${whole} leads back to itself` : `${whole} must be set in the files that are named`
      problems.set(`${at} ${rule}`, { at, rule })
      return whole
    })
  const setting = (one: Assignment): Setting => ({ value: resolved(one), at: one.at })
  return {
    all: (names) =>
      files
        .flat()
        .filter((one) => names.some((name) => isNamed(name)(one)))
        .map(setting),
    last: (names) => {
      const found = lastOf(names)
      return found && setting(found)
    },
    problems: () => [...problems.values()],
  }
}
