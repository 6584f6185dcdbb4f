/**
 * The whole service as plain processes: PostgreSQL, Kafka, controls, hosts, and a load balancer that distributes
 * connections over the controls.
 *
 *   npm run cluster [-- --controls 3 --hosts 2 --listen 127.0.0.1:6666 --data ./data/cluster --check]
 *
 * All data is kept in the data folder and used again by the next run. `--check` binds one accelerator and exits with 0
 * or 1.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { lockFolder } from '../../src/persistence/folderLock.ts'
import { freePorts } from './ports.ts'
import { checked } from './check.ts'
import { openLoadBalancer } from './loadBalancer.ts'
import { guarded } from './guard.ts'
import { kafkaIn, kafkaLacks } from './kafka.ts'
import { type Stage, lived } from './lifetime.ts'
import type { Part } from './part.ts'
import { findPostgres, postgresIn } from './postgres.ts'
import { programPart } from './program.ts'

const { values } = parseArgs({
  options: {
    controls: { type: 'string', default: '3' },
    hosts: { type: 'string', default: '2' },
    listen: { type: 'string', default: '127.0.0.1:6666' },
    data: { type: 'string', default: './data/cluster' },
    check: { type: 'boolean', default: false },
  },
})
const say = (line: string) => void process.stdout.write(`${line}\n`)
const MOST = { controls: 16, hosts: 100 }

const countOf = (name: keyof typeof MOST): number => {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value >= 1 && value <= MOST[name]) return value
  throw new Error(`--${name} must be a whole number from 1 to ${MOST[name]}`)
}
const listenOf = (): { readonly host: string; readonly port: number } => {
  const [, host, port] = /^(127(?:\.\d{1,3}){3}|localhost):(\d{1,5})$/.exec(values.listen) ?? []
  if (host === undefined || Number(port) > 65_535)
    throw new Error(
      '--listen must be HOST:PORT of this machine alone, such as 127.0.0.1:6666, since nobody is authenticated',
    )
  return { host, port: Number(port) }
}

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`)

/** Resolves with the address of the load balancer. */
const open = async ({ begin, onEnd }: Stage): Promise<string> => {
  const [controls, hosts, listen, data] = [countOf('controls'), countOf('hosts'), listenOf(), resolve(values.data)]
  mkdirSync(join(data, 'log'), { recursive: true })
  // Two clusters that share a folder would stop each other's servers.
  const lock = await lockFolder(data)
  onEnd(lock.release)
  const bin = findPostgres()
  if (bin === null)
    throw new Error(
      "PostgreSQL is missing: install it (Debian: postgresql), or do not run as root, so that npm's own is used",
    )
  const lacking = kafkaLacks()
  if (lacking !== null) throw new Error(lacking)
  const postgres = postgresIn({
    bin,
    folder: join(data, 'postgres'),
    port: await freePorts(1),
    database: 'accelerando',
  })
  const kafka = kafkaIn({ folder: join(data, 'kafka'), port: await freePorts(3) })
  onEnd(guarded([kafka.stopCommand, postgres.stopCommand]).dismiss)
  await begin([postgres, kafka])

  const env = { ACCELERANDO_LOG_PRETTY: 'never' }
  const program = (name: string, args: () => readonly string[]): Part =>
    programPart({
      name,
      args: () => [...args(), '--kafka', kafka.address()],
      env,
      logFile: join(data, 'log', `${name}.log`),
    })
  const control = (name: string): Part =>
    program(name, () => {
      const anywhere = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
      return ['control', '--database', postgres.address(), '--auth', 'noauth', ...anywhere]
    })
  const host = (name: string): Part =>
    program(name, () => {
      const devices = ['--demo-devices', '2', '--demo-handles', '8']
      return ['host', '--name', name, '--data', join(data, 'hosts', name), ...devices]
    })
  const serving = numbered('control-', controls).map(control)
  await begin(serving)
  await begin(numbered('compute', hosts).map(host))
  const backends = () =>
    serving
      .filter((part) => part.pid() !== null && part.address() !== '')
      .map((part) => ({ host: '127.0.0.1', port: Number(new URL(part.address()).port) }))
  const balancer = await openLoadBalancer(listen, backends)
  onEnd(balancer.close)
  return `http://${listen.host}:${balancer.port}/v2`
}

const began = performance.now()
const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
process.exitCode = await lived('cluster', say, async (stage) => {
  const base = await open(stage)
  say(`ready ${base}   after ${seconds()}; logs and data in ${resolve(values.data)}; Ctrl-C stops all`)
  if (values.check) say(`check: ${await checked(base)}; total time ${seconds()}`)
  else await stage.asked
})
