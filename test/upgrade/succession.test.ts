/**
 * Release 0.1.0, one process, is followed by today's program on the same database and folders, under load; and opened
 * once more.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type ControlMember, controlMember, hostArgs } from '../support/cluster.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { type Program, type Service, runProgram, startService } from '../support/program.ts'
import { DEADLINE_SECONDS, audited } from './customers.ts'
import { openUpgrade } from './stand.ts'
import { firstRelease, treeOf } from './release.ts'

const LONG = 240_000
const READY_MS = 60_000
const BINDS = 5
/** Of either release beside the other. */
const REFUSED = /^1 .*another accelerando uses this database/s
/** The machine's own host: the simulated ones of a `start` have no program of their own. */
const HOST = 'compute1'
const PLACES = 3

type Ledger = ReadonlyMap<string, number>
/** The number of the last order of each slot. */
const ledgerIn = (folder: string): Ledger => {
  const lines = readFileSync(join(folder, 'ledger.jsonl'), 'utf8').split('\n').slice(1, -1)
  return new Map(
    lines.map((line) => JSON.parse(line) as { slot: string; number: number }).map((one) => [one.slot, one.number]),
  )
}

const open = async (bin: string, rig: string, commit: string) => {
  const tree = treeOf(commit)
  const { folder, testCluster, customers } = await openUpgrade('succession', bin, rig, 11)
  const env = {
    ACCELERANDO_NOVA_URL: customers.nova.url,
    ACCELERANDO_BIND_DEADLINE_SECONDS: String(DEADLINE_SECONDS),
    ACCELERANDO_BIND_RESEND_SECONDS: '1',
    ACCELERANDO_LOG_LEVEL: 'info',
    ACCELERANDO_ENABLED_DRIVERS: 'fake_driver',
    ACCELERANDO_HOST_NAME: HOST,
    ACCELERANDO_FAKE_DEVICES: String(PLACES),
    ACCELERANDO_FAKE_HOST_WORK: 'true',
    ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1',
    ACCELERANDO_HOST_HEARTBEAT_EVERY_SECONDS: '0.5',
  }
  const programs = new Set<Program>()
  const running = <P extends Program>(program: P): P => {
    programs.add(program)
    void program.exited.finally(() => programs.delete(program))
    return program
  }
  /** Each life at an address of its own. */
  const starting = async (launcher?: string) => {
    const listen = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`]
    const args = ['start', '--database', testCluster.database, '--data', folder.path, ...listen]
    return { args, env, launcher }
  }
  const started = async (launcher?: string): Promise<Service> =>
    running(await startService(await starting(launcher), READY_MS))
  /** One that may not start. */
  const refused = async (launcher?: string): Promise<string> => {
    const program = running(runProgram(await starting(launcher)))
    const { code } = await program.exited
    return `${code} ${program.stdout()}${program.stderr()}`
  }
  const hosted = async (): Promise<Program> => {
    const settings = { ...env, ACCELERANDO_KAFKA_PREFIX: testCluster.prefix }
    const program = running(runProgram({ args: hostArgs(testCluster, HOST), env: settings }))
    await program.said(new RegExp(`^ready ${HOST}$`, 'm'), READY_MS)
    return program
  }
  const close = async () => {
    await customers.close()
    await Promise.allSettled([...programs].map((program) => program.end('SIGKILL')))
    tree.remove()
    folder.remove()
  }
  const controls = await Promise.all(['control-1', 'control-2'].map((name) => controlMember(testCluster, name, env)))
  const controlled = async ({ start }: ControlMember): Promise<Service> => running(await start())
  const ledger = () => ledgerIn(join(testCluster.folder, HOST))
  return { tree, testCluster, customers, started, refused, hosted, controls, controlled, ledger, close }
}
type World = Awaited<ReturnType<typeof open>>

/** Whoever went on knows each slot, and by no older number. */
const goesOn = (before: Ledger, after: Ledger): void => {
  expect(before.size).toBeGreaterThan(0)
  for (const [slot, number] of before) expect(after.get(slot)).toBeGreaterThanOrEqual(number)
}
const ended = async (...programs: readonly Program[]): Promise<void> => {
  for (const program of programs) expect(await program.end('SIGTERM')).toMatchObject({ code: 0, signal: null })
}

/** Returns how long nobody served at each change, in ms. */
const play = async ({ tree, customers, started, refused, hosted, controls, controlled, ledger }: World) => {
  const { api, begin, more, unserved } = customers
  const pauses: number[] = []
  const change = async (work: () => Promise<void>): Promise<void> => {
    const began = performance.now()
    const before = ledger()
    await unserved(work)
    pauses.push(performance.now() - began)
    await more(BINDS, HOST)
    goesOn(before, ledger())
  }
  const served = async (service: Promise<Service>): Promise<Service> => {
    const { origin } = await service
    api.behind(origin)
    return service
  }

  /** One process closes its door without notice: who stands in it has to come again. */
  const left = async (service: Service): Promise<void> => {
    api.excuse(service.origin)
    await ended(service)
  }

  let now = await served(started(tree.launcher))
  await begin(PLACES)
  await more(BINDS, HOST)
  expect(await refused()).toMatch(REFUSED)
  await change(async () => {
    api.excuse(now.origin)
    await now.end('SIGKILL')
    now = await served(started())
  })
  let members: readonly Program[] = []
  await change(async () => {
    await left(now)
    members = await Promise.all([...controls.map(controlled), hosted()])
    api.behind(...controls.map(({ origin }) => origin))
  })
  expect(await refused(tree.launcher)).toMatch(REFUSED)
  // a step back to what knows nothing of what the others have added
  await change(async () => {
    await ended(...members)
    now = await served(started(tree.launcher))
  })
  await change(async () => {
    await left(now)
    now = await served(started())
  })
  return pauses
}

describeWith('postgres', 'today after release 0.1.0', (bin) =>
  describeWith('kafka', 'over Kafka', (rig) =>
    describeWith(firstRelease, 'as it was', (commit) => {
      let world: World | null = null
      afterAll(() => world?.close(), LONG)
      test(
        'on its database and its folders: what was accepted ends, and every record agrees',
        async () => {
          world = await open(bin, rig, commit)
          const { customers, testCluster } = world
          const pauses = await play(world)
          expect(await customers.settle()).toEqual([])
          const folders = ['--host-data', join(testCluster.folder, HOST)]
          const verdict = await audited('--database', testCluster.database, ...folders, '--settled')
          expect(verdict).toMatchObject({ code: 0, said: expect.stringMatching(/^clean: /m) })
          const { account, api } = customers
          const changes = pauses.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')
          process.stdout.write(
            `succession: ${account.lives.length} instances over 4 changes (nobody served for ${changes}), ${api.figures.retryable()} ` +
              `answered 503, ${api.figures.refused()} not taken, ${api.figures.excused()} broken off as the one process ended, 0 failed\n`,
          )
        },
        LONG,
      )
    }),
  ),
)
