/** `accelerando profile create`, `set` and `delete`: changes the device profiles of a running service. */
import { isRecord } from '../../vocabulary/record.ts'
import type { CommandRow } from '../commandRow.ts'
import { confirmable, confirmed } from '../confirm.ts'
import { out, withPlainErrors } from '../command.ts'
import { misused } from '../exits.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import type { Impact, Profile } from '../operators/apiShapes.ts'
import { documentIn } from '../operators/documentFile.ts'
import { DRY_RUN, IMPACT_COLUMNS, showImpact } from '../operators/impactLines.ts'
import { PROFILES, profilePath, showProfile, SHOWN } from '../operators/profileRows.ts'
import { addOutput } from '../output.ts'

type Group = Readonly<Record<string, string>>
const GROUP = 'KEY=VALUE,...'
const several = (text: string, before: readonly string[] | undefined = []): readonly string[] => [...before, text]

const groupOf = (text: string): Group =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [, key, value] = /^([^=]+)=(.*)/s.exec(part.trim()) ?? []
      if (key === undefined || value === undefined)
        throw misused(`--group: must be ${GROUP}, such as resources:FPGA=1,trait:CUSTOM_A=required (is ${text})`)
      return [key, value]
    }),
  )

type Create = ApiFlags & {
  readonly group?: readonly string[]
  readonly description?: string
  readonly file?: string
}
/** A file holds a profile, a list with one, as clients of the API post it, or the list of groups alone. */
const profileIn = (read: unknown, file: string): Readonly<Record<string, unknown>> => {
  const list: readonly unknown[] = Array.isArray(read) ? read : [read]
  const [first] = list
  if (Array.isArray(read) && list.length > 0 && list.every((one) => isRecord(one) && !Object.hasOwn(one, 'groups')))
    return { groups: list }
  if (list.length !== 1 || !isRecord(first)) throw misused(`${file}: must hold one device profile or a list of groups`)
  return first
}
/** The profile in the form of the API. */
const newProfile = (name: string, { group, description, file }: Create) => {
  if ((group === undefined) === (file === undefined)) throw misused('name its groups with --group or with --file')
  if (group !== undefined)
    return { name, groups: group.map(groupOf), ...(description !== undefined && { description }) }
  const read = documentIn(file!)
  return { ...profileIn(read, file!), name, ...(description !== undefined && { description }) }
}
const create = (family: CommandRow): void => {
  const command = family
    .command('create <NAME>')
    .description('Creates a device profile.')
    .example(
      'accelerando profile create fpga-small --group resources:FPGA=1,trait:CUSTOM_FPGA_INTEL=required',
      'accelerando profile create fpga-small --file profile.json',
    )
  addOutput(addApiFlags(command), SHOWN, { one: true })
    .option(`--group <${GROUP}>`, 'what one group asks for; may be given several times', several)
    .option('--description <TEXT>', 'for people')
    .option('--file <FILE>', 'JSON or TOML: the profile as it would be posted, or a list of groups; instead of --group')
    .action(
      withPlainErrors(async (name: string, flags: Create) => {
        const made = await apiOf(flags)<Profile>('POST', PROFILES, [newProfile(name, flags)])
        showProfile(flags, made, made)
      }),
    )
}

type Set = ApiFlags & {
  readonly group?: readonly string[]
  readonly description?: string
  readonly enable?: readonly string[]
  readonly disable?: readonly string[]
  readonly project?: readonly string[]
  readonly allProjects?: true
  readonly ifVersion?: string
  readonly reason: string
  readonly dryRun?: true
}
const changeOf = ({ group, description, enable, disable, project, allProjects, ifVersion, reason }: Set) => {
  if (project !== undefined && allProjects) throw misused('--project and --all-projects exclude each other')
  const versions = Object.fromEntries([
    ...(enable ?? []).map((version) => [version, true]),
    ...(disable ?? []).map((version) => [version, false]),
  ]) as Readonly<Record<string, boolean>>
  const change = {
    ...(group !== undefined && { groups: group.map(groupOf) }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(Object.keys(versions).length > 0 && { versions }),
    ...(project !== undefined && { projects: project }),
    ...(allProjects && { projects: null }),
  }
  if (Object.keys(change).length === 0)
    throw misused('say what changes: --group, --description, --enable, --disable, --project or --all-projects')
  return { ...change, ...(ifVersion !== undefined && { if_version: Number(ifVersion) }), reason }
}
const set = (family: CommandRow): void => {
  const command = family
    .command('set <PROFILE>')
    .description(
      'Makes a new version of a device profile, turns versions on and off, and says which projects may use it.',
    )
    .example(
      'accelerando profile set fpga-small --group resources:FPGA=2 --reason "two for everybody"',
      'accelerando profile set fpga-small --disable 3 --reason "the trait is gone" --dry-run',
      'accelerando profile set fpga-small --project 5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10 --reason "for one customer"',
    )
  addOutput(addApiFlags(command), SHOWN, { one: true })
    .option(`--group <${GROUP}>`, 'what one group asks for in the new version; may be given several times', several)
    .option('--description <TEXT>', 'of the new version; empty: none')
    .option('--enable <VERSION>', 'make this version usable; may be given several times', several)
    .option('--disable <VERSION>', 'nobody may use this version; may be given several times', several)
    .option('--project <ID>', 'only these projects may use it; may be given several times', several)
    .option('--all-projects', 'every project may use it')
    .option('--if-version <VERSION>', 'only if this is the newest version')
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .option('--dry-run', DRY_RUN)
    .action(
      withPlainErrors(async (id: string, flags: Set) => {
        if (flags.dryRun) {
          const path = withQuery(profilePath(id), { dry_run: 'true' })
          return showImpact(flags, await apiOf(flags)<Impact>('PATCH', path, changeOf(flags)))
        }
        type One = { readonly device_profile: Profile }
        const json = await apiOf(flags)<One>('PATCH', profilePath(id), changeOf(flags))
        showProfile(flags, json.device_profile, json)
      }),
    )
}

type Remove = ApiFlags & { readonly dryRun?: true; readonly yes?: true }
const remove = (family: CommandRow): void => {
  const command = family
    .command('delete <PROFILE...>')
    .description('Deletes device profiles: all that are named, or none.')
    .example('accelerando profile delete fpga-small --dry-run', 'accelerando profile delete fpga-small fpga-big --yes')
  confirmable(addOutput(addApiFlags(command), IMPACT_COLUMNS))
    .option('--dry-run', DRY_RUN)
    .action(
      withPlainErrors(async (ids: readonly string[], flags: Remove) => {
        const value = ids.join(',')
        if (flags.dryRun) {
          return showImpact(
            flags,
            await apiOf(flags)<Impact>('DELETE', withQuery(PROFILES, { value, dry_run: 'true' })),
          )
        }
        await confirmed(flags, `Device profiles are deleted: ${ids.join(', ')}.`)
        await apiOf(flags)('DELETE', withQuery(PROFILES, { value }))
        if (!flags.json) out(`deleted: ${ids.join(', ')}`)
      }),
    )
}

export const profileActs = (family: CommandRow): void => {
  create(family)
  set(family)
  remove(family)
}
