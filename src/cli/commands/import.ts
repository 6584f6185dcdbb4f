/** `accelerando import`: takes over the database of upstream Cyborg. */
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { addFlags } from '../config/flags.ts'
import { openLog } from '../logger.ts'
import type { ImportGiven } from '../store/importUpstream.ts'

type Given = Flags & ImportGiven

export const importCommand: Register = (program) => {
  addFlags(
    program
      .command('import')
      .description(
        "Takes over the database of upstream Cyborg into an empty store that no other program uses. Without --apply it only shows what it would do; upstream's database is never written to.",
      )
      .example('accelerando import --from-file /etc/cyborg/cyborg.conf --config /etc/accelerando/accelerando.toml'),
    ['data', 'database', 'config', 'log.level'],
  )
    .option(
      '--from <URL>',
      'mysql://, mariadb:// or postgresql:// URL of the database of upstream; processes of other users can see it',
    )
    .option('--from-file <FILE>', "file with that URL, or with upstream's configuration (connection = ...)")
    .option('--apply', 'write it, in one transaction')
    .option('--json', 'one JSON object instead of lines')
    .addHelpText('after', '\nACCELERANDO_IMPORT_FROM may hold the URL as well.')
    .action(
      withPlainErrors(async ({ from, fromFile, apply, json, ...flags }: Given) => {
        const config = configured(flags)
        if (!config) return
        const { importUpstream } = await import('../store/importUpstream.ts')
        const parts = { env: process.env, log: await openLog(config.log), out }
        await importUpstream(config, { from, fromFile, apply, json }, parts)
      }),
    )
}
