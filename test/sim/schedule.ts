/**
 * A deterministic scheduler and virtual clock: a seed decides which task runs next, and how time passes.
 *
 * SCHEDULE-1 nact and the rooms schedule through the global `setImmediate` and `setTimeout`; while a world runs, both
 *    are its own;
 * SCHEDULE-2 one task runs at a time, and all promise reactions it caused run before the next task is chosen;
 * SCHEDULE-3 time does not advance while a task can run, except for an occasional slow step; otherwise it jumps to the
 *    next timer;
 * SCHEDULE-4 every task belongs to a life (one run of a process); when a life ends, none of its tasks run any more, as
 *    after a kill;
 * SCHEDULE-5 while a life is held, none of its tasks run and time goes on, like a process between SIGSTOP and SIGCONT.
 */
import type { Cancel, Clock } from '../../src/vocabulary/clock.ts'
import type { Random } from './random.ts'

export type Life = {
  readonly name: string
  alive: boolean
  /** Tasks that became due while the life is held; null: it is not held. */
  parked: Task[] | null
  /** Callbacks to run when the life ends. */
  readonly mourners: Set<() => void>
}
type Task = { readonly life: Life; readonly run: () => void; dropped: boolean }
type Timer = { readonly at: number; readonly order: number; readonly task: Task }

const EPOCH = Date.UTC(2026, 0, 1)
const SLOW = 0.004
const SLOW_MS = 40
const TURNS = 64

const before = (one: Timer, other: Timer): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)

/** A binary heap: there are many timers, and most are cancelled. */
const timerHeap = () => {
  const heap: Timer[] = []
  const up = (timer: Timer, from: number): void => {
    let at = from
    for (let parent = (at - 1) >> 1; at > 0 && before(timer, heap[parent]!); parent = (at - 1) >> 1) {
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = timer
  }
  const down = (timer: Timer): void => {
    let at = 0
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, timer)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = timer
  }
  return {
    peek: () => heap[0],
    push: (timer: Timer) => {
      heap.push(timer)
      up(timer, heap.length - 1)
    },
    pop: (): Timer | undefined => {
      const least = heap[0]
      const last = heap.pop()
      if (last && heap.length > 0) down(last)
      return least
    },
  }
}

export type Schedule = {
  readonly life: (name: string) => Life
  readonly end: (life: Life) => void
  readonly hold: (life: Life) => void
  readonly resume: (life: Life) => void
  /** Milliseconds since the start of the simulation; clock jumps do not change it. */
  readonly elapsed: () => number
  readonly jump: (ms: number) => void
  /** `wrongMs`: how wrong its wall clock is now. */
  readonly clockOf: (life: Life, wrongMs?: () => number) => Clock
  readonly after: (life: Life, ms: number, run: () => void) => Cancel
  readonly soon: (life: Life, run: () => void) => void
  /**
   * `work` is done by `server`, and its outcome comes back to `asker`, each after a while; rejects when the server ends
   * first.
   */
  readonly across: <Value>(
    asker: Life,
    server: Life,
    delayMs: () => number,
    work: () => Promise<Value>,
  ) => Promise<Value>
  /** The result of `work`, or a rejection when that takes longer. */
  readonly within: <Value>(asker: Life, ms: number, work: Promise<Value>, late: string) => Promise<Value>
  /** Runs until `over` holds; false: nothing is left to run. */
  readonly run: (over: () => boolean) => Promise<boolean>
  readonly steps: () => number
}

type Globals = Pick<typeof globalThis, 'setImmediate' | 'clearImmediate' | 'setTimeout' | 'clearTimeout'>

