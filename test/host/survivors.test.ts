/**
 * Programs on cards that an earlier start of the host program has left behind, as a host program with a clock and a
 * disk in memory treats them.
 */
import { expect, test } from 'vitest'
import type { AtWork, ToolLocks } from '../../src/drivers/toolLocks.ts'
import { openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const worker = (ageMs: number) => ({ pid: 4711, program: 'fpgaconf', ageMs })
/** What works on cards, by its age. */
const working = (cards: Record<string, number>) => {
  const [ages, killed] = [new Map(Object.entries(cards)), [] as string[]]
  const asked: (readonly string[] | 'all')[] = []
  let broken = false
  const toolLocks: Pick<ToolLocks, 'atWork' | 'kill'> = {
    atWork: async (meant): Promise<readonly AtWork[]> => {
      asked.push(meant ? [...meant] : 'all')
      if (broken) throw new Error('flock: no such file')
      return [...ages].map(([card, ageMs]) => ({ card, workers: [worker(ageMs)] }))
    },
    kill: async (card) => {
      killed.push(card)
      ages.delete(card)
    },
  }
  return {
    toolLocks,
    killed,
    asked,
    ends: (card: string) => ages.delete(card),
    breaks: (now: boolean) => (broken = now),
  }
}
const lab = async () => {
  const it = await openHostLab()
  const [card, other] = it.devices.map(({ deployables }) => deployables[0]!.name) as [string, string]
  const said = (event: string) => it.log.said.filter(({ message }) => message === event)
  return { ...it, card, other, said }
}
const LOOK_MS = 500

test('an order waits for the tool that still works on its card, and one for another card does not (SURVIVORS-1)', async () => {
  const it = await lab()
  const { toolLocks, ends } = working({ [it.card]: 1000 })
  await it.boot({ toolLocks })
  expect(it.said('tool.survived')).toHaveLength(1)
  await it.send(it.order('Program', 1), it.order('Program', 1, { device: 1 }))
  expect(it.results().map(({ slot }) => slot)).toEqual([it.order('Program', 1, { device: 1 }).slot])
  await it.clock.pass(LOOK_MS)
  expect(it.results()).toHaveLength(1)
  ends(it.card)
  await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect(it.said('tool.survivorEnded')).toHaveLength(1)
  expect(it.results().map(({ result }) => result.status)).toEqual(['done', 'done'])
})

test.each(['PrepareSlot', 'ReleaseSlot', 'Probe'] as const)('%s waits for it as well', async (type) => {
  const it = await lab()
  const { toolLocks, ends } = working({ [it.card]: 1000 })
  await it.boot({ toolLocks })
  await it.send(it.order(type, 1))
  expect(it.results()).toEqual([])
  ends(it.card)
  await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect(it.results()).toMatchObject([{ result: { status: 'done' } }])
})

test('an order whose time is over while it waits fails, and names what works on the card', async () => {
  const it = await lab()
  const { toolLocks } = working({ [it.card]: 1000 })
  await it.boot({ toolLocks })
  await it.send(it.order('PrepareSlot', 1))
  for (let at = 0; at < 121; at++) await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect(it.results()).toMatchObject([
    { result: { status: 'failed', final: false, reason: expect.stringContaining('fpgaconf (process 4711)') } },
  ])
})

test('a tool is killed when it is as old as any may become, and orders go on (SURVIVORS-2)', async () => {
  const it = await lab()
  const { toolLocks, killed } = working({ [it.card]: 540_000, [it.other]: 1000 })
  await it.boot({ toolLocks })
  await it.send(it.order('Program', 1))
  await it.clock.pass(LOOK_MS)
  expect(killed).toEqual([it.card])
  await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect([it.said('tool.survivorKilled').length, it.said('tool.survivorEnded').length]).toEqual([1, 1])
  expect(it.results()).toMatchObject([{ result: { status: 'done' } }])
})

test('after the start only cards are looked at on which a tool has survived, as long as it works (SURVIVORS-3)', async () => {
  const it = await lab()
  const { toolLocks, ends, asked } = working({ [it.card]: 1000 })
  await it.boot({ toolLocks })
  for (let at = 0; at < 2; at++) await it.clock.pass(LOOK_MS)
  ends(it.card)
  for (let at = 0; at < 3; at++) await it.clock.pass(LOOK_MS)
  expect(asked).toEqual(['all', [it.card], [it.card], [it.card]])
})

test('a tool is not taken for gone when its lock cannot be looked at', async () => {
  const it = await lab()
  const { toolLocks, ends, breaks } = working({ [it.card]: 1000 })
  await it.boot({ toolLocks })
  await it.send(it.order('Program', 1))
  breaks(true)
  ends(it.card)
  await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect(it.results()).toEqual([])
  breaks(false)
  await it.clock.pass(LOOK_MS)
  await quiet(40)
  expect(it.results()).toMatchObject([{ result: { status: 'done' } }])
})

test('a host on which nothing can be looked for starts, and says so', async () => {
  const it = await lab()
  const { toolLocks, breaks } = working({})
  breaks(true)
  await it.boot({ toolLocks })
  expect(it.said('tools.unknown')).toHaveLength(1)
  await it.send(it.order('Program', 1))
  expect(it.results()).toMatchObject([{ result: { status: 'done' } }])
})

test('a tool of an earlier start may work on a card as long as the longest cleaning may take', async () => {
  const command: readonly [string] = ['/sbin/wipe']
  const policies = new Map(
    [1_000_000, 2_000_000].map((limitMs, n) => [
      `d${n}`,
      { driver: `d${n}`, kind: 'command' as const, command, limitMs },
    ]),
  )
  const killedAt = async (more: object) => {
    const it = await lab()
    const killed: number[] = []
    const began = it.clock.now()
    const atWork = async () => (killed.length > 0 ? [] : [{ card: 'other', workers: [] }])
    const kill = async () => void killed.push(it.clock.now() - began)
    await it.boot({
      toolLocks: { atWork, kill },
      options: { reportEveryMs: 1e9, heartbeatEveryMs: 1e9, measureEveryMs: 1e9 },
      ...more,
    })
    await it.clock.pass(2_100_000)
    return killed
  }
  expect(await killedAt({})).toEqual([540_000])
  expect(await killedAt({ cleaner: { policies, clean: async () => null } })).toEqual([2_000_000])
})
