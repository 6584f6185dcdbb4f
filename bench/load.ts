/** The load generator: a process of its own, so that what it costs is not counted as the program's. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connection } from './http.ts'
import { cpuMs } from './proc.ts'
import type { Made, Measured, Target, Task } from './tasks.ts'

const ARQS = '/v2/accelerator_requests'
const REMOVED_AT_ONCE = 50
const FAILURES_KEPT = 20
const BOUND_WITHIN_MS = 30_000

const record = () => {
  const made: Made[] = []
  const stages: Record<string, number[]> = {}
  const states: Record<string, number> = {}
  const failures: string[] = []
  return {
    made,
    stages,
    states,
    failures,
    time: (stage: string, ms: number): void => void (stages[stage] ??= []).push(ms),
    fail: (text: string): void => {
      if (failures.length < FAILURES_KEPT) failures.push(text)
    },
  }
}
type Kept = ReturnType<typeof record>

/** Deployables in turn, each as often as it has free handles. */
const dispenser = (targets: readonly Target[]) => {
  const left = targets.map(({ free }) => free)
  let [at, total] = [0, left.reduce((sum, free) => sum + free, 0)]
  return (): Target | null => {
    if (total === 0) return null
    while (left[at % left.length] === 0) at++
    const chosen = at++ % left.length
    left[chosen]!--
    total--
    return targets[chosen]!
  }
}

const created = async (ask: Connection['ask'], profile: string): Promise<string> => {
  const { status, body } = await ask('POST', ARQS, { device_profile_name: profile })
  if (status !== 201) throw new Error(`POST ${status} ${body.slice(0, 200)}`)
  return (JSON.parse(body) as { arqs: { uuid: string }[] }).arqs[0]!.uuid
}
const accepted = async (ask: Connection['ask'], arq: string, { hostname, rp }: Target): Promise<string> => {
  const instance = randomUUID()
  const fields = Object.entries({ hostname, device_rp_uuid: rp, instance_uuid: instance })
  const patch = { [arq]: fields.map(([name, value]) => ({ op: 'add', path: `/${name}`, value })) }
  const { status, body } = await ask('PATCH', ARQS, patch)
  if (status !== 202) throw new Error(`PATCH ${status} ${body.slice(0, 200)}`)
  return instance
}
const stateOf = async (ask: Connection['ask'], arq: string): Promise<string> => {
  const { status, body } = await ask('GET', `${ARQS}/${arq}`)
  if (status !== 200) throw new Error(`GET ${status} ${body.slice(0, 200)}`)
  return (JSON.parse(body) as { state: string }).state
}

type Lane = (ask: Connection['ask'], over: () => boolean, kept: Kept, lane: number) => Promise<void>

const bindLane = (profile: string, next: () => Target | null): Lane => {
  const bindOne = async (ask: Connection['ask'], target: Target, kept: Kept) => {
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

const removeLane = (arqs: readonly string[]): Lane => {
  let at = 0
  return async (ask, _over, kept) => {
    while (at < arqs.length) {
      const some = arqs.slice(at, (at += REMOVED_AT_ONCE))
      const { status, body } = await ask('DELETE', `${ARQS}?arqs=${some.join(',')}`)
      if (status !== 204) kept.fail(`DELETE ${status} ${body.slice(0, 200)}`)
    }
  }
}

const settleLane = (arqs: readonly string[], limitMs: number): Lane => {
  const end = performance.now() + limitMs
  let at = 0
  return async (ask, _over, kept) => {
    while (at < arqs.length) {
      const arq = arqs[at++]!
      let state = await stateOf(ask, arq)
      while (['Initial', 'BindStarted'].includes(state) && performance.now() < end) {
        await sleep(5)
        state = await stateOf(ask, arq)
      }
      kept.states[state] = (kept.states[state] ?? 0) + 1
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