/** Replaces the global timers from now on; `release` restores them. */
export const openSchedule = (
  random: Random,
  thrown: (error: unknown) => void,
): Schedule & { readonly release: () => void } => {
  const real: Globals = { setImmediate, clearImmediate, setTimeout, clearTimeout }
  const runnable: Task[] = []
  const timers = timerHeap()
  const nobody: Life = { name: 'nobody', alive: true, parked: null, mourners: new Set() }
  let current = nobody
  let [elapsed, offset, order, steps] = [0, 0, 0, 0]

  const enqueue = (life: Life, run: () => void): Task => {
    const task: Task = { life, run, dropped: false }
    runnable.push(task)
    return task
  }
  const enqueueAfter = (life: Life, ms: number, run: () => void): Task => {
    const task: Task = { life, run, dropped: false }
    const wait = Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : 0
    timers.push({ at: elapsed + wait, order: order++, task })
    return task
  }
  const drop = (task: unknown): void => {
    if (typeof task === 'object' && task !== null) (task as Task).dropped = true
  }
  Object.assign(globalThis, {
    setImmediate: (run: (...given: unknown[]) => void, ...given: unknown[]) => enqueue(current, () => run(...given)),
    clearImmediate: drop,
    setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      Object.assign(
        enqueueAfter(current, ms, () => run(...given)),
        { unref: () => {}, ref: () => {} },
      ),
    clearTimeout: drop,
  })

  /** Moves time to the next timer, and makes all timers due then runnable. */
  const advance = (): boolean => {
    let first = timers.peek()
    while (first && (first.task.dropped || !first.task.life.alive)) {
      timers.pop()
      first = timers.peek()
    }
    if (!first) return false
    elapsed = first.at
    for (; first && first.at === elapsed; first = timers.peek()) runnable.push(timers.pop()!.task)
    return true
  }
  const choose = (): Task | null => {
    if (random.chance(SLOW) && (timers.peek()?.at ?? Infinity) - elapsed <= SLOW_MS) advance()
    while (runnable.length > 0 || advance()) {
      const at = random.below(runnable.length)
      const task = runnable[at]!
      runnable[at] = runnable.at(-1)!
      runnable.pop()
      if (task.dropped || !task.life.alive) continue
      if (!task.life.parked) return task
      task.life.parked.push(task)
    }
    return null
  }
  /** Runs the next task; false: there is none. */
  const step = (): boolean => {
    const task = choose()
    if (!task) return false
    steps++
    current = task.life
    try {
      task.run()
    } catch (error) {
      thrown(error)
    }
    return true
  }
  /**
   * Node follows all promises to their end between two immediates; many are asked for at once, as each look at the real
   * world costs time.
   */
  const run = (over: () => boolean): Promise<boolean> =>
    new Promise((resolve) => {
      let ended = false
      const end = (moved: boolean): void => {
        ended = true
        current = nobody
        resolve(moved)
      }
      const turn = (): void => {
        if (ended) return
        if (over()) end(true)
        else if (!step()) end(false)
      }
      const turns = (): void => {
        if (ended) return
        for (let at = 0; at < TURNS; at++) real.setImmediate(turn)
        real.setImmediate(turns)
      }
      turns()
    })

  const across: Schedule['across'] = (asker, server, delayMs, work) => {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof work>>>()
    const back = (tell: () => void): void => void enqueueAfter(asker, delayMs(), tell)
    const lost = (): void => back(() => reject(new Error(`${server.name} is gone`)))
    if (!server.alive) {
      lost()
      return promise
    }
    server.mourners.add(lost)
    const done = (tell: () => void): void => {
      // the answer of a server that died while it was being written is not sent
      if (server.mourners.delete(lost)) back(tell)
    }
    const carryOut = async (): Promise<void> => {
      try {
        const value = await work()
        done(() => resolve(value))
      } catch (error) {
        done(() => reject(error))
      }
    }
    enqueueAfter(server, delayMs(), () => void carryOut())
    return promise
  }
  const within = <Value>(asker: Life, ms: number, work: Promise<Value>, late: string): Promise<Value> => {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const timer = enqueueAfter(asker, ms, () => reject(new Error(late)))
    work.then(resolve, reject).finally(() => drop(timer))
    return promise
  }
  return {
    life: (name) => ({ name, alive: true, parked: null, mourners: new Set() }),
    hold: (life) => void (life.parked ??= []),
    resume: (life) => {
      runnable.push(...(life.parked ?? []))
      life.parked = null
    },
    end: (life) => {
      life.alive = false
      life.parked = null
      for (const mourn of life.mourners) mourn()
      life.mourners.clear()
    },
    elapsed: () => elapsed,
    jump: (ms) => void (offset += ms),
    clockOf: (life, wrongMs = () => 0) => ({
      // the clock of an ended life shows Infinity, so that a loop that is still referenced ends
      now: () => (life.alive ? EPOCH + elapsed + offset + wrongMs() : Infinity),
      monotonic: () => (life.alive ? elapsed : Infinity),
      after: (ms, work) => {
        const task = enqueueAfter(life, ms, work)
        return () => drop(task)
      },
    }),
    after: (life, ms, work) => {
      const task = enqueueAfter(life, ms, work)
      return () => drop(task)
    },
    soon: (life, work) => void enqueue(life, work),
    across,
    within,
    run,
    steps: () => steps,
    release: () => void Object.assign(globalThis, real),
  }
}
