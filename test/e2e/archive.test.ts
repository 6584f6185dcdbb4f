/**
 * `accelerando archive` and `audit` on the database of the real program: what ended leaves the journal, and nothing is
 * missed.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from './client.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase, sqlOnce } from '../support/postgres.ts'
import { type Service, runProgram, startService, tempFolder } from '../support/program.ts'

const TIMEOUT = { timeout: 120_000 }
const ENDED = 3

describeWith('postgres', 'archive', (bin) => {
  const folder = tempFolder('archive')
  let database: Database
  let service: Service
  const start = () =>
    startService({
      args: [
        'start',
        '--listen',
        '127.0.0.1:0',
        '--admin-listen',
        '127.0.0.1:0',
        '--demo-devices',
        '1',
        '--demo-handles',
        '4',
        '--data',
        folder.path,
        '--database',
        database.url,
      ],
    })
  beforeAll(async () => {
    database = await freshDatabase(bin)
    service = await start()
  }, 120_000)
  afterAll(async () => {
    await service?.end('SIGKILL').catch(() => undefined)
    await database?.drop()
    folder.remove()
  })

  const ran = async (...args: readonly string[]) => {
    const program = runProgram({ args: [...args, '--database', database.url] })
    const { code } = await program.exited
    return { code, out: program.stdout().trimEnd(), err: program.stderr() }
  }
  const call: ReturnType<typeof clientOf>['call'] = (...asked) => clientOf(service.base).call(...asked)
  const make = async (): Promise<string> => {
    const { body } = await call('POST', '/accelerator_requests', { device_profile_name: 'fpga' })
    return (body['arqs'] as readonly { readonly uuid: string }[])[0]!.uuid
  }
  const rowsIn = async (table: string) =>
    Number((await sqlOnce(database.url, `select count(*) from ${table}`)).rows[0].count)

  /**
   * Rows that the earliest reader has not passed, which therefore stay; all of them while no reader has a checkpoint.
   */
  const untold = async () => {
    const { rows } = await sqlOnce(
      database.url,
      String.raw`with places as (select substring(position from '\d+\.\d+$') as place from checkpoints where reader <> 'archive'),
         earliest as (select split_part(place, '.', 1)::bigint as xid, split_part(place, '.', 2)::int as pos
           from places where place is not null order by 1, 2 limit 1)
       select count(*) from journal j
         where not exists (select from earliest e where (j.xid::text::bigint, j.pos) <= (e.xid, e.pos))`,
    )
    return Number(rows[0].count)
  }

  test('moves what ended and was told, and leaves the living', TIMEOUT, async () => {
    await call('POST', '/device_profiles', [{ name: 'fpga', groups: [{ 'resources:FPGA': '1' }] }])
    const living = await make()
    for (let n = 0; n < ENDED; n++) await call('DELETE', `/accelerator_requests?arqs=${await make()}`)
    while ((await untold()) > 0) await sleep(50)
    await service.end('SIGTERM')
    const before = await rowsIn('journal')
    const young = await ran('archive')
    expect(young.out, young.err).toMatch(/^archived 0 rows of 0 entities/)
    const all = await ran('archive', '--ended-days', '0', '--portion', '2')
    expect(all.out, all.err).toMatch(new RegExp(`^archived \\d+ rows of ${ENDED} entities`))
    expect(await rowsIn('journal_archive')).toBeGreaterThanOrEqual(ENDED)
    expect((await rowsIn('journal')) + (await rowsIn('journal_archive'))).toBe(before)
    service = await start()
    expect((await call('GET', `/accelerator_requests/${living}`)).status).toBe(200)
  })

  test('the audit reads both, and finds nothing amiss', TIMEOUT, async () => {
    const { code, out, err } = await ran('audit')
    expect(code, `${out}\n${err}`).toBe(0)
  })

  test('a bad portion is refused by name', TIMEOUT, async () => {
    const { code, err } = await ran('archive', '--portion', randomUUID())
    expect(code).toBe(2)
    expect(err).toMatch(/^--portion: must be a number from 1 to 10000/)
  })
})
