/** `accelerando archive`: moves entities that ended long ago out of the active journal, while the programs run. */
import { DAY_MS } from '../../vocabulary/clock.ts'
import { misused } from '../exits.ts'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import { addFlags } from '../config/flags.ts'
import type { Config } from '../config/config.ts'
import { withProgress } from '../progress.ts'

type Given = Flags & { readonly endedDays: string; readonly portion: string }

const PORTION_MAX = 10_000

const number = (name: string, text: string, min: number, max: number): number => {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max) return value
  throw misused(`${name}: must be a number from ${min} to ${max}`)
}

export const archivedText = (rows: number, entities: number, ms: number): string =>
  `archived ${rows} rows of ${entities} entities, ${(ms / 1000).toFixed(1)} s`

const archive = async (database: NonNullable<Config['database']>, days: number, limit: number) => {
  const { openStore } = await import('../../persistence/open.ts')
  const store = await openStore({ kind: 'postgres', ...database })
  const [before, began] = [Date.now() - days * DAY_MS, performance.now()]
  let [entities, rows, more] = [0, 0, true]
  try {
    // Works in portions, each in its own transaction, so that no other program waits long and an interrupted run loses
    // nothing.
    await withProgress({ what: 'archived rows', total: null }, async ({ add }) => {
      while (more) {
        const moved = await store.archiveEnded({ before, limit })
        entities += moved.entities
        rows += moved.rows
        more = moved.more
        add(moved.rows)
      }
    })
  } finally {
    await store.close()
  }
  out(archivedText(rows, entities, performance.now() - began))
}

export const archiveCommand: Register = (program) => {
  addFlags(
    program
      .command('archive')
      .description('Moves the journal rows of ARQs that ended long ago out of the active journal. Nothing is deleted.')
      .example('accelerando archive --database postgresql://accelerando@db/accelerando --ended-days 30'),
    ['database', 'config', 'log.level'],
  )
    .option('--ended-days <N>', 'only ARQs that ended at least this many days ago; timelines can be read for 7', '30')
    .option('--portion <ROWS>', 'journal rows examined in one step', '1000')
    .action(
      withPlainErrors(async (given: Given) => {
        const days = number('--ended-days', given.endedDays, 0, 36_500)
        const portion = Math.floor(number('--portion', given.portion, 1, PORTION_MAX))
        const { endedDays: _, portion: __, ...flags } = given
        const config = configured(flags)
        if (!config) return
        if (config.database === null) throw misused('database is not set: name it with --database')
        await archive(config.database, days, portion)
      }),
    )
}
