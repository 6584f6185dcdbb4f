/** `accelerando profiles migrate`: updates device profiles when traits and resource classes are renamed. */
import { messageOf } from '../../errorText.ts'
import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import * as v from 'valibot'
import { type ApiFlags, addApiFlags, apiOf, show } from '../operators/api.ts'
import type { Migration } from '../operators/apiShapes.ts'
import { type Register, withPlainErrors } from '../command.ts'

const Names = v.optional(v.record(v.string(), v.string()), {})
const NameMap = v.strictObject({ traits: Names, classes: Names })

const parsedOf = (file: string, text: string): unknown => {
  try {
    return file.endsWith('.json') || text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error).split('\n')[0]}`, { cause: error })
  }
}
const readMap = (file: string) => {
  const read = v.safeParse(NameMap, parsedOf(file, readFileSync(file, 'utf8')))
  if (read.success) return read.output
  const [issue] = read.issues
  throw new Error(`${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}; it holds tables traits and classes`)
}

const lines = ({ applied, profiles }: Migration): readonly string[] => {
  const changes = profiles.reduce((sum, profile) => sum + profile.changes.length, 0)
  const verb = applied ? 'changed' : 'would change'
  return [
    ...profiles.flatMap(({ name, uuid, changes: steps }) => [
      `${name} (${uuid})`,
      ...steps.map(({ group, from, to }) => `  group ${group}: ${from} -> ${to}`),
    ]),
    `${profiles.length} profiles ${verb}, ${changes} names${applied || changes === 0 ? '' : '; --apply does it'}`,
  ]
}

type Asked = ApiFlags & { readonly map: string; readonly apply?: true; readonly reason?: string }
export const profiles: Register = (program) => {
  const family = program.command('profiles').description('The device profiles of a running service.')
  addApiFlags(
    family
      .command('migrate')
      .description(
        'Renames traits and resource classes in all profiles, or shows what would change. Existing requests are not changed.',
      ),
  )
    .requiredOption('--map <FILE>', 'TOML or JSON: tables traits and classes, each OLD = "NEW"')
    .option('--apply', 'make the changes; all profiles are changed or none')
    .option('--reason <TEXT>', 'reason, recorded in the journal; required with --apply')
    .action(
      withPlainErrors(async (flags: Asked) => {
        const { map, apply = false, reason } = flags
        if (apply && !reason?.trim()) throw new Error('--apply needs --reason')
        const asked = { ...readMap(map), apply, reason: reason ?? '' }
        const json = await apiOf(flags)<Migration>('POST', '/profile_migrations', asked)
        show(flags, json, () => lines(json))
      }),
    )
}
