/** A program under a role that may do what it needs, and no more. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { roleGrants } from '../../src/persistence/roles.ts'
import { journalContract } from '../contracts/journal.contract.ts'
import { sharingContract } from '../contracts/sharing.contract.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import * as sample from './samples.ts'

describeWith('postgres', 'under a role of least rights', (bin) => {
  /** A migrated database, and its address for the role. */
  const limited = async (migrated = true) => {
    const { url, drop } = await freshDatabase(bin)
    const role = `served "${randomUUID()}"`
    const name = `"${role.replaceAll('"', '""')}"`
    await sqlOnce(url, `create role ${name} login`)
    if (migrated) {
      await (await openStore({ kind: 'postgres', url })).close()
      await sqlOnce(url, roleGrants(role).join(';\n'))
    }
    const own = new URL(url)
    own.username = encodeURIComponent(role)
    const dispose = async () => {
      await sqlOnce(url, `drop owned by ${name}; drop role ${name}`)
      await drop()
    }
    return { url: own.href, owner: url, dispose }
  }

  journalContract(async () => {
    const { url, dispose } = await limited()
    const store = await openStore({ kind: 'postgres', url })
    return { store, dispose: () => store.close().then(dispose) }
  })
  sharingContract(async () => {
    const { url, dispose } = await limited()
    const [a, b] = await Promise.all([1, 2].map(() => openStore({ kind: 'postgres', url })))
    return { stores: [a!, b!], dispose: () => Promise.all([a!.close(), b!.close()]).then(dispose) }
  })

  test('it ends its own lost session, and changes neither tables nor what is written', async () => {
    const { url, owner, dispose } = await limited()
    const store = await openStore({ kind: 'postgres', url })
    await sqlOnce(owner, `select pg_terminate_backend(pid) from pg_stat_activity where usename like 'served%'`)
    const key = sample.newKey()
    const verdicts = [await store.journal.append(sample.one(key, 1)), await store.journal.append(sample.one(key, 1))]
    expect(['appended', 'seen', 'stale']).toContain(verdicts[1])
    expect(await sample.versionsOf(store.journal, key)).toEqual([1])
    await store.close()
    for (const text of [
      `update journal set at = 0`,
      'drop table journal',
      'create table mine (id int)',
      'truncate due',
    ])
      await expect(sqlOnce(url, text)).rejects.toThrow(/permission denied|must be owner/)
    await dispose()
  })

  test('it archives', async () => {
    const { url, dispose } = await limited()
    const store = await openStore({ kind: 'postgres', url })
    expect(await store.journal.append(sample.one(`device/${randomUUID()}`, 1))).toBe('appended')
    const end = await store.journalEnd()
    await store.journal.saveCheckpoint('relay', end)
    expect(await store.archiveEnded({ before: 2 * sample.AT, limit: 10 })).toEqual({
      entities: 0,
      rows: 0,
      more: false,
    })
    expect(await store.journal.checkpoint('archive')).toBe(end)
    await store.close()
    await dispose()
  })

  test('on a database that is not migrated it says who has to do what', async () => {
    const { url, dispose } = await limited(false)
    await expect(openStore({ kind: 'postgres', url })).rejects.toThrow(
      /lacks 0001_\w+, 0002_\w+.*let its owner run `accelerando migrate`/,
    )
    await dispose()
  })
})
