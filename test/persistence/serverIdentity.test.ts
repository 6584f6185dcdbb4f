/** A journal that was dumped on one server and restored on another. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { adoptServer } from '../../src/persistence/serverIdentity.ts'
import { openStore } from '../../src/persistence/open.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import { ownServer } from '../support/postgresOwn.ts'
import * as sample from './samples.ts'

const run = promisify(execFile)
const SPEND = `do $$ begin for n in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$`

describeWith('postgres', 'a dump restored on another server', (bin) => {
  test('is found at the start, and after it was adopted keeps order, checkpoints and all rows', async () => {
    const from = await freshDatabase(bin)
    await sqlOnce(from.url, SPEND)
    const first = await openStore({ kind: 'postgres', url: from.url })
    const key = sample.newKey()
    for (const version of [1, 2, 3, 4, 5]) await first.journal.append(sample.one(key, version))
    const told = await sample.fedWhole(first.journal, 5)
    await first.journal.saveCheckpoint('relay', told[2]!.position)
    await first.journal.saveCheckpoint('relay.unsettled', `from ${told[0]!.position}`)
    await first.journal.saveCheckpoint('other', 'settled')
    await first.close()

    const server = await ownServer(bin)
    const target = join('/tmp', `${from.url.split('/').at(-1)}.dump`)
    await run(join(bin, 'pg_dump'), ['-Fc', '-f', target, from.url])
    await run(join(bin, 'pg_restore'), ['-d', server.url, target])
    await run('rm', [target])

    const open = () => openStore({ kind: 'postgres', url: server.url })
    await expect(open()).rejects.toThrow(/restored from another server.*accelerando migrate --adopt/)
    expect(await adoptServer(server.url)).toEqual({ rows: 5 })
    const store = await open()
    expect(await store.journal.append(sample.one(key, 6))).toBe('appended')
    const fed = await sample.fedWhole(store.journal, 6)
    expect(fed.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6])
    const after = async (reader: string) =>
      (await sample.fedAll(store.journal, (await store.journal.checkpoint(reader)).replace('from ', ''))).map(
        (row) => row.version,
      )
    expect(await after('relay')).toEqual([4, 5, 6])
    expect(await after('relay.unsettled')).toEqual([2, 3, 4, 5, 6])
    expect(await store.journal.checkpoint('other')).toBe('settled')
    await store.close()
    await (await open()).close()
    await server.end()
    await from.drop()
  }, 60_000)

  test('is found by a checkpoint alone, when the journal is empty', async () => {
    const { url, drop } = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url })
    await store.journal.saveCheckpoint('relay', '99999999999.1')
    await store.close()
    await expect(openStore({ kind: 'postgres', url })).rejects.toThrow('contains transaction 99999999999')
    await adoptServer(url)
    await (await openStore({ kind: 'postgres', url })).close()
    await drop()
  })
})
