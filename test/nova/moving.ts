/**
 * The section of `docs/operators/joining.md` on moving from upstream Cyborg, command by command, beside a real cloud:
 * upstream's own tables in a MariaDB, a server of Nova that holds a request there, and a host whose PCI bus shows the
 * cards that upstream showed.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../cloud/settings.ts'
import { type UpstreamDatabase, mariadbWith } from '../cloud/upstreamDatabase.ts'
import { freshPrefix } from '../support/kafka.ts'
import { freePort } from '../support/port.ts'
import { type Database, databaseOn } from '../support/postgres.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'
import { shell } from '../support/shell.ts'
import { signIn } from '../support/signIn.ts'
import { arqRow, boundRow, nameOf, profiles, simple, tablesOf, uuidOf } from '../upstream/scenario.ts'
import { tidied } from './boots.ts'
import { blocksIn, filledIn } from './commands.ts'
import { CONFIG, DOCUMENT, type Operator, openOperator, registerService, untilReady } from './operator.ts'
import { type UpstreamPlaces, upstreamPlaces } from './upstreamPlaces.ts'
import type { NovaService } from './service.ts'
import { openUsers, until } from './users.ts'

const SECTION = 'Moving from upstream Cyborg'
const RUN_MS = 300_000
const HOST = 'moved-1'
const at = (bus: string) => ({ host: HOST, bus })
/** By the id of their rows. */
const CARDS = { 1: at('a1'), 2: at('b1'), 3: at('c1'), 4: at('d1') } as const
const [USED, FREE, LEAKED, ORPHANED] = [1, 2, 3, 4] as const
/**
 * The server of the first request is one that Nova has, which upstream does not know the project of; that of the fourth
 * is none.
 */
const tables = (server: string) =>
  tablesOf(
    profiles,
    simple(USED, CARDS[USED], true),
    simple(FREE, CARDS[FREE]),
    simple(LEAKED, CARDS[LEAKED], true),
    simple(ORPHANED, CARDS[ORPHANED], true),
    {
      extended_accelerator_requests: [
        boundRow(USED, USED, nameOf(CARDS[USED]), { instanceUuid: server, projectId: null }),
        arqRow(FREE),
        boundRow(ORPHANED, ORPHANED, nameOf(CARDS[ORPHANED])),
      ],
    },
  )
const ids = Object.keys(CARDS).map(Number)

