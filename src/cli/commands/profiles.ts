/**
 * `accelerando profile`: shows the device profiles of a running service, and the differences between versions of one.
 */
import { Failure, misused } from '../exits.ts'
import { type Api, type ApiFlags, addApiFlags, addAsOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { Profile, ProfileVersion } from '../operators/apiShapes.ts'
import { type Difference, diffLines, differencesOf } from '../operators/profileDiff.ts'
import { PROFILES, profilePath, showProfile, SHOWN } from '../operators/profileRows.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import type { CommandRow } from '../commandRow.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { profileActs } from './profileActs.ts'
import { profileMigrate } from './profileMigrate.ts'

const LISTED: Columns<Profile> = [
  ...columnsOf<Profile>(['name', 'uuid', 'version', 'enabled'], {}),
  { name: 'groups', of: ({ groups }) => groups.length },
  ...columnsOf<Profile>(['projects', 'created_at'], { created_at: 'created' }),
]
const VERSIONS: Columns<ProfileVersion> = [
  ...columnsOf<ProfileVersion>(['version', 'enabled', 'description', 'created_at'], { created_at: 'created' }),
  { name: 'groups', of: ({ groups }) => groups.length },
]
const DIFFERENCES = columnsOf<Difference>(['part', 'from', 'to'])

type Versions = { readonly versions: readonly ProfileVersion[] }
const versionsOf = (api: Api, id: string): Promise<Versions> => api<Versions>('GET', `${profilePath(id)}/versions`)

const reading = (family: CommandRow): void => {
  const list = family
    .command('list')
    .description('Lists device profiles.')
    .example('accelerando profile list', 'accelerando profile list -f value -c name')
  addAsOf(addOutput(addApiFlags(list), LISTED)).action(
    withPlainErrors(async (flags: ApiFlags) => {
      const path = withQuery(PROFILES, { as_of: flags.asOf, limit: limitFor(flags) })
      const json = await apiOf(flags)<{ readonly device_profiles: readonly Profile[] }>('GET', path)
      present(flags, { document: json, rows: json.device_profiles, columns: LISTED })
    }),
  )
  const show = family
    .command('show <PROFILE>')
    .description('Shows one device profile, by its name or UUID.')
    .example('accelerando profile show fpga-small', 'accelerando profile show fpga-small -f json')
  addAsOf(addOutput(addApiFlags(show), SHOWN, { one: true })).action(
    withPlainErrors(async (id: string, flags: ApiFlags) => {
      type One = { readonly device_profile: Profile }
      const json = await apiOf(flags)<One>('GET', withQuery(profilePath(id), { as_of: flags.asOf }))
      showProfile(flags, json.device_profile, json)
    }),
  )
  const versions = family
    .command('versions <PROFILE>')
    .description('Lists the versions of a device profile.')
    .example('accelerando profile versions fpga-small')
  addOutput(addApiFlags(versions), VERSIONS).action(
    withPlainErrors(async (id: string, flags: ApiFlags) => {
      const json = await versionsOf(apiOf(flags), id)
      present(flags, { document: json, rows: json.versions, columns: VERSIONS })
    }),
  )
}

const numbered = (versions: readonly ProfileVersion[], text: string, next: string): ProfileVersion => {
  const found = versions.find(({ version }) => String(version) === text)
  if (found) return found
  throw new Failure('notFound', `there is no version ${text}, or it is too old to be kept`, { next })
}
/** Compares the named versions; without numbers, the newest version and the one before it. */
const compared = ({ versions }: Versions, id: string, from: string | undefined, to: string | undefined) => {
  const [before, newest] = [versions.at(-2) ?? versions.at(-1), versions.at(-1)]
  const next = `accelerando profile versions ${id}`
  const one = from === undefined ? before : numbered(versions, from, next)
  const other = to === undefined ? newest : numbered(versions, to, next)
  if (!one || !other) throw misused(`${id} has no version`)
  return { one, other }
}
const comparing = (family: CommandRow): void => {
  const command = family
    .command('diff <PROFILE> [FROM] [TO]')
    .description('What differs between two versions of a device profile: the last two, or those that are named.')
    .example('accelerando profile diff fpga-small', 'accelerando profile diff fpga-small 1 4')
  addOutput(addApiFlags(command), DIFFERENCES).action(
    withPlainErrors(async (id: string, from: string | undefined, to: string | undefined, flags: ApiFlags) => {
      const { one, other } = compared(await versionsOf(apiOf(flags), id), id, from, to)
      const rows = differencesOf(one, other)
      const document = { from: one.version, to: other.version, differences: rows }
      present(flags, { document, rows, columns: DIFFERENCES, text: () => diffLines(one, other, rows) })
    }),
  )
}

export const profiles: Register = (program) => {
  const family = program.command('profile').alias('profiles').description('The device profiles of a running service.')
  reading(family)
  comparing(family)
  profileActs(family)
  profileMigrate(family)
}
