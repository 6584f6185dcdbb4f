/** Runs Kafka with one node in a folder, from its own jars: `infra/rig/kafka`. */
import { type PromiseWithChild, execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Server, isRunning } from './part.ts'

const run = promisify(execFile)
const RIG = fileURLToPath(new URL('../rig/kafka/kafka', import.meta.url))

/** What is missing to run Kafka here. Null: nothing. */
export const kafkaLacks = (): string | null => {
  const answers = (program: string, argument: string) =>
    spawnSync(program, [argument], { stdio: 'ignore', timeout: 20_000 }).status === 0
  const java = process.env['JAVA_HOME'] === undefined ? 'java' : join(process.env['JAVA_HOME'], 'bin/java')
  if (!answers(java, '-version'))
    return 'Kafka needs Java 17 or newer, and there is no java: install one (Debian: default-jre-headless), or set JAVA_HOME'
  if (!answers(RIG, 'get'))
    return 'the jars of Kafka cannot be fetched: that needs Maven (Debian: maven) once, and a Maven repository'
  return null
}

type Options = {
  /** Used by this broker alone; created when it does not exist. */
  readonly folder: string
  /** Port for a new folder; a folder that was used before keeps its port. The next higher port is used, too. */
  readonly port: number
}

const portIn = (folder: string): number | null => {
  try {
    const text = readFileSync(join(folder, '1/server.properties'), 'utf8')
    return Number(/^advertised\.listeners=PLAINTEXT:\/\/[^:]+:(\d+)/m.exec(text)?.[1])
  } catch {
    return null
  }
}

export const kafkaIn = ({ folder, port }: Options): Server => {
  const env = { ...process.env, KAFKA_RIG_OWNER: String(process.pid) }
  let starting: PromiseWithChild<unknown> | null = null
  const pid = (): number | null => {
    try {
      const found = Number(readFileSync(join(folder, '1/pid'), 'utf8'))
      return isRunning(found) ? found : null
    } catch {
      return null
    }
  }
  return {
    name: 'kafka',
    start: async () => {
      starting = run(RIG, ['start', folder, ...(portIn(folder) === null ? [String(port)] : [])], { env })
      try {
        await starting
      } finally {
        starting = null
      }
    },
    pid,
    address: () => `127.0.0.1:${portIn(folder) ?? port}`,
    stop: async () => {
      // An interrupted start stops the processes it has started.
      starting?.child.kill('SIGTERM')
      await starting?.catch(() => undefined)
      if (pid() !== null) await run(RIG, ['stop', folder])
    },
    stopCommand: [RIG, 'stop', folder],
    // The rig script itself prints the last lines of the logs.
    logs: [],
    advice: `fix the error above; or remove ${folder}, and the next start creates an empty broker`,
  }
}
