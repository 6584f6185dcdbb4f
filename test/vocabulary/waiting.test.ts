import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createKeyedMutex } from '../../src/vocabulary/keyedMutex.ts'
import {
  backoffMs,
  bounded,
  createPauses,
  endedWithin,
  orAborted,
  orLate,
  pause,
  repeatedly,
} from '../../src/vocabulary/waiting.ts'
import { handClock, quiet } from '../support/lab.ts'

const never = () => new Promise<never>(() => {})
/** What has become of a promise by now. */
const stateOf = async (promise: Promise<unknown>): Promise<string> => {
  let state = 'open'
  promise.then(
    (value) => (state = `ended ${String(value)}`),
    (error: unknown) => (state = `failed ${String(error)}`),
  )
  await quiet()
  return state
}

describe('a back-off', () => {
  it('begins with the first wait and doubles up to the longest', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((failures) => backoffMs({ firstMs: 100, maxMs: 1000 }, failures))
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000])
  })
  it('is finite after any number of failures, and no shorter than the first before any', () => {
    expect(backoffMs({ firstMs: 100, maxMs: 1000 }, 1e9)).toBe(1000)
    expect(backoffMs({ firstMs: 100, maxMs: 1000 }, 0)).toBe(100)
  })
})

describe('a pause', () => {
  it('ends when its time is over, and not before', async () => {
    const clock = handClock()
    const paused = pause(clock, 50)
    await clock.pass(49)
    expect(await stateOf(paused)).toBe('open')
    await clock.pass(1)
    expect(await stateOf(paused)).toBe('ended undefined')
  })
  it('ends with the reason of its signal, also one that has come already', async () => {
    const clock = handClock()
    const abort = new AbortController()
    const paused = pause(clock, 50, abort.signal)
    abort.abort('told to')
    expect(await stateOf(paused)).toBe('failed told to')
    expect(await stateOf(pause(clock, 50, abort.signal))).toBe('failed told to')
  })
})

describe('repeated work', () => {
  it('is done at once, and again when the last time has ended, until it is stopped', async () => {
    const clock = handClock()
    const done: string[] = []
    let end = () => {}
    const slow = repeatedly(clock, { everyMs: 50 }, async (isStopped) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      end = resolve
      done.push('begun')
      await promise
      done.push(isStopped() ? 'ended after the stop' : 'ended')
    })
    expect(done).toEqual(['begun'])
    await clock.pass(200)
    expect(done.splice(0)).toEqual(['begun'])
    end()
    await quiet()
    await clock.pass(49)
    expect(done).toEqual(['ended'])
    await clock.pass(1)
    expect(done.splice(0)).toEqual(['ended', 'begun'])
    slow()
    end()
    await quiet()
    await clock.pass(200)
    expect(done).toEqual(['ended after the stop'])
  })
})

describe('the pauses of one owner', () => {
  it('are ended together, and later ones last again', async () => {
    const clock = handClock()
    const pauses = createPauses(clock)
    const both = Promise.all([pauses.pause(50), pauses.pause(90)])
    pauses.wake()
    await both
    const third = pauses.pause(50)
    expect(await stateOf(third)).toBe('open')
    await clock.pass(50)
    await third
  })
  it('do not last after the owner has stopped', async () => {
    const pauses = createPauses(handClock())
    const paused = pauses.pause(50)
    pauses.stop()
    await Promise.all([paused, pauses.pause(50)])
  })
})

describe('work within a limit', () => {
  it('gives its value, or what stands in for it', async () => {
    const clock = handClock()
    expect(await bounded(clock, Promise.resolve('done'), 50, 'late')).toBe('done')
    const late = bounded(clock, never(), 50, 'late')
    await clock.pass(50)
    expect(await late).toBe('late')
  })
  it('has ended, well or badly, or has not', async () => {
    const clock = handClock()
    expect(await endedWithin(clock, 50, Promise.resolve())).toBe(true)
    expect(await endedWithin(clock, 50, Promise.reject(new Error('broken')))).toBe(true)
    const late = endedWithin(clock, 50, never())
    await clock.pass(49)
    expect(await stateOf(late)).toBe('open')
    await clock.pass(1)
    expect(await late).toBe(false)
  })
  it('is given up for the reason of its signal', async () => {
    const abort = new AbortController()
    const given = endedWithin(handClock(), 50, never(), abort.signal)
    abort.abort('stopping')
    expect(await stateOf(given)).toBe('failed stopping')
  })
})

