/**
 * `accelerando profile`: shows the device profiles of a running service, and the differences between versions of one.
 */
import { type Difference, differencesOf, pairOf } from '../../vocabulary/profileDiff.ts'
import { Failure } from '../exits.ts'
import { type Api, type ApiFlags, addApiFlags, addAsOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { Profile, ProfileVersion } from '../operators/apiShapes.ts'
import { diffLines, partOf } from '../operators/profileDiff.ts'
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
const DIFFERENCES = columnsOf<Difference & { readonly part: string }>(['part', 'change', 'from', 'to'])

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

const compared = ({ versions }: Versions, id: string, from: string | undefined, to: string | undefined) => {
  const pair = pairOf(versions, { from, to })
  if (typeof pair !== 'string') return pair
  throw new Failure('notFound', `${id}: ${pair}`, { next: `accelerando profile versions ${id}` })
}
const comparing = (family: CommandRow): void => {
  const command = family
    .command('diff <PROFILE> [FROM] [TO]')
    .description('What differs between two versions of a device profile: the last two, or those that are named.')
    .example('accelerando profile diff fpga-small', 'accelerando profile diff fpga-small 1 4')
  addOutput(addApiFlags(command), DIFFERENCES).action(
    withPlainErrors(async (id: string, from: string | undefined, to: string | undefined, flags: ApiFlags) => {
      const pair = compared(await versionsOf(apiOf(flags), id), id, from, to)
      const found = differencesOf(pair.from, pair.to)
      const rows = found.parts.map((part) => ({ part: partOf(part), ...part }))
      const document = { from: pair.from.version, to: pair.to.version, differences: rows }
      present(flags, { document, rows, columns: DIFFERENCES, text: () => diffLines(pair, found) })
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
