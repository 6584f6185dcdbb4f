/** The real program under test: starts it, kills it and restarts it with the same command, and watches it meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/port.ts'
import { type Run, type Service, familyOf, isAlive, startService } from '../support/program.ts'
import type { Account } from './account.ts'

const GONE_MS = 2000

export type Supervised = {
  readonly origin: string
  /** The process that runs now, or ran last. */
  readonly now: () => Service
  /** Resolves when it is ready. */
  readonly serving: () => Promise<void>
  /** Sends SIGKILL synchronously. Returns the time. */
  readonly strike: () => number
  /**
   * After a strike: waits for the end of all its processes and starts it again. Resolves to the time until it served.
   */
  readonly revive: () => Promise<number>
  readonly close: () => Promise<void>
}

/** A child that outlives its parent keeps the store's folder from the next one. */
const allGone = async (family: readonly number[], account: Account): Promise<void> => {
  const until = Date.now() + GONE_MS
  while (family.some(isAlive) && Date.now() < until) await sleep(10)
  for (const pid of family.filter(isAlive))
    account.contradictions.push(`process ${pid} outlived the SIGKILL of the main one`)
}

export const supervise = async (
  run: Pick<Run, 'env'> & { data: string; args: readonly string[] },
  account: Account,
): Promise<Supervised> => {
  const [port, adminPort] = [await freePort(), await freePort()]
  const listen = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`]
  const command: Run = { args: ['start', '--data', run.data, ...listen, ...run.args], env: run.env ?? {} }
  let service = await startService(command)
  let family: readonly number[] = []
  let serving = Promise.withResolvers<void>()
  const begun = () => {
    account.served.push({ from: Date.now(), to: Infinity })
    serving.resolve()
  }
  begun()
  return {
    origin: service.origin,
    now: () => service,
    serving: () => serving.promise,
    strike: () => {
      family = familyOf(service.pid)
      serving = Promise.withResolvers<void>()
      process.kill(service.pid, 'SIGKILL')
      const at = Date.now()
      account.served.at(-1)!.to = at
      return at
    },
    revive: async () => {
      await service.exited
      await allGone(family, account)
      const began = Date.now()
      service = await startService(command)
      const took = Date.now() - began
      begun()
      return took
    },
    close: async () => {
      if (isAlive(service.pid)) await service.end('SIGKILL')
    },
  }
}
