/** `accelerando drift`: what differs between hardware, records and Placement, and `drift heal`, which repairs Placement. */
import type { Command } from 'commander'
import { type ApiFlags, addApiFlags, apiOf, show } from '../operators/api.ts'
import type { HostDrift } from '../operators/apiShapes.ts'
import { driftLines } from '../operators/driftLines.ts'
import { type Register, withPlainErrors } from '../command.ts'

type Asked = ApiFlags & { readonly host?: string; readonly apply?: true; readonly nova?: true }
type Answered = { readonly drift: readonly HostDrift[] }

const query = (args: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(args).filter((arg): arg is [string, string] => arg[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

export const drift: Register = (program) => {
  const family = addApiFlags(
    program.command('drift').description('What differs between hardware, records and Placement. Changes nothing.'),
  )
    .option('--host <NAME>', 'only this host')
    .option('--nova', 'also ask Nova about each server that has accelerators')
  family.action(
    withPlainErrors(async (flags: Asked) => {
      const json = await apiOf(flags)<Answered>(
        'GET',
        `/drift${query({ host: flags.host, nova: flags.nova && 'true' })}`,
      )
      show(flags, json, () => driftLines(json.drift))
    }),
  )
  addApiFlags(family.command('heal').description('Repairs Placement where it differs from what is recorded.'))
    .option('--host <NAME>', 'only this host')
    .option('--apply', 'do it; without this flag the command only says what would be done')
    .action(
      withPlainErrors(async (_flags: Asked, command: Command) => {
        // the options that both commands have are read by the one named first
        const asked = command.optsWithGlobals<Asked>()
        const dryRun = String(!asked.apply)
        const path = `/drift/heal${query({ host: asked.host, dry_run: dryRun })}`
        const json = await apiOf(asked)<Answered>('POST', path)
        show(asked, json, () => driftLines(json.drift, asked.apply))
      }),
    )
}
