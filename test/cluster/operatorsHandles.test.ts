/** `start` on a PostgreSQL: the care of attach handles, and what is said when a table can no longer be read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectCareOfHandle, handlesOf } from '../e2e/handleCommands.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase, sqlOnce } from '../support/postgres.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'

describeWith('postgres', 'a service on PostgreSQL', (bin) => {
  const folder = tempFolder('handles')
  let database: Database
  let service: Service
  beforeAll(async () => {
    database = await freshDatabase(bin)
    const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    const demo = ['--demo', '--demo-hosts', '1', '--demo-devices', '1', '--demo-handles', '2']
    service = await startService({
      args: ['start', ...demo, '--data', folder.path, '--database', database.url, ...listen],
    })
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    await database.drop()
    folder.remove()
  })
  const unreadable = () => service.logged().filter(({ msg }) => msg === 'views.unreadable')

  test('has handles that an operator lists, shows, keeps back and gives back', async () => {
    const { handles } = JSON.parse(await handlesOf(service).said('list', '--json'))
    await expectCareOfHandle(service, handles[0].hostname)
    expect(unreadable()).toEqual([])
  })

  test('answers 500 for a table that is gone, and logs the cause once', async () => {
    await sqlOnce(database.url, 'alter table handles rename to handles_away')
    const { code, complained } = await handlesOf(service).run('list')
    await sqlOnce(database.url, 'alter table handles_away rename to handles')
    expect(code).toBe(1)
    expect(complained).toContain('GET /handles: 500 The service failed to handle this request')
    expect(unreadable()).toMatchObject([
      { view: 'handles', permanent: true, error: expect.stringMatching(/^the view handles cannot be read: .*42P01/) },
    ])
    expect(await handlesOf(service).said('list')).toContain('free')
  })
})
