/** Programs that an earlier start has left on cards: what is said of them, when they are killed, who waits for them. */
import { describe, expect, test } from 'vitest'
import type { AtWork, ToolLocks, Worker } from '../../src/drivers/toolLocks.ts'
import { Survivors } from '../../src/host/survivors.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const LIMIT_MS = 10_000
const never = new AbortController().signal
const worker = (pid: number, ageMs: number): Worker => ({ pid, program: `tool-${pid}`, ageMs })
const machine = async (found: readonly AtWork[], kill: ToolLocks['kill'] = async () => undefined) => {
  const [clock, log] = [handClock(), memoryLog()]
  const cards = new Map(found.map((one) => [one.card, one]))
  const asked: (readonly string[] | null)[] = []
  const killed: string[] = []
  const tools: Pick<ToolLocks, 'atWork' | 'kill'> = {
    atWork: async (meant) => {
      asked.push(meant === undefined ? null : [...meant])
      return [...cards.values()]
    },
    kill: (card) => {
      killed.push(card)
      return kill(card)
    },
  }
  const survivors = await Survivors.open({ tools, host: 'h1', clock, log, limitMs: LIMIT_MS })
  /** How a wait for these cards ends within a time. */
  const waits = async (cards: readonly string[], ms: number) => {
    const wait = survivors
      .wait((card) => cards.includes(card), ms, never)
      .then(
        () => 'gone',
        (error: unknown) => (error as Error).message,
      )
    await clock.pass(ms)
    return wait
  }
  return { clock, log, cards, asked, killed, survivors, waits }
}

describe('a wait for a card', () => {
  const busy = (card: string, said: string) =>
    `${card} was busy for 700 ms: an earlier start of the host program has left ${said} at work on it`
  test('ends at once where nothing has survived on it', async () => {
    const { waits, survivors, clock } = await machine([{ card: 'a', workers: [] }])
    expect(await waits(['b'], 0)).toBe('gone')
    expect(await waits([], 0)).toBe('gone')
    survivors.close()
    const without = await Survivors.open({ tools: null, host: 'h1', clock, log: memoryLog(), limitMs: 1 })
    expect(await without.wait(() => true, 0, never)).toBe(undefined)
  })
  test('fails after its time with the programs that are at work, or without where none is seen', async () => {
    const { waits } = await machine([
      { card: 'a', workers: [worker(1, 5), worker(2, 6)] },
      { card: 'b', workers: [] },
    ])
    expect(await waits(['a'], 700)).toBe(busy('a', 'tool-1 (process 1), tool-2 (process 2)'))
    expect(await waits(['b'], 700)).toBe(busy('b', 'a process that cannot be seen'))
    expect(await waits(['b', 'a'], 700)).toBe(busy('a', 'tool-1 (process 1), tool-2 (process 2)'))
  })
  test('ends when the program has ended on each of its cards', async () => {
    const it = await machine([
      { card: 'a', workers: [worker(1, 5)] },
      { card: 'b', workers: [worker(2, 5)] },
    ])
    it.cards.delete('a')
    expect(await it.waits(['a', 'b'], 700)).toContain('b was busy')
    it.cards.delete('b')
    expect(await it.waits(['a', 'b'], 700)).toBe('gone')
  })
  test('ends with the order', async () => {
    const { survivors } = await machine([{ card: 'a', workers: [] }])
    const abort = new AbortController()
    const wait = expect(survivors.wait(() => true, 1e9, abort.signal)).rejects.toThrow('a newer order came')
    abort.abort(new Error('a newer order came'))
    await wait
  })
})

test('each card is told at the start and when its program has ended, and looked at every half a second', async () => {
  const it = await machine([{ card: 'a', workers: [worker(1, 5)] }])
  await it.clock.pass(499)
  expect(it.asked).toEqual([null])
  await it.clock.pass(1)
  expect(it.asked).toEqual([null, ['a']])
  it.cards.delete('a')
  await it.clock.pass(5000)
  expect(it.asked).toEqual([null, ['a'], ['a']])
  expect(it.log.said).toEqual([
    {
      level: 'warn',
      detail: { host: 'h1', deployable: 'a', processes: [worker(1, 5)] },
      message: 'tool.survived',
    },
    { level: 'info', detail: { host: 'h1', deployable: 'a' }, message: 'tool.survivorEnded' },
  ])
})

describe('a program is killed (SURVIVORS-2)', () => {
  test('at its limit, by the age of the oldest', async () => {
    const it = await machine([{ card: 'a', workers: [worker(1, 5), worker(2, LIMIT_MS - 1)] }])
    await it.clock.pass(500)
    expect(it.killed).toEqual([])
    it.cards.set('a', { card: 'a', workers: [worker(1, 5), worker(2, LIMIT_MS)] })
    await it.clock.pass(500)
    expect(it.killed).toEqual(['a'])
    expect(it.log.said.at(-1)).toEqual({
      level: 'warn',
      detail: { host: 'h1', deployable: 'a', processes: [worker(1, 5), worker(2, LIMIT_MS)], limitMs: LIMIT_MS },
      message: 'tool.survivorKilled',
    })
  })
  test('at the limit since the start where its age is not seen', async () => {
    const it = await machine([{ card: 'a', workers: [] }])
    await it.clock.pass(LIMIT_MS - 500)
    expect(it.killed).toEqual([])
    await it.clock.pass(500)
    expect(it.killed).toEqual(['a'])
  })
  test('again where that has failed, which is told', async () => {
    const it = await machine([{ card: 'a', workers: [worker(1, LIMIT_MS)] }], () => Promise.reject(new Error('EPERM')))
    await it.clock.pass(1000)
    expect(it.killed).toEqual(['a', 'a'])
    expect(it.log.said.filter(({ message }) => message === 'tool.notKilled').map(({ detail }) => detail)).toEqual([
      { host: 'h1', deployable: 'a', reason: 'EPERM' },
      { host: 'h1', deployable: 'a', reason: 'EPERM' },
    ])
  })
})

test('after the stop nothing is looked at or killed', async () => {
  const it = await machine([{ card: 'a', workers: [worker(1, LIMIT_MS)] }])
  it.survivors.close()
  await it.clock.pass(10_000)
  await quiet()
  expect([it.asked, it.killed]).toEqual([[null], []])
})
