/** The load generator: a process of its own, so that what it costs is not counted as the program's. */
import { setTimeout as sleep } from 'node:timers/promises'
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
  settleLane,
  stateOf,
} from './calls.ts'
import { connection } from './http.ts'
import { cpuMs } from './proc.ts'
import type { Measured, Target, Task } from './tasks.ts'

const BOUND_WITHIN_MS = 30_000

const bindLane = (profile: string, next: () => Target | null): Lane => {
  const bindOne = async (ask: Ask, target: Target, kept: Kept) => {
    const began = performance.now()
    const arq = await created(ask, profile)
    const posted = performance.now()
    const instance = await accepted(ask, arq, target)
    const patched = performance.now()
    kept.made.push({ arq, instance })
    for (let state = await stateOf(ask, arq); state !== 'Bound'; state = await stateOf(ask, arq)) {
      if (state !== 'BindStarted') throw new Error(`${arq} is ${state}`)
      if (performance.now() - patched > BOUND_WITHIN_MS) throw new Error(`${arq} is still ${state}`)
      await sleep(1)
    }
    const bound = performance.now()
    kept.time('post', posted - began)
    kept.time('patch', patched - posted)
    kept.time('until bound', bound - patched)
    kept.time('whole', bound - began)
  }
  return async (ask, over, kept) => {
    while (!over()) {
      const target = next()
      if (target === null) return
      await bindOne(ask, target, kept).catch((cause: unknown) => kept.fail(String(cause)))
    }
  }
}

const postLane =
  (profile: string): Lane =>
  async (ask, over, kept) => {
    while (!over()) {
      const began = performance.now()
      const arq = await created(ask, profile)
      kept.time('whole', performance.now() - began)
      kept.made.push({ arq, instance: '' })
    }
  }

const getLane =
  (instances: readonly string[]): Lane =>
  async (ask, over, kept, lane) => {
    for (let at = lane * 997; !over(); at++) {
      const began = performance.now()
      const { status, body } = await ask('GET', `${ARQS}?instance=${instances[at % instances.length]!}`)
      kept.time('whole', performance.now() - began)
      if (status !== 200 || !body.includes('"Bound"')) kept.fail(`GET ${status} ${body.slice(0, 200)}`)
    }
  }

/** All ARQs first, so that the accepted binds follow each other closely. */
const floodLane = (profile: string, next: () => Target | null, count: number): Lane => {
  const arqs: string[] = []
  let [asked, begun] = [0, 0]
  return async (ask, _over, kept) => {
    while (asked++ < count) arqs.push(await created(ask, profile))
    while (arqs.length < count) await sleep(5)
    while (begun < count) {
      const arq = arqs[begun++]!
      const target = next()
      if (target === null) throw new Error('there are fewer free handles than binds asked for')
      kept.made.push({ arq, instance: await accepted(ask, arq, target) })
    }
  }
}

const laneOf = (task: Task): Lane => {
  switch (task.kind) {
    case 'binds':
      return bindLane(task.profile, dispenser(task.targets))
    case 'posts':
      return postLane(task.profile)
    case 'gets':
      return getLane(task.instances)
    case 'flood':
      return floodLane(task.profile, dispenser(task.targets), task.count)
    case 'remove':
      return removeLane(task.arqs)
    case 'settle':
      return settleLane(task.arqs, task.limitMs)
  }
}

const perform = async (task: Task): Promise<Measured> => {
  const lane = laneOf(task)
  const kept = record()
  const lines = await Promise.all(Array.from({ length: task.lanes }, () => connection(task.port)))
  const [pid, forMs] = 'forMs' in task ? [task.pid, task.forMs] : [process.pid, Number.POSITIVE_INFINITY]
  const [cpuBefore, own, began] = [cpuMs(pid), process.cpuUsage(), performance.now()]
  const over = (): boolean => performance.now() - began >= forMs
  await Promise.all(lines.map(({ ask }, at) => lane(ask, over, kept, at)))
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(own)
  for (const { close } of lines) close()
  const { made, stages, states, failures } = kept
  return {
    made,
    stages,
    states,
    failures,
    tookMs,
    serverCpuMs: cpuMs(pid) - cpuBefore,
    ownCpuMs: (user + system) / 1000,
  }
}

process.on('message', (task: Task) => {
  perform(task).then(
    (measured) => process.send!({ measured }),
    (cause: unknown) => process.send!({ broken: String(cause) }),
  )
})
