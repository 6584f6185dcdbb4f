/** `accelerando profile migrate`: updates device profiles when traits and resource classes are renamed. */
import type { CommandRow } from '../commandRow.ts'
import { misused } from '../exits.ts'
import * as v from 'valibot'
import { type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import { addOutput, columnsOf, present } from '../output.ts'
import type { Migration } from '../operators/apiShapes.ts'
import { documentIn } from '../operators/documentFile.ts'
import { withPlainErrors } from '../command.ts'

const Names = v.optional(v.record(v.string(), v.string()), {})
const NameMap = v.strictObject({ traits: Names, classes: Names })

const readMap = (file: string) => {
  const read = v.safeParse(NameMap, documentIn(file))
  if (read.success) return read.output
  const [issue] = read.issues
  throw misused(`${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}; it holds tables traits and classes`)
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

type Change = Migration['profiles'][number]['changes'][number] & { readonly name: string; readonly uuid: string }
const CHANGES = columnsOf<Change>(['name', 'uuid', 'group', 'from', 'to'])
const changesOf = ({ profiles }: Migration): readonly Change[] =>
  profiles.flatMap(({ name, uuid, changes }) => changes.map((change) => ({ name, uuid, ...change })))

type Given = ApiFlags & { readonly map: string; readonly apply?: true; readonly reason?: string }
export const profileMigrate = (family: CommandRow): void => {
  const command = family
    .command('migrate')
    .description(
      'Renames traits and resource classes in all profiles, or shows what would change. Existing requests are not changed.',
    )
    .example(
      'accelerando profile migrate --map renamed.toml',
      'accelerando profile migrate --map renamed.toml --apply --reason "traits of release 2"',
    )
  addOutput(addApiFlags(command), CHANGES)
    .requiredOption('--map <FILE>', 'TOML or JSON: tables traits and classes, each OLD = "NEW"')
    .option('--apply', 'make the changes; all profiles are changed or none')
    .option('--reason <TEXT>', 'reason, recorded in the journal; required with --apply')
    .action(
      withPlainErrors(async (flags: Given) => {
        const { map, apply = false, reason } = flags
        if (apply && !reason?.trim()) throw misused('--apply needs --reason')
        const asked = { ...readMap(map), apply, reason: reason ?? '' }
        const json = await apiOf(flags)<Migration>('POST', '/profile_migrations', asked)
        present(flags, {
          document: json,
          rows: changesOf(json),
          columns: CHANGES,
          text: () => lines(json),
          report: true,
        })
      }),
    )
}
