/** Controls and hosts as processes, over a database and a broker that are already running. */
import { join } from 'node:path'
import { clientOf } from '../e2e/client.ts'
import { freePort } from './port.ts'
import { type Exit, type Program, type Service, runProgram, startService } from './program.ts'

export type TestCluster = {
  readonly database: string
  /** `host:port`. */
  readonly brokers: readonly string[]
  readonly prefix: string
  /** Folder for the files of the hosts. */
  readonly folder: string
  /** Configuration file with which controls sign in to a cloud. Without it nobody is authenticated. */
  readonly cloud?: string
}
type Env = Readonly<Record<string, string>>
/** One process over its restarts, with the same name, address and folder. */
export type Member<P extends Program = Program> = {
  readonly name: string
  /** Null: it is not running. */
  readonly running: () => P | null
  /** Resolves when it has reported that it is ready. `more`: settings for this start only. */
  readonly start: (more?: Env) => Promise<P>
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<Exit>
  /** Pauses the process (SIGSTOP) and resumes it later. */
  readonly pause: () => void
  readonly resume: () => void
}
export type ControlMember = Member<Service> & {
  readonly origin: string
  readonly admin: string
  readonly client: ReturnType<typeof clientOf>
}

/** Shorter times than in production, to keep the tests short. */
const QUICK = {
  ACCELERANDO_BIND_RESEND_SECONDS: '1',
  ACCELERANDO_BIND_DEADLINE_SECONDS: '100',
  ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1',
  ACCELERANDO_HOST_HEARTBEAT_EVERY_SECONDS: '0.5',
}
const HOST_READY_MS = 60_000

const member = <P extends Program>(name: string, begin: (more: Env) => Promise<P>): Member<P> => {
  let program: P | null = null
  const signal = (how: 'SIGSTOP' | 'SIGCONT'): void => {
    if (program !== null) process.kill(program.pid, how)
  }
  return {
    name,
    running: () => program,
    start: async (more = {}) => {
      const begun = await begin(more)
      program = begun
      const gone = (): void => {
        if (program === begun) program = null
      }
      begun.exited.then(gone, gone)
      return begun
    },
    end: async (how) => {
      if (program === null) throw new Error(`${name} does not run`)
      return program.end(how)
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  }
}

const shared = ({ brokers, prefix }: TestCluster, more: Env) => ({
  args: ['--kafka', brokers.join(',')],
  env: { ...QUICK, ACCELERANDO_KAFKA_PREFIX: prefix, ...more },
})

/** `launcher`: of another release. */
export const controlMember = async (
  testCluster: TestCluster,
  name: string,
  more: Env = {},
  launcher?: string,
): Promise<ControlMember> => {
  const [listen, adminListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const { args, env } = shared(testCluster, more)
  const auth = testCluster.cloud === undefined ? ['noauth'] : ['keystone', '--config', testCluster.cloud]
  const own = ['--listen', listen, '--admin-listen', adminListen, '--database', testCluster.database, '--auth', ...auth]
  const run = { args: ['control', ...own, ...args], env, launcher }
  return {
    ...member(name, (once) => startService({ ...run, env: { ...env, ...once } })),
    origin: `http://${listen}`,
    admin: `http://${adminListen}`,
    client: clientOf(`http://${listen}/v2`),
  }
}

export type Devices = {
  readonly devices: number
  readonly handles: number
  readonly hostWork: boolean
}
export const hostArgs = (testCluster: TestCluster, name: string): readonly string[] => [
  'host',
  '--name',
  name,
  '--data',
  join(testCluster.folder, name),
  ...shared(testCluster, {}).args,
]
/**
 * `size`: of its simulated devices; null: it has those of the drivers in its settings. `ofCloud`: its images come from
 * the cloud of the controls.
 */
export const hostMember = (
  testCluster: TestCluster,
  name: string,
  size: Devices | null,
  more: Env = {},
  { launcher, ofCloud = false }: { readonly launcher?: string; readonly ofCloud?: boolean } = {},
): Member => {
  const { env } = shared(testCluster, { ...(size && { ACCELERANDO_DEMO_HOST_WORK: String(size.hostWork) }), ...more })
  const sized = size ? ['--demo-devices', String(size.devices), '--demo-handles', String(size.handles)] : []
  const cloud = ofCloud && testCluster.cloud !== undefined ? ['--config', testCluster.cloud] : []
  return member(name, async (once) => {
    const args = [...hostArgs(testCluster, name), ...sized, ...cloud]
    const program = runProgram({ args, env: { ...env, ...once }, launcher })
    await program.said(new RegExp(`^ready ${name}$`, 'm'), HOST_READY_MS)
    return program
  })
}
