/**
 * The callers of a cluster, and the Nova that hears of their binds: a process of its own, so that what it costs is not
 * counted as the program's.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openNovaServer } from '../../test/support/novaServer.ts'
import {
  ARQS,
  type Ask,
  type Kept,
  type Lane,
  accepted,
  created,
  dispenser,
  record,
  removeLane,
  removed,
  settleLane,
} from '../calls.ts'
import { type Connection, connection } from '../http.ts'
import type { Measured, Target } from '../tasks.ts'
import type { ClusterTask } from './tasks.ts'

const BOUND_WITHIN_MS = 60_000
const REMOVED_AT_ONCE = 50

/** Whoever waits for the event of an instance. */
const waiting = new Map<string, () => void>()
const nova = await openNovaServer(async (events) => {
  for (const { server_uuid: instance } of events) waiting.get(instance)?.()
  return null
})
nova.place('everyone', 'on a host')

const heard = async (instance: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error(`no event for ${instance}`)), BOUND_WITHIN_MS)
  waiting.set(instance, resolve)
  try {
    await promise
  } finally {
    clearTimeout(late)
    waiting.delete(instance)
  }
}

/** The requests of one bind as one trace, as of a client that traces. */
const traced = (ask: Ask): Ask => {
  const trace = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
  return (method, path, body) => ask(method, path, body, trace)
}
type Timed = { readonly from: number; readonly target: Target }
const bindOne = async (plain: Ask, profile: string, { from, target }: Timed, kept: Kept): Promise<string> => {
  const ask = traced(plain)
  const began = performance.now()
  const arq = await created(ask, profile)
  const posted = performance.now()
  const instance = randomUUID()
  const told = heard(instance)
  // whoever gives up after a refusal need not be told that no event came
  told.catch(() => undefined)
  await accepted(ask, arq, target, instance)
  const patched = performance.now()
  kept.made.push({ arq, instance })
  await told
  const known = performance.now()
  const { status, body } = await ask('GET', `${ARQS}?instance=${instance}&bind_state=resolved`)
  if (status !== 200 || !body.includes('"Bound"')) throw new Error(`GET ${status} ${body.slice(0, 200)}`)
  const over = performance.now()
  kept.time('post', posted - began)
  kept.time('patch', patched - posted)
  kept.time('until told', known - patched)
  kept.time('get', over - known)
  kept.time('whole', over - from)
  return arq
}

const bindLane = (profile: string, next: () => Target | null): Lane => {
  return async (ask, over, kept) => {
    for (let target = over() ? null : next(); target !== null; target = over() ? null : next())
      await bindOne(ask, profile, { from: performance.now(), target }, kept).catch((cause: unknown) =>
        kept.fail(String(cause)),
      )
  }
}

type Steady = Extract<ClusterTask, { readonly kind: 'steady' }>
/** The last lane gives back what the others have bound. */
const steadyLane = ({ profile, targets, perSecond, lanes, forMs }: Steady): Lane => {
  const began = performance.now()
  const next = dispenser(targets)
  const free: Target[] = []
  for (let target = next(); target !== null; target = next()) free.push(target)
  const bound: { readonly arq: string; readonly target: Target }[] = []
  const binders = lanes - 1
  let busy = binders
  const giveBack: Lane = async (ask, _over, kept) => {
    while (busy > 0 || bound.length > 0) {
      if (busy > 0 && bound.length < REMOVED_AT_ONCE) {
        await sleep(5)
        continue
      }
      const some = bound.splice(0, REMOVED_AT_ONCE)
      const arqs = some.map(({ arq }) => arq)
      await removed(ask, arqs, kept)
      free.push(...some.map(({ target }) => target))
    }
  }
  const bindDue = async (ask: Ask, due: number, kept: Kept): Promise<void> => {
    const target = free.shift()
    if (target === undefined) return kept.fail('no free handle was left for a bind that was due')
    const arq = await bindOne(ask, profile, { from: began + due, target }, kept).catch((cause: unknown) =>
      kept.fail(String(cause)),
    )
    if (arq !== undefined) bound.push({ arq, target })
  }
  return async (ask, over, kept, lane) => {
    if (lane === binders) return giveBack(ask, over, kept, lane)
    for (let number = lane; (number * 1000) / perSecond < forMs; number += binders) {
      const due = (number * 1000) / perSecond
      await sleep(Math.max(0, began + due - performance.now()))
      await bindDue(ask, due, kept)
    }
    busy--
  }
}

const createLane = (profile: string, count: number): Lane => {
  let asked = 0
  return async (ask, _over, kept) => {
    while (asked++ < count) kept.made.push({ arq: await created(ask, profile), instance: '' })
  }
}
const acceptLane = (arqs: readonly string[], next: () => Target | null): Lane => {
  let at = 0
  return async (ask, _over, kept) => {
    while (at < arqs.length) {
      const arq = arqs[at++]!
      const target = next()
      if (target === null) throw new Error('there are fewer free handles than binds asked for')
      kept.made.push({ arq, instance: await accepted(ask, arq, target) })
    }
  }
}
const listLane =
  (limit: number | null): Lane =>
  async (ask, over, kept) => {
    while (!over()) {
      const began = performance.now()
      const { status, body } = await ask('GET', limit === null ? ARQS : `${ARQS}?limit=${limit}`)
      kept.time('whole', performance.now() - began)
      if (status !== 200) kept.fail(`GET ${status} ${body.slice(0, 200)}`)
    }
  }

const laneOf = (task: ClusterTask): Lane => {
  switch (task.kind) {
    case 'binds':
      return bindLane(task.profile, dispenser(task.targets))
    case 'steady':
      return steadyLane(task)
    case 'create':
      return createLane(task.profile, task.count)
    case 'accept':
      return acceptLane(task.arqs, dispenser(task.targets))
    case 'settle':
      return settleLane(task.arqs, task.limitMs)
    case 'remove':
      return removeLane(task.arqs)
    case 'list':
      return listLane(task.limit)
  }
}

/** One connection to each control; each request goes to the next. */
const spread = async (ports: readonly number[], first: number): Promise<Connection> => {
  const lines = await Promise.all(ports.map(connection))
  let turn = first
  return {
    ask: (...asked) => lines[turn++ % lines.length]!.ask(...asked),
    close: () => lines.forEach(({ close }) => close()),
  }
}

const perform = async (task: ClusterTask): Promise<Measured> => {
  const kept = record()
  const lines = await Promise.all(Array.from({ length: task.lanes }, (_, at) => spread(task.ports, at)))
  const forMs = 'forMs' in task ? task.forMs : Number.POSITIVE_INFINITY
  const [own, began] = [process.cpuUsage(), performance.now()]
  const lane = laneOf(task)
  await Promise.all(lines.map(({ ask }, at) => lane(ask, () => performance.now() - began >= forMs, kept, at)))
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(own)
  for (const { close } of lines) close()
  const { made, stages, states, failures } = kept
  return { made, stages, states, failures, tookMs, serverCpuMs: 0, ownCpuMs: (user + system) / 1000 }
}

process.once('disconnect', () => process.exit())
process.send!(nova.url)
process.on('message', (task: ClusterTask) => {
  perform(task).then(
    (measured) => process.send!({ measured }),
    (cause: unknown) => process.send!({ broken: String(cause) }),
  )
})
