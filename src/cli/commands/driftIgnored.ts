/** `accelerando drift ignored`, `drift ignore` and `drift unignore`: differences that are not counted for a while. */
import type { Command } from 'commander'
import { IGNORED_DAYS_MAX } from '../../actors/placement/ignored.ts'
import { withPlainErrors } from '../command.ts'
import type { CommandRow } from '../commandRow.ts'
import { misused } from '../exits.ts'
import { type ApiFlags, addApiFlags, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { IgnoredDrift } from '../operators/apiShapes.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'

const LISTED = columnsOf<IgnoredDrift>(['uuid', 'host', 'kind', 'name', 'until', 'by', 'reason', 'difference_reason'], {
  by: 'ignored by',
  reason: 'why it is ignored',
  difference_reason: 'what differs',
})
const DETAILS: Columns<IgnoredDrift> = [
  ...LISTED,
  ...columnsOf<IgnoredDrift>(['provider_uuid', 'consumer_uuid', 'state', 'at'], { at: 'ignored since' }),
  { name: 'ended', of: ({ ended }) => ended && `by ${ended.by} at ${ended.at}: ${ended.reason}` },
]

type Given = ApiFlags & { readonly host?: string; readonly until: string; readonly reason: string }
const detail = (flags: ApiFlags, json: IgnoredDrift): void =>
  present(flags, { document: json, rows: [json], columns: DETAILS, one: true })
/** Options that family and command both have are parsed by the family, which is named first. */
const givenIn = (command: Command): Given => command.optsWithGlobals<Given>()

const SOME = '01a20b28-0abe-500a-9f52-7b87b630bc1b'

export const ignoring = (family: CommandRow): void => {
  const ignored = family
    .command('ignored')
    .description('Lists the differences that are ignored, until when and why.')
    .example('accelerando drift ignored --host compute-1')
  addOutput(addApiFlags(ignored), LISTED)
    .option('--host <NAME>', 'only those of this host')
    .action(
      withPlainErrors(async (_flags: Given, command: Command) => {
        const asked = givenIn(command)
        const path = withQuery('/drift/ignored', { host: asked.host, limit: limitFor(asked) })
        const json = await apiOf(asked)<{ readonly ignored: readonly IgnoredDrift[] }>('GET', path)
        present(asked, { document: json, rows: json.ignored, columns: LISTED })
      }),
    )
  const ignore = family
    .command('ignore <UUID>')
    .description('Ignores a difference that no pass repairs: it is listed, but not counted. Nothing else changes.')
    .example(`accelerando drift ignore ${SOME} --host compute-1 --until 2026-12-24 --reason "Nova has the card"`)
  addOutput(addApiFlags(ignore), DETAILS, { one: true })
    .option('--host <NAME>', 'the host that shows the difference; needed')
    .requiredOption(
      '--until <MOMENT>',
      `a day or a moment in UTC, at most ${IGNORED_DAYS_MAX} days ahead; it is back then`,
    )
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (uuid: string, _flags: Given, command: Command) => {
        const asked = givenIn(command)
        const { host, until, reason } = asked
        // the family has the same option, so that commander cannot demand it of this command
        if (host === undefined) throw misused('--host NAME is needed: the host that shows the difference')
        const body = { host, difference: uuid, until, reason }
        detail(asked, await apiOf(asked)<IgnoredDrift>('POST', '/drift/ignored', body))
      }),
    )
  const unignore = family
    .command('unignore <UUID>')
    .description('Ignores a difference no longer, before its time is over.')
    .example(`accelerando drift unignore ${SOME} --reason "it can be repaired now"`)
  addOutput(addApiFlags(unignore), DETAILS, { one: true })
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (uuid: string, _flags: Given, command: Command) => {
        const asked = givenIn(command)
        const path = `/drift/ignored/${encodeURIComponent(uuid)}/end`
        detail(asked, await apiOf(asked)<IgnoredDrift>('POST', path, { reason: asked.reason }))
      }),
    )
}
