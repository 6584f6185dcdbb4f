/**
 * L8: controls and hosts of the last release beside today's, replaced one after another under load, and one of each put
 * back.
 */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type ControlMember, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { describeWith } from '../support/needs.ts'
import { type Customers, DEADLINE_SECONDS, audited, until } from './customers.ts'
import { openUpgrade } from './stand.ts'
import { lastWithControls, treeOf } from './release.ts'

const LONG = 240_000
const SIZE = { devices: 2, handles: 16, hostWork: true }
const HOSTS = ['compute1', 'compute2']
/** So many binds on each host while the members stay as they are. */
const BINDS = 5

const open = async (bin: string, rig: string, commit: string) => {
  const tree = treeOf(commit)
  const { folder, testCluster, customers } = await openUpgrade('rolling', bin, rig, 7)
  const env = {
    ACCELERANDO_NOVA_URL: customers.nova.url,
    ACCELERANDO_BIND_DEADLINE_SECONDS: String(DEADLINE_SECONDS),
    ACCELERANDO_LOG_LEVEL: 'info',
  }
  const control = (name: string, launcher?: string) => controlMember(testCluster, name, env, launcher)
  const host = (name: string, launcher?: string) =>
    hostMember(testCluster, name, SIZE, env, launcher === undefined ? {} : { launcher })
  const old = {
    controls: await Promise.all(['old-1', 'old-2'].map((name) => control(name, tree.launcher))),
    hosts: HOSTS.map((name) => host(name, tree.launcher)),
  }
  const today = {
    controls: await Promise.all(['new-1', 'new-2'].map((name) => control(name))),
    hosts: HOSTS.map((name) => host(name)),
  }
  const members = [...old.controls, ...today.controls, ...old.hosts, ...today.hosts]
  const close = async () => {
    const alive = members.filter((member) => member.running() !== null)
    await customers.close()
    await Promise.allSettled(alive.map((member) => member.end('SIGKILL')))
    tree.remove()
    folder.remove()
  }
  return { tree, testCluster, customers, old, today, members, close }
}
type World = Awaited<ReturnType<typeof open>>

/** In the order of an operator: the new one serves before the old one is told to end. */
const replace = async ({ api }: Customers, before: ControlMember, after: ControlMember): Promise<void> => {
  await after.start()
  await until(`${after.name} is ready`, () => api.isReady(after.origin))
  expect(await before.end('SIGTERM')).toMatchObject({ code: 0, signal: null })
}
const exchange = async (before: Member, after: Member): Promise<void> => {
  expect(await before.end('SIGTERM')).toMatchObject({ code: 0, signal: null })
  await after.start()
}
const errorsOf = ({ members }: World): readonly string[] =>
  members.flatMap((member) =>
    (member.running()?.logged() ?? []).flatMap((line) =>
      line.level >= 50 ? [`${member.name}: ${JSON.stringify(line)}`] : [],
    ),
  )

const play = async (world: World): Promise<void> => {
  const { customers, old, today } = world
  const { api, begin, more } = customers
  const [oldFirst, oldSecond] = old.controls as [ControlMember, ControlMember]
  const [newFirst, newSecond] = today.controls as [ControlMember, ControlMember]
  api.behind(...[...old.controls, ...today.controls].map(({ origin }) => origin))
  await Promise.all([...old.controls, ...old.hosts].map((member) => member.start()))
  await begin(HOSTS.length * SIZE.devices)
  await more(BINDS, ...HOSTS)
  // old and new controls, old hosts
  await replace(customers, oldFirst, newFirst)
  await more(BINDS, ...HOSTS)
  // old hosts whose orders all come from new controls
  await replace(customers, oldSecond, newSecond)
  await more(BINDS, ...HOSTS)
  // one host of each
  await exchange(old.hosts[0]!, today.hosts[0]!)
  await more(BINDS, ...HOSTS)
  await exchange(old.hosts[1]!, today.hosts[1]!)
  await more(BINDS, ...HOSTS)
  // a step back: old hosts, and an old control on what the new ones have written
  for (const at of HOSTS.keys()) await exchange(today.hosts[at]!, old.hosts[at]!)
  await more(BINDS, ...HOSTS)
  await replace(customers, newFirst, oldFirst)
  await more(BINDS, ...HOSTS)
}

describeWith('postgres', 'an upgrade, process by process', (bin) =>
  describeWith('kafka', 'over Kafka', (rig) =>
    describeWith(lastWithControls(), 'from the last release', (commit) => {
      let world: World | null = null
      afterAll(() => world?.close(), LONG)
      test(
        'and a step back: no call fails other than with a 503 that may be repeated (L8), every bind ends, and every record agrees',
        async () => {
          world = await open(bin, rig, commit)
          const { customers, testCluster, old, today } = world
          const { account, api } = customers
          await play(world)
          expect(await customers.settle()).toEqual([])
          const answered = [...old.controls, ...today.controls].map(
            ({ origin }) => api.figures.answered.get(origin) ?? 0,
          )
          for (const calls of answered) expect(calls).toBeGreaterThan(0)
          const kafka = ['--kafka', testCluster.brokers.join(','), '--kafka-prefix', testCluster.prefix]
          const ledgers = HOSTS.flatMap((name) => ['--host-data', join(testCluster.folder, name)])
          const verdict = await audited('--database', testCluster.database, ...kafka, ...ledgers, '--settled')
          expect(verdict).toMatchObject({ code: 0, said: expect.stringMatching(/^clean: /m) })
          expect(errorsOf(world)).toEqual([])
          const bound = account.lives.filter(({ seen }) => [...seen.values()].some(({ state }) => state === 'Bound'))
          process.stdout.write(
            `upgrade from ${commit.slice(0, 10)}: ${account.lives.length} instances, ${bound.length} bound, ` +
              `calls ${answered.join(' + ')}, ${api.figures.retryable()} answered 503, ${api.figures.refused()} not taken, 0 failed\n`,
          )
        },
        LONG,
      )
    }),
  ),
)
