/** `accelerando doctor` over a database in which faults are planted: what it says of the work that processes share. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase, sqlOnce } from '../support/postgres.ts'

const UUID = '5eed0000-0000-4000-8000-000000000001'
const host = (name: string, liveness: string, drivers = '{}', retired = false) =>
  `insert into hosts (name, liveness, drivers, aliases, created_at, out_of_service) values ('${name}', '${liveness}', '${drivers}', '[]', 0, ${retired})`
const order = (deadline: number) =>
  `insert into pending_orders (slot, hostname, deployable_uuid, number, body, sent_at) values ('${UUID}', 'h1', '${UUID}', 1, '{"deadline": ${deadline}}', 0)`
const FAILED = '{"pci_driver": {"status": "failed", "error": "no bus"}}'
const lease = (until: string) => `insert into leases (name, holder, epoch, until) values ('relay', 'c1', 3, ${until})`

describeWith('postgres', 'the doctor says of a database', (bin) => {
  let database: Database
  beforeAll(async () => {
    database = await freshDatabase(bin)
    await commandHere(['migrate', '--database', database.url])
  }, 120_000)
  afterAll(() => database.drop())
  const said = async (check: string) => {
    const { out } = await commandHere(['doctor', '-f', 'json', '--database', database.url])
    const found = JSON.parse(out) as readonly { check: string; verdict: string; says: string; advice?: string }[]
    const { verdict, says, advice } = found.find((one) => one.check === check) ?? expect.fail(`nothing of ${check}`)
    return `${verdict}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`
  }
  test.each<readonly [check: string, planted: readonly string[], says: RegExp]>([
    ['relay', [], /^ok: no relay has ever run; nothing has waited for long$/],
    ['relay', [lease("clock_timestamp() + interval '1 min'")], /^ok: c1 holds the lease \(epoch 3\); 0 rows to tell/],
    ['relay', [lease("clock_timestamp() - interval '1 min'")], /^ok: the lease of c1 ended .* ago and nobody took it/],
    ['relay', [lease("'infinity'")], /^ok: nobody relays: c1 gave the lease back/],
    [
      'hosts',
      [host('h1', 'up'), host('h2', 'down'), host('h3', 'removed')],
      /^problem: 1 of 2 hosts down: h2 -> start the/,
    ],
    ['hosts', [host('h1', 'stale')], /^warning: 1 of 1 host stale: h1 -> check the host and its network$/],
    ['hosts', [host('h1', 'pending')], /^warning: 1 host with a key that waits for approval/],
    ['hosts', [host('h1', 'up'), host('h2', 'down', '{}', true)], /^ok: 1 host, all up; 1 out of service$/],
    ['drivers', [host('h1', 'up', FAILED)], /^problem: h1: pci_driver: no bus -> fix the reported error on that host/],
    ['drivers', [host('h1', 'up', FAILED, true)], /^ok: none has failed$/],
    ['keys of hosts', [], /^ok: none is that of two hosts$/],
    ['orders', [order(1)], /^warning: past their deadline without an answer: h1 1 -> these hosts are unreachable/],
    ['orders', [order(9e15)], /^ok: 1 without an answer, none past its deadline$/],
    [
      'deadlines',
      [`insert into due (entity, kind, at) values ('instance/1', 'instance', 0)`],
      /^problem: 1 of kind instance/,
    ],
    ['binds', [], /^ok: every accepted bind is within its time$/],
    ['writing', [], /^ok: not stopped$/],
    ['rights', [], /^ok: role \S+ has all the privileges it needs$/],
  ])('%s after %j', async (check, planted, says) => {
    for (const statement of planted) await sqlOnce(database.url, statement)
    try {
      expect(await said(check)).toMatch(says)
    } finally {
      await sqlOnce(database.url, 'truncate hosts, pending_orders, due, leases')
    }
  })
})
