/** The database is replaced by an older copy of itself, and an operator decides that the copy holds. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { openStore } from '../../src/persistence/open.ts'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { postgresServer, sqlOnce } from '../support/postgres.ts'

const LIMIT_MS = 30_000
describeWith('postgres', 'a database that lost rows', (bin) => {
  test('is not written until an operator adopts it; handles that a lost row names are kept back', async () => {
    const server = await postgresServer(bin)
    const admin = `${server}/postgres`
    const name = `lost_${systemIds.uuid().replaceAll('-', '')}`
    const url = `${server}/${name}`
    await sqlOnce(admin, `create database ${name}`)
    const migrate = async (...args: readonly string[]) => {
      const { code, out, err } = await commandHere(['migrate', ...args, '--database', url])
      return { code, err, lines: out.split('\n').slice(0, -1) }
    }
    const store = await openStore({ kind: 'postgres', url })
    const a = await openPlane({}, store)
    await a.shows('h', { seed: 1, devices: [{ kind: 'fpga', handles: 3, hostWork: false }] })
    value(await a.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
    const [deployable] = value(await a.control.deployables.list({}, {})).items
    const create = async () => value(await a.control.arqs.create(NOVA, 'f'))[0]!.uuid
    const bind = (arq: string) => {
      const instanceUuid = systemIds.uuid()
      return a.control.arqs.bind(NOVA, [{ arq, hostname: 'h', deviceRpUuid: deployable!.rp_uuid!, instanceUuid }])
    }
    const alone = async (...work: readonly string[]) => {
      await sqlOnce(admin, `alter database ${name} allow_connections false`)
      await sqlOnce(admin, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
      await wait(100)
      for (const text of work) await sqlOnce(admin, text)
      await sqlOnce(admin, `alter database ${name} allow_connections true`)
    }
    /** What an operation answers once the database answers again. */
    const sooner = async <Value>(work: () => Promise<Value>, done: (of: Value) => boolean): Promise<Value> => {
      for (const end = performance.now() + LIMIT_MS; ; await wait(100)) {
        const answered = await work()
        if (done(answered) || performance.now() > end) return answered
      }
    }
    const succeeds = ({ ok }: { readonly ok: boolean }): boolean => ok
    const [one, two] = [await create(), await create()]
    await alone(`create database ${name}_copy template ${name}`)
    expect((await sooner(() => bind(one), succeeds)).ok).toBe(true)
    const granted = value(await a.control.arqs.get(NOVA, one)).handle_uuid!
    await alone(`alter database ${name} rename to ${name}_gone`, `alter database ${name}_copy rename to ${name}`)

    const stopped = await sooner(
      () => bind(two),
      (answer) => JSON.stringify(answer).includes('migrate --adopt'),
    )
    expect(stopped).toMatchObject({ ok: false, fault: { kind: 'unavailable', retryAfterSeconds: 5 } })
    await expect(store.expectWriting()).rejects.toThrow('writing is stopped')
    // what the copy holds can be read: the ARQ is as it was before the bind
    expect(value(await a.control.arqs.get(NOVA, one)).state).toBe('Initial')

    const shown = await migrate('--check')
    expect([shown.code, shown.err]).toEqual([7, ''])
    const lost = shown.lines.filter((line) => line.startsWith('lost '))
    const kinds = lost.map((line) => String(line.split(/ +/)[2]?.split('/')[0]))
    expect(kinds.toSorted()).toEqual(['arq', 'deployable', 'instance'])
    expect(shown.lines.join('\n')).toMatch(/^stopped since \S+: /m)
    const { code, lines } = await migrate('--adopt')
    expect(code).toBe(0)
    expect(lines).toEqual(expect.arrayContaining([...lost, `quarantined handle ${granted} of host h`]))
    expect(lines.at(-1)).toBe('adopted what the database holds: the controls write again')
    expect((await migrate('--check')).code).toBe(0)

    expect((await sooner(() => bind(two), succeeds)).ok).toBe(true)
    expect(value(await a.control.arqs.get(NOVA, two)).handle_uuid).not.toBe(granted)
    const kept = value(await a.control.handles.list(NOVA, { state: 'quarantined' }, {})).items
    expect(kept.map(({ uuid }) => uuid)).toEqual([granted])
    // who has adopted rows once is not stopped by them again, and there is nothing to adopt a second time
    await sqlOnce(admin, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    expect((await sooner(() => a.control.arqs.create(NOVA, 'f'), succeeds)).ok).toBe(true)
    expect((await migrate('--adopt')).lines.at(-1)).toContain('nothing to adopt: writing is not stopped')
    await a.plane.stop()
    await store.close()
    for (const each of [name, `${name}_gone`]) await sqlOnce(admin, `drop database ${each} with (force)`)
  }, 90_000)
})
