/**
 * PostgreSQL, Kafka and Node in containers, if a Docker engine is available. Images are those of infra/compose.yaml, or
 * those named by POSTGRES_IMAGE, KAFKA_IMAGE and NODE_IMAGE, for machines that reach no registry (infra/rig/docker).
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'
import { type Database, sqlOnce } from './postgres.ts'
import { freePort } from './port.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const IMAGE = 'accelerando'
const COMPOSE = readFileSync(new URL('../../infra/compose.yaml', import.meta.url), 'utf8')
const START_MS = 120_000

/** What the compose file names, unless the environment says otherwise: said once, there. */
export const imageOf = (name: 'POSTGRES' | 'KAFKA' | 'NODE'): string => {
  const found = new RegExp(`\\$\\{${name}_IMAGE:-([^}]+)\\}`).exec(COMPOSE)
  if (found === null) throw new Error(`infra/compose.yaml names no ${name}_IMAGE`)
  return process.env[`${name}_IMAGE`] ?? found[1]!
}

/** The network of this machine: the build fetches packages the way this machine does. */
export const buildImage = async (): Promise<void> => {
  const args = ['--network=host', '--build-arg', `NODE_IMAGE=${imageOf('NODE')}`, '-f', 'infra/Dockerfile', '-t', IMAGE]
  await run('docker', ['build', '-q', ...args, '.'], { cwd: ROOT, env: { ...process.env, DOCKER_BUILDKIT: '0' } })
}

export type Contained = { readonly container: StartedTestContainer; readonly stop: () => Promise<void> }
const contained = (container: StartedTestContainer): Contained => ({
  container,
  stop: async () => void (await container.stop({ timeout: 1000 })),
})

export const postgresContainer = async (): Promise<Contained & { readonly url: string }> => {
  const started = await new GenericContainer(imageOf('POSTGRES'))
    .withEnvironment({ POSTGRES_USER: 'tests', POSTGRES_PASSWORD: 'tests' })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(START_MS)
    .start()
  return {
    ...contained(started),
    url: `postgres://tests:tests@${started.getHost()}:${started.getMappedPort(5432)}/tests`,
  }
}

/** The broker tells clients its own address, so the port on this machine is chosen before. */
export const kafkaContainer = async (): Promise<Contained & { readonly broker: string }> => {
  const port = await freePort()
  const settings = {
    NODE_ID: '1',
    PROCESS_ROLES: 'broker,controller',
    LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
    LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    LOG_DIRS: '/var/lib/kafka/data',
    OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    TRANSACTION_STATE_LOG_MIN_ISR: '1',
    GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    AUTO_CREATE_TOPICS_ENABLE: 'false',
    HEAP_OPTS: '-Xmx512m',
  }
  const started = await new GenericContainer(imageOf('KAFKA'))
    .withEnvironment(Object.fromEntries(Object.entries(settings).map(([name, value]) => [`KAFKA_${name}`, value])))
    .withExposedPorts({ container: 9092, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(START_MS)
    .start()
  return { ...contained(started), broker: `127.0.0.1:${port}` }
}

/** A database of its own on a server. */
export const databaseOn = async (server: string): Promise<Database> => {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await sqlOnce(server, `create database ${name}`)
  const drop = async () => void (await sqlOnce(server, `drop database ${name} with (force)`))
  return { url: server.replace(/[^/]+$/, name), drop }
}
