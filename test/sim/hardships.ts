/**
 * Scenarios played after the load, when all faults have ended: a host that stays away, and a faulty host that must
 * hardly disturb others.
 */
import { reportRecord } from '../../src/wire/message.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { allAhead } from './clocks.ts'
import { mend } from './faults.ts'
import type { Machine } from './machine.ts'
import { type Tools, begin, forsaken, leave, look, ok } from './sessions.ts'
import type { Stage } from './stage.ts'
import { pass, until } from './until.ts'
import type { World } from './world.ts'

/** Longer than a bind's deadline and its permitted lateness. */
const SILENCE_MS = 155_000
/** A control that was started answers by then. */
const STARTED_MS = 5000
/** The longest time that a quick bind on a healthy host may take beside a faulty host. */
const DELAY_MAX_MS = 20_000
/**
 * Longer than a hardware call that hung at the end of the faults can still hang: an order to release a slot has 90 s.
 */
const CALM_MS = 95_000
const BINDS = 5
const POISONS = 40

/** It is bound there or elsewhere, and deleted at once. */
const discarded = async ({ complain }: World, tools: Tools): Promise<void> => {
  const begun = await begin(tools)
  if (begun && !(await leave(tools, begun.bind))) complain(`instance ${begun.bind.instance} could not be deleted`, 'L6')
}
/** A host crashes and stays away; binds on it have to end without it, also if the controls accepted them by clocks that
 * were ahead. */
export const silence = async (world: World, tools: Tools): Promise<void> => {
  const { stage } = world
  const rest = stage.random.pick(stage.machines)
  mend(stage)
  rest.crash(stage.random.pick(['kept', 'lost']))
  const setRight = stage.keystone === null && stage.random.chance(0.4) ? allAhead(stage) : null
  if (setRight) await pass(world, STARTED_MS)
  const work = [forsaken(tools), forsaken(tools), discarded(world, tools), discarded(world, tools)]
  await until(world, 'the binds of a silent host', Promise.all(work))
  setRight?.()
  await pass(world, setRight ? 2 * SILENCE_MS : SILENCE_MS)
}

/** An invalid message in the name of a host, which our programs never send. */
const poison = ({ network, random, now }: Stage, host: string, at: number): void => {
  const { hostReports, hostOrders } = CATALOGUE
  const envelope = {
    specversion: '1.0',
    id: `poison-${at}`,
    source: '/',
    type: 'x',
    time: '',
    datacontenttype: 'application/json',
  }
  const value = random.pick([
    'no json',
    '{}',
    '[]'.padEnd(100_000, ' '),
    JSON.stringify({ ...envelope, data: { type: 'Inventory', host } }),
    JSON.stringify({ ...envelope, data: { type: 'OrderResult', host, slot: 7 } }),
  ])
  const nobody = '00000000-0000-4000-8000-000000000000'
  const unheardOf = reportRecord(
    {
      type: 'OrderResult',
      host,
      bootId: nobody,
      order: 'PrepareSlot',
      slot: nobody,
      deployableUuid: nobody,
      number: at + 1,
      arq: nobody,
      startedAt: 0,
      finishedAt: 0,
      result: { status: 'done' },
    },
    `poison-${at}`,
    now(),
  )
  const { topic } = random.pick([hostReports, hostOrders])
  network().poison(random.chance(0.3) ? unheardOf : { topic, key: host, value, headers: {} })
}
/** Keeps killing the actors of the faulty host. */
const hammer = ({ schedule, life, processes, random }: Stage, over: () => boolean): void => {
  const strike = (): void => {
    if (over()) return
    const process = random.pick(processes)
    const keys = process.residents().filter((key) => /^(deployable|device|host)\//.test(key))
    if (keys.length > 0) process.killActor(random.pick(keys))
    schedule.after(life, 50 + random.below(200), strike)
  }
  strike()
}
/** The time until the bind was Bound or failed; null: it was refused, for example because nothing is free. */
const bindMs = async ({ stage }: World, tools: Tools): Promise<number | null> => {
  const from = stage.schedule.elapsed()
  const begun = await begin(tools)
  if (!begun || !ok(begun.reply)) return null
  for (;;) {
    const seen = await look(tools, begun.bind)
    // 409: it failed (decision 0063); any other error says nothing
    const states = ok(seen) ? (seen.json.arqs as { state: string }[]).map(({ state }) => state) : ['BindStarted']
    if (seen.status === 409 || !states.includes('BindStarted')) return stage.schedule.elapsed() - from
    await tools.client.sleep(250)
  }
}
const measured = async (world: World, tools: Tools, sick: Machine): Promise<void> => {
  const { places } = tools
  const [own, others] = [true, false].map((mine) => places.filter(({ host }) => (host === sick.name) === mine))
  const onSick = { ...tools, places: own! }
  await Promise.all([begin(onSick), begin(onSick), begin(onSick)])
  for (let left = BINDS; left > 0; left--) {
    const ms = await bindMs(world, { ...tools, places: others! })
    if (ms !== null && ms > DELAY_MAX_MS)
      world.complain(`a bind elsewhere took ${ms} ms while ${sick.name} was poisoned`, 'L7')
  }
}
/** One host sends invalid messages, its hardware hangs, and its actors are killed. */
export const poisoned = async (world: World, tools: Tools): Promise<void> => {
  const { stage } = world
  mend(stage)
  await pass(world, CALM_MS)
  const sick = stage.random.pick(stage.machines)
  stage.say(`${sick.name} is poisoned`)
  sick.hurt((faults) => void (faults.delayMs = 300_000))
  for (let at = 0; at < POISONS; at++) poison(stage, sick.name, at)
  let over = false
  hammer(stage, () => over)
  await until(world, 'the binds beside a poisoned host', measured(world, tools, sick))
  over = true
}
