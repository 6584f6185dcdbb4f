/** `accelerando migrate` over a database that a newer release has migrated, and one that has lost rows. */
import { expect, test } from 'vitest'
import { recordsOn } from '../../src/persistence/incarnationSql.ts'
import { postgresDatabase } from '../../src/persistence/postgres/postgres.ts'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
const ROW = {
  key: 'instance/00000000-0000-4000-8000-000000000001',
  version: 2,
  commandId: '00000000-0000-4000-8000-000000000002',
  events: [{ type: 'BindAccepted', parts: [] }],
  at: Date.parse('2026-01-01'),
  cause: {},
} as const

describeWith('postgres', 'the schema of a database', (bin) => {
  test('is made, and what a newer release has made is told', LIMIT, async () => {
    const { url, drop } = await freshDatabase(bin)
    const run = async (...args: readonly string[]) => {
      const env = { ACCELERANDO_DATABASE: url, ACCELERANDO_LOG_LEVEL: 'silent' }
      const { code, out, err } = await commandHere(['migrate', ...args], env)
      return [code, err, ...out.trimEnd().split('\n')]
    }
    try {
      const [code, err, ...made] = await run()
      expect([code, err, made[0]]).toEqual([0, '', 'made    0001_journal_and_views'])
      expect(await run('--adopt')).toEqual([
        0,
        '',
        'the schema was up to date',
        'nothing to adopt: writing is not stopped, and the journal is of this server',
      ])
      await sqlOnce(url, "insert into mikro_orm_migrations (name, executed_at) values ('Later', now())")
      const newer = 'newer   Later: made by a newer accelerando'
      expect(await run('--check')).toEqual([0, '', newer, 'the schema is up to date'])
      expect(await run()).toEqual([0, '', newer, 'the schema was up to date'])
      const noKafka =
        '--from-topics: kafka.brokers is not set: name the brokers with --kafka\nnext: accelerando migrate --help\n'
      expect(await run('--check', '--from-topics')).toEqual([2, noKafka, newer, 'the schema is up to date'])

      const database = await postgresDatabase({ url, readers: 1 })
      const records = recordsOn(database.write)
      await records.keepLost([ROW])
      await records.stop('rows are gone', false)
      await database.close()
      const lost = `lost    2026-01-01T00:00:00.000Z ${ROW.key} version 2: BindAccepted`
      const stopped = expect.stringMatching(/^stopped since \S+: rows are gone$/)
      const listed = expect.stringMatching(/^listed  1 rows\. /)
      expect(await run('--check')).toEqual([7, '', newer, 'the schema is up to date', stopped, lost, listed])
      const adopted = await run('--adopt')
      expect(adopted.slice(0, 4)).toEqual([0, '', newer, 'the schema was up to date'])
      expect(adopted).toContain(lost)
      expect(adopted).not.toContain('nothing to adopt: writing is not stopped, and the journal is of this server')
      expect(await run('--check')).toEqual([0, '', newer, 'the schema is up to date'])
    } finally {
      await drop()
    }
  })
})
