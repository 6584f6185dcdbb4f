/**
 * A temporary Kafka for a test run: started by the first test that needs it, shared by all processes of the run, and
 * stopped by a guard process that outlives the run. A test that kills or pauses a broker starts one of its own.
 *
 *   const { options } = await kafkaServer(rig)          // rig: the program, from needs.ts
 *   await makeTopics({ ...options, prefix: freshPrefix() })
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { createTopics } from '../../src/bus/kafka/topics.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { freePort } from './port.ts'
import { runPid, startedAt } from './postgres.ts'

const run = promisify(execFile)
const START_MS = 90_000
const STEP_MS = 60_000

export type Broker = {
  readonly options: KafkaOptions
  readonly pid: () => number
  /** With `secure`: SASL over TLS. */
  readonly secured: KafkaOptions
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly pause: () => Promise<void>
  readonly resume: () => Promise<void>
  /** Again, as it was, after a kill or a stop. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** A client that is not ours. */
export const rawKafka = ({ brokers }: Pick<KafkaOptions, 'brokers'>): Kafka =>
  new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
/** A node takes three ports in a row. */
const freePorts = async (): Promise<number> => {
  for (let tries = 0; tries < 50; tries++) {
    const port = await freePort()
    if (port < 65_000 && (await isFree(port + 1)) && (await isFree(port + 2))) return port
  }
  throw new Error('no three free ports in a row')
}

/**
 * Waits for the end of the run in a process of its own, then kills the broker and removes the folder: again after a
 * while, because a start under way ends itself, and may write until then.
 */
const guard = (rig: string, folder: string): void => {
  const wait = `while kill -0 ${runPid()} 2>/dev/null; do sleep 0.3; done`
  const script = `${wait}; "$1" kill "$2/data"; rm -rf "$2"; sleep 3; rm -rf "$2"`
  spawn('bash', ['-c', script, 'guard', rig, folder], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/** Settings of the broker, given the first of its ports. */
type Settings = (port: number) => readonly string[]
const startIn = async (
  rig: string,
  folder: string,
  secure: boolean,
  settings: Settings = () => [],
): Promise<number> => {
  guard(rig, folder)
  const port = await freePorts()
  // If the run ends meanwhile, a start in progress ends with it.
  const env = { ...process.env, KAFKA_RIG_OWNER: String(runPid()), ...(secure ? { SECURE: '1' } : {}) }
  await run(rig, ['start', join(folder, 'data'), String(port), ...settings(port)], { env, timeout: START_MS, cwd: '/' })
  return port
}

const plain = (port: number): KafkaOptions => ({
  brokers: [`127.0.0.1:${port}`],
  prefix: '',
  clientId: 'test',
  tls: null,
  sasl: null,
})
const brokerIn = (rig: string, folder: string, port: number, secure: boolean): Broker => {
  const data = join(folder, 'data')
  const step = (verb: string) => async () => void (await run(rig, [verb, data], { timeout: STEP_MS, cwd: '/' }))
  const secured = (): KafkaOptions => ({
    ...plain(port),
    brokers: [`localhost:${port + 2}`],
    tls: { ca: readFileSync(join(data, 'tls/ca.pem'), 'utf8') },
    sasl: { mechanism: 'scram-sha-512', username: 'rig', password: 'rig-secret' },
  })
  return {
    options: plain(port),
    pid: () => Number(readFileSync(join(data, '1/pid'), 'utf8')),
    secured: secure ? secured() : plain(port),
    kill: step('kill'),
    pause: step('pause'),
    resume: step('resume'),
    start: step('start'),
    stop: step('stop'),
  }
}

type Own = { readonly secure?: boolean; readonly settings?: Settings }
/** A separate broker for one test, which ends with the run at the latest. */
export const ownBroker = async (rig: string, { secure = false, settings }: Own = {}): Promise<Broker> => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-kafka-own-'))
  return brokerIn(rig, folder, await startIn(rig, folder, secure, settings), secure)
}

/** The shared broker of the run. */
export const kafkaServer = async (rig: string): Promise<Pick<Broker, 'options'>> => {
  const pid = runPid()
  const folder = join(tmpdir(), `accelerando-kafka-${pid}-${startedAt(pid)}`)
  try {
    mkdirSync(folder, { mode: 0o755 })
  } catch {
    return waitFor(folder)
  }
  const answer = await startIn(rig, folder, false).catch((cause: unknown) => `failed ${String(cause)}`)
  writeFileSync(join(folder, 'ready.tmp'), String(answer))
  renameSync(join(folder, 'ready.tmp'), join(folder, 'ready'))
  return waitFor(folder)
}

const waitFor = async (folder: string): Promise<Pick<Broker, 'options'>> => {
  for (let tries = 0; tries < START_MS / 50; tries++) {
    const ready = readyFile(folder)
    if (ready !== undefined && /^\d+$/.test(ready)) return { options: plain(Number(ready)) }
    if (ready !== undefined) throw new Error(`Kafka did not start: ${ready}`)
    await wait(50)
  }
  throw new Error(`Kafka was not ready within ${START_MS} ms`)
}
const readyFile = (folder: string): string | undefined => {
  try {
    return readFileSync(join(folder, 'ready'), 'utf8')
  } catch {
    return undefined
  }
}

/** Of topics and groups: the run's broker serves many tests. */
export const freshPrefix = (): string => `t${randomBytes(5).toString('hex')}.`

export const makeTopics = async (options: KafkaOptions, partitions = 4): Promise<void> =>
  void (await createTopics(options, { partitions, replicas: 1, retentionMs: null }, silent))
