/** Chooses the moment of a kill: waits until the client, Nova or a host's disk shows a bind in the wanted phase. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Method, Phase } from './account.ts'
import type { Api } from './api.ts'
import type { Hosts } from './hosts.ts'
import type { Nova } from './nova.ts'
import type { Random } from './random.ts'

export type Sight = {
  readonly api: Api
  readonly nova: Nova
  readonly hosts: Hosts
  readonly account: Account
  readonly random: Random
}
/** Calls `fire` at the moment itself, in the same step of the event loop; at most once. */
type Aim = (sight: Sight, fire: () => void) => () => void

const PATIENCE_MS = 15_000

/** A random time into the request: it may be anywhere between being read and being committed. */
const requestOf =
  (method: Method): Aim =>
  ({ api, random }, fire) =>
    api.onSend((call) => {
      if (call.method !== method || call.instance === null) return
      setTimeout(() => api.open.has(call) && fire(), random.between(0, 6))
    })

/** A bind that needs work of its host was accepted a short time ago. */
const order: Aim = ({ account, random }, fire) => {
  const afterMs = random.between(5, 150)
  const timer = setInterval(() => {
    const now = Date.now()
    const waiting = account.lives.filter(({ hostWork, acceptedAt, seen, leaveSentAt }) => {
      return hostWork && acceptedAt !== null && now - acceptedAt > afterMs && seen.size === 0 && leaveSentAt === null
    })
    if (waiting.length > 0) fire()
  }, 5)
  return () => clearInterval(timer)
}

/** The result is on the host's disk, and is not yet published, consumed and recorded. */
const report: Aim = ({ hosts }, fire) => hosts.onDone(() => fire())

/** Nova has received the event, and the program has not received the answer yet. */
const event: Aim = ({ nova }, fire) => nova.onEvents(() => fire())

const AIMS: Readonly<Record<Phase, Aim>> = { POST: requestOf('POST'), PATCH: requestOf('PATCH'), order, report, event }

/** `fire` is called in the chosen moment, or when it does not come in time. */
export const takeAim = async (sight: Sight, phase: Phase, fire: () => void): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let fired = false
  const once = () => {
    if (fired) return
    fired = true
    fire()
    resolve()
  }
  const forget = AIMS[phase](sight, once)
  const late = new AbortController()
  void sleep(PATIENCE_MS, null, { signal: late.signal }).then(once, () => undefined)
  await promise
  late.abort()
  forget()
}