/** A clock that counts the timers that were begun and neither ran nor were cancelled. */
const counted = () => {
  const clock = handClock()
  let open = 0
  const after: typeof clock.after = (ms, run) => {
    open++
    let over = false
    const end = () => {
      if (!over) open--
      over = true
    }
    const cancel = clock.after(ms, () => (end(), run()))
    return () => (end(), cancel())
  }
  return { ...clock, after, open: () => open }
}
describe('nothing is left of a wait that is over', () => {
  it('whatever ended it', async () => {
    const clock = counted()
    const abort = new AbortController()
    await endedWithin(clock, 50, Promise.resolve(), abort.signal)
    await bounded(clock, Promise.resolve(), 50, 'late')
    await expect(bounded(clock, Promise.reject(new Error('broken')), 50, 'late')).rejects.toThrow('broken')
    const pauses = createPauses(clock)
    const paused = pauses.pause(50)
    pauses.wake()
    await paused
    const stop = repeatedly(clock, { everyMs: 50 }, async () => {})
    await quiet()
    expect(clock.open()).toBe(1)
    stop()
    expect(clock.open()).toBe(0)
    await orAborted(Promise.resolve(), abort.signal)
    await orAborted(Promise.resolve(), abort.signal, { clock, graceMs: 50 })
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  })
  it('and a time that is over already is no time', async () => {
    const clock = handClock()
    const late = endedWithin(clock, -5, never())
    await clock.pass(0)
    expect(await late).toBe(false)
  })
})
describe('work that may come too late', () => {
  it('is replaced by what is said then, or by its exception', async () => {
    const clock = handClock()
    const lost: string[] = []
    expect(await orLate(clock, Promise.resolve('done'), 50, () => lost.push('never'))).toBe('done')
    const late = orLate(clock, never(), 50, () => lost.push('late'))
    await clock.pass(49)
    expect(lost).toEqual([])
    await clock.pass(1)
    expect([await late, lost]).toEqual([1, ['late']])
    const failing = orLate(clock, never(), 50, () => {
      throw new Error('too late')
    })
    const failed = stateOf(failing)
    await clock.pass(50)
    expect(await failed).toBe('open')
    expect(await stateOf(failing)).toBe('failed Error: too late')
  })
})
describe('work that a signal ends', () => {
  it('gives its value or its exception as long as nobody ends it', async () => {
    const { signal } = new AbortController()
    expect(await orAborted(Promise.resolve('done'), signal)).toBe('done')
    await expect(orAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
  })
  it('is given up at once without a grace, also where the signal has come already', async () => {
    const abort = new AbortController()
    const given = orAborted(never(), abort.signal)
    expect(await stateOf(given)).toBe('open')
    abort.abort('stopping')
    expect(await stateOf(given)).toBe('failed stopping')
    expect(await stateOf(orAborted(never(), abort.signal))).toBe('failed stopping')
  })
  it('has a grace from then on, in which its value still counts', async () => {
    const clock = counted()
    const [abort, ended] = [new AbortController(), Promise.withResolvers<string>()]
    const grace = { clock, graceMs: 50 }
    const [given, other] = [orAborted(ended.promise, abort.signal, grace), orAborted(never(), abort.signal, grace)]
    expect(clock.open()).toBe(0)
    abort.abort('stopping')
    await clock.pass(49)
    ended.resolve('just in time')
    expect([await given, await stateOf(other), clock.open()]).toEqual(['just in time', 'open', 1])
    await clock.pass(1)
    expect([await stateOf(other), clock.open()]).toEqual(['failed stopping', 0])
  })
})

describe('a keyed mutex', () => {
  it('lets one in at a time, in the order of asking, and other keys beside', async () => {
    const mutex = createKeyedMutex(handClock())
    const first = (await mutex.enter('a', 50))!
    const other = await mutex.enter('b', 50)
    expect(other).not.toBeNull()
    const entered: string[] = []
    const second = mutex.enter('a', 50).then((leave) => (entered.push('second'), leave!))
    const third = mutex.enter('a', 50).then((leave) => (entered.push('third'), leave!))
    await quiet()
    expect(entered).toEqual([])
    first()
    const leaveSecond = await second
    expect(entered).toEqual(['second'])
    leaveSecond()
    const leaveThird = await third
    expect(entered).toEqual(['second', 'third'])
    expect([mutex.isHeld('a'), mutex.isHeld('b'), mutex.isHeld('c')]).toEqual([true, true, false])
    leaveThird()
    expect([mutex.isHeld('a'), mutex.isHeld('b')]).toEqual([false, true])
  })
  it('waits no longer for a key that it has got', async () => {
    const clock = counted()
    const mutex = createKeyedMutex(clock)
    const first = (await mutex.enter('a', 50))!
    const [second, third] = [mutex.enter('a', 50), mutex.enter('a', 50)]
    await quiet()
    expect(clock.open()).toBe(2)
    first()
    const leave = await second
    expect(clock.open()).toBe(1)
    await clock.pass(50)
    expect([await third, mutex.isHeld('a')]).toEqual([null, true])
    leave!()
    expect(mutex.isHeld('a')).toBe(false)
  })
  it('sends away who waits too long, and passes over them', async () => {
    const clock = handClock()
    const mutex = createKeyedMutex(clock)
    const first = (await mutex.enter('a', 50))!
    const gone = mutex.enter('a', 50)
    const patient = mutex.enter('a', 500)
    await clock.pass(50)
    expect(await gone).toBeNull()
    first()
    expect(await patient).not.toBeNull()
  })
  it('runs work under a key in turn, also after work that failed', async () => {
    const mutex = createKeyedMutex(handClock())
    const gate = Promise.withResolvers<void>()
    const done: number[] = []
    const failing = mutex.run('a', async () => {
      await gate.promise
      throw new Error('broken')
    })
    const next = mutex.run('a', async () => void done.push(2))
    await mutex.run('b', async () => void done.push(1))
    expect(done).toEqual([1])
    gate.resolve()
    await expect(failing).rejects.toThrow('broken')
    await next
    expect(done).toEqual([1, 2])
  })
})