const cardsIn = (sysfs: string): void => {
  for (const card of Object.values(CARDS)) {
    const folder = join(sysfs, 'bus/pci/devices', `0000:${card.bus}:00.0`)
    mkdirSync(folder, { recursive: true })
    const files = { vendor: '0x10de\n', device: '0x20f1\n', class: '0x030200\n' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  }
}
/** Upstream's configuration, and where MariaDB's own programs find the same. */
const configureUpstream = (home: string, url: string, authUrl: string): string => {
  const { hostname, port, username, password } = new URL(url)
  const nova = `[nova]\nauth_type = password\nauth_url = ${authUrl}\nusername = cyborg\npassword = ${PASSWORD}\nproject_name = service\nuser_domain_name = Default\nproject_domain_name = Default\nregion_name = RegionOne\n`
  const file = join(home, 'cyborg.conf')
  writeFileSync(file, `[database]\nconnection = ${url}\n${nova}`)
  writeFileSync(
    join(home, '.my.cnf'),
    `[client]\nhost = ${hostname}\nport = ${port}\nuser = ${username}\npassword = ${password}\n`,
    { mode: 0o600 },
  )
  return file
}

type Moved = {
  readonly server: string
  readonly places: UpstreamPlaces
  readonly upstream: UpstreamDatabase
  readonly database: Database
  readonly operator: Operator
  /** What the document shows, and what it is here. */
  readonly own: Readonly<Record<string, string>>
  readonly env: NodeJS.ProcessEnv
  readonly control: string
}
const upstreamPrograms = async (): Promise<string> => {
  const rig = fileURLToPath(new URL('../../infra/rig/mariadb/settings.sh', import.meta.url))
  return join((await shell(`. ${rig}; echo "$VENV"`, process.env)).trim(), 'bin')
}

const opened = async (
  service: NovaService,
  home: string,
  atEnd: (end: () => Promise<unknown>) => void,
): Promise<Moved> => {
  const { users, cloud, testCluster } = service
  const server = (await users.boot(await users.flavor({ 'resources:FPGA': '1' }))).id
  const upstream = await mariadbWith(tables(server))
  atEnd(upstream.end)
  const deployables = ids.map((id) => simple(id, CARDS[id as keyof typeof CARDS]).deployables![0]!)
  const places = await upstreamPlaces(
    cloud,
    HOST,
    deployables.map(({ name, rpUuid }) => ({ name, uuid: rpUuid! })),
  )
  atEnd(places.remove)
  await places.allocate(server, deployables[0]!.rpUuid!)
  const database = await databaseOn(testCluster.database.slice(0, testCluster.database.lastIndexOf('/')))
  atEnd(database.drop)
  const [listen, adminListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const more = {
    ACCELERANDO_KAFKA_PREFIX: freshPrefix(),
    ACCELERANDO_LISTEN: listen,
    ACCELERANDO_ADMIN_LISTEN: adminListen,
    ACCELERANDO_DATA: join(home, 'data'),
    ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1',
    ACCELERANDO_PCI_SYSFS_ROOT: join(home, 'sys'),
    ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: JSON.stringify([{ vendor_id: '10de', product_id: '20f1' }]),
  }
  const operator = await openOperator(service, home, more)
  atEnd(() => registerService(operator.env, `http://127.0.0.1:${cloud.acceleratorPort}`))
  const config = await operator.configure('cyborg', database.url)
  const cyborgConf = configureUpstream(home, upstream.url, cloud.authUrl)
  cardsIn(join(home, 'sys'))
  symlinkSync(fileURLToPath(new URL('../../infra/rig/mariadb/mysqldump', import.meta.url)), join(home, 'mysqldump'))
  // upstream's own commands; those of OpenStack's clients come first
  const env = { ...operator.env, PATH: `${operator.env['PATH']}:${await upstreamPrograms()}` }
  return {
    server,
    places,
    upstream,
    database,
    operator,
    own: { '/etc/cyborg/cyborg.conf': cyborgConf, [CONFIG]: config },
    env,
    control: `http://${listen}`,
  }
}

/** The text with what is here instead of what the document shows. */
const withOwn = (text: string, own: Moved['own']): string =>
  filledIn(text, Object.fromEntries(Object.entries(own).filter(([shown]) => text.includes(shown))))

/** What finds something ends with 7, and the commands after it are run all the same. */
const finding = (block: string): string =>
  block.replace(/^( *accelerando (?:drift|orphan)\b[^#\n]*?) *(?:#.*)?$/gm, '$1 || [ $? -eq 7 ]')

export const moving = (given: () => NovaService): void => {
  const folder = tempFolder('moving')
  const ends: (() => Promise<unknown>)[] = []
  let service: NovaService
  let moved: Moved
  /** The content of upstream's database when it was stopped and had finished its migrations. */
  let left: string
  let blocks: readonly string[]
  /** The commands of a block; the folder they run in is the operator's home. */
  const run = (block: number) => shell(`cd "$HOME"\n${withOwn(blocks[block]!, moved.own)}`, moved.env)
  const begun = (command: string, more: Readonly<Record<string, string>> = {}): Program => {
    const settings = Object.entries({ ...moved.env, ...more }).filter(([name]) => name.startsWith('ACCELERANDO_'))
    const env = Object.fromEntries(settings) as Record<string, string>
    const program = runProgram({ args: command.split(/ +/).slice(1), env })
    ends.push(() => program.end('SIGTERM'))
    return program
  }

  beforeAll(async () => {
    service = given()
    blocks = blocksIn(DOCUMENT, SECTION)
    moved = await opened(service, folder.path, (end) => ends.push(end))
  }, RUN_MS)
  afterAll(async () => {
    const failures: unknown[] = []
    for (const end of ends.toReversed()) await end().catch((error: unknown) => failures.push(error))
    folder.remove()
    await tidied(service)
    expect(failures).toEqual([])
  }, RUN_MS)

  test('2: upstream is backed up, and finishes its own migrations', { timeout: RUN_MS }, async () => {
    expect(await run(0)).toContain('Migrated 1 ARQ(s)')
    expect(await shell('grep -c "INSERT INTO" "$HOME/cyborg.sql"', moved.env)).toMatch(/^[1-9]/)
  })

  test('3: the new database and its topics', { timeout: RUN_MS }, async () => {
    await run(1)
  })

  test('4 and 5: what would happen is shown, then it is taken over', { timeout: RUN_MS }, async () => {
    const before = await moved.upstream.content()
    expect(await run(2)).toContain('nothing was written: --apply writes it')
    const kept = readFileSync(join(folder.path, 'import.json'), 'utf8')
    expect(JSON.parse(kept)).toMatchObject({ devices: ids.length, written: null })
    const byVariable = { ...moved.env, ACCELERANDO_IMPORT_FROM: moved.upstream.url }
    expect(await shell(`accelerando import --config ${moved.own[CONFIG]} --json`, byVariable)).toBe(kept)
    expect(await run(3)).toMatch(/^clean: /m)
    left = before
    expect(await moved.upstream.content()).toBe(before)
  })

  test(
    '6: the controls answer for what is bound, and no new server comes to the host',
    { timeout: RUN_MS },
    async () => {
      const [, starts] = blocksIn(DOCUMENT, '3. The controls')
      const start = starts!.split('\n').find((line) => line.startsWith('accelerando control'))!
      begun(withOwn(start, moved.own))
      await untilReady(moved.env['ACCELERANDO_ADMIN_LISTEN']!)
      await registerService(moved.env, moved.control)
      expect(await shell('openstack accelerator arq list', moved.env)).toMatch(
        new RegExp(`${uuidOf('arq', USED)}.*Bound`),
      )
      await until(moved.places.offered, (offered) => offered.length === 0)
    },
  )

  test('7 and 8: the host shows the same devices, and all is as before', { timeout: RUN_MS }, async () => {
    const [, start] = blocksIn(DOCUMENT, '4. The hosts')
    // beside the control on this machine: in a cloud it has its own
    const listen = { ACCELERANDO_ADMIN_LISTEN: `127.0.0.1:${await freePort()}` }
    await begun(withOwn(start!.replace('compute-1', HOST), moved.own), listen).said(new RegExp(`^ready ${HOST}$`, 'm'))
    const up = () => shell('accelerando host list', moved.env)
    await until(up, (said) => new RegExp(`${HOST}\\s+up`).test(said))
    await until(moved.places.offered, (offered) => offered.join() === nameOf(CARDS[FREE]))
    const said = await shell(`cd "$HOME"\n${finding(withOwn(blocks[4]!, moved.own))}`, moved.env)
    for (const id of ids) expect(said).toContain(uuidOf('device', id))
    const listed = await shell('openstack accelerator device list -f value -c uuid', moved.env)
    expect(listed.trim().split('\n')).toHaveLength(ids.length)
    expect(said).toMatch(new RegExp(`${uuidOf('arq', USED)}.*Bound`))
    // what upstream has left, and nothing else
    expect(said).toMatch(/c1:00\.0 .*1 of its attach handles are in quarantine/)
    expect(said).toMatch(/d1:00\.0 .*which has no allocation of all that is bound/)
    expect(said).not.toMatch(/(a1|b1):00\.0 \(provider/)
    expect(said).toMatch(new RegExp(`${uuidOf('handle', LEAKED)}.*quarantined`))
    expect(said).toContain(uuidOf('instance', ORPHANED))
    expect(said).not.toContain(`of instance ${moved.server}`)
  })

  test(
    'the server has noticed nothing, and Nova frees its accelerator when it is deleted',
    { timeout: RUN_MS },
    async () => {
      const { users, cloud } = service
      expect(await users.shown(moved.server)).toMatchObject({ status: 'ACTIVE', fault: null })
      // Nova remembers for some minutes what the catalogue said to a token
      await (await openUsers(cloud)).remove(moved.server)
      const arqs = () => shell('openstack accelerator arq list', moved.env)
      await until(arqs, (said) => !said.includes(uuidOf('arq', USED)))
      const handles = () => shell('accelerando handle list --state free', moved.env)
      await until(handles, (said) => said.includes(uuidOf('handle', USED)))
      // the requests that it has in the running service are of another catalogue now
      const { token } = await signIn(cloud.authUrl, 'nova', { project: 'service' })
      const { status } = await fetch(`${users.api}/accelerator_requests?instance=${moved.server}`, {
        method: 'DELETE',
        headers: { 'x-auth-token': token, 'x-service-token': token },
      })
      expect(status).toBe(204)
    },
  )

  test(
    'going back: upstream finds its database as it left it, and its own programs read it',
    { timeout: RUN_MS },
    async () => {
      expect(await moved.upstream.content()).toBe(left)
      const conf = moved.own['/etc/cyborg/cyborg.conf']!
      await shell(`cyborg-dbsync --config-file ${conf} version`, moved.env)
      expect(await shell(`cyborg-dbsync --config-file ${conf} online_data_migrations`, moved.env)).not.toMatch(
        /Migrated [1-9]/,
      )
    },
  )
}
