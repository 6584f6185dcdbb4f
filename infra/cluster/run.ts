/**
 * The whole service as plain processes: PostgreSQL, Kafka, controls, hosts, and a front that spreads connections over the controls.
 *
 *   npm run cluster [-- --controls 3 --hosts 2 --listen 127.0.0.1:6666 --data ./data/cluster --check]
 *
 * Everything is kept in the data folder and goes on there the next time. `--check` binds one accelerator and ends: 0, or 1.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type FolderLock, lockFolder } from '../../src/persistence/folderLock.ts'
import { freePorts } from './ports.ts'
import { checked } from './check.ts'
import { type Front, openFront } from './loadBalancer.ts'
import { kafkaIn, kafkaLacks } from './kafka.ts'
import type { Part } from './part.ts'
import { findPostgres, postgresIn } from './postgres.ts'
import { programPart } from './program.ts'
import { type Status, type Watched, watched } from './watch.ts'

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

const lineOf = ({ name, state, pid, address, restarts, note }: Status): string =>
  [
    name.padEnd(10),
    state.padEnd(8),
    `pid ${pid ?? '-'}`.padEnd(11),
    address.padEnd(44),
    restarts === 0 ? '' : `restarts ${restarts}`,
    note,
  ]
    .join('  ')
    .trimEnd()
const told = (status: Status) => say(lineOf(status))

/** Begun last, ended first; those of one step together. */
const steps: (readonly Watched[])[] = []
const begun = async (parts: readonly Part[]): Promise<void> => {
  const watching = parts.map((part) => watched(part, told))
  steps.unshift(watching)
  await Promise.all(watching.map(({ first }) => first))
}
let front: Front | null = null
/** Two clusters on one folder would take each other's servers down. */
let lock: FolderLock | null = null
const end = async (): Promise<void> => {
  await front?.close()
  for (const step of steps) await Promise.all(step.map(({ stop }) => stop()))
  lock?.release()
}

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`)

const open = async (): Promise<string> => {
  const [controls, hosts, listen, data] = [countOf('controls'), countOf('hosts'), listenOf(), resolve(values.data)]
  mkdirSync(join(data, 'log'), { recursive: true })
  lock = lockFolder(data)
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
  await begun([postgres, kafka])

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
  await begun(serving)
  await begun(numbered('compute', hosts).map(host))
  const backends = () =>
    serving
      .filter((part) => part.pid() !== null && part.address() !== '')
      .map((part) => ({ host: '127.0.0.1', port: Number(new URL(part.address()).port) }))
  front = await openFront(listen, backends)
  return `http://${listen.host}:${front.port}/v2`
}

const untilSignal = (): Promise<void> =>
  new Promise((ended) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended())
  })

const ended = untilSignal()
const began = performance.now()
const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
try {
  const base = await Promise.race([open(), ended])
  if (base !== undefined) {
    say(`ready ${base}   after ${seconds()}; logs and data in ${resolve(values.data)}; Ctrl-C stops all`)
    if (values.check) say(`check: ${await checked(base)}; all in all ${seconds()}`)
    else await ended
  }
} catch (error) {
  say(`cluster: ${(error as Error).message}`)
  process.exitCode = 1
}
await end()
