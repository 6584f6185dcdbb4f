/**
 * The kill test: the real program under load is killed repeatedly, and its client's own record is checked.
 *
 *   npm run kill -- --binds 200 --kills 20 [--seed S] [--host-work] [--process | --actors]
 */
import { parseArgs } from 'node:util'
import type { Account } from './account.ts'
import { KINDS, killActors } from './actors.ts'
import { judge } from './judge.ts'
import { type PartOptions, killProcess, shortOf } from './killed.ts'
import { figuresOf, sentence, tally } from './table.ts'

const { values } = parseArgs({
  options: {
    binds: { type: 'string', default: '200' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'host-work': { type: 'boolean', default: false },
    process: { type: 'boolean', default: false },
    actors: { type: 'boolean', default: false },
  },
})
const say = (line: string) => void process.stdout.write(`${line}\n`)
const SHOWN_MAX = 30

const whole = (name: 'binds' | 'kills' | 'seed'): number => {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`)
  return value
}
const options: PartOptions = {
  binds: whole('binds'),
  kills: whole('kills'),
  seed: whole('seed'),
  hostWork: values['host-work'],
  say,
}

const verdictOf = (account: Account, more: readonly string[]): number => {
  const violations = [...judge(account), ...more]
  for (const violation of violations.slice(0, SHOWN_MAX)) say(`VIOLATION ${violation}`)
  if (violations.length > SHOWN_MAX) say(`... and ${violations.length - SHOWN_MAX} more`)
  return violations.length
}

const seconds = (began: number) => `${((performance.now() - began) / 1000).toFixed(0)} s`

const processPart = async (): Promise<number> => {
  const began = performance.now()
  const { account, filled } = await killProcess(options)
  const violations = verdictOf(account, shortOf(account))
  const figures = figuresOf(account)
  say(
    `${sentence(figures)}; ${filled} of them to show that no handle leaked; ${account.lostPosts} POSTs without answer`,
  )
  say(
    `kill: ${figures.accepted} binds, ${figures.kills} kills of the process (${tally(figures)}) with ` +
      `${figures.inFlight} binds in flight, ${violations} violations, seed ${options.seed}, ${seconds(began)}`,
  )
  return violations
}

const actorPart = async (): Promise<number> => {
  const began = performance.now()
  const { account, filled, killed } = await killActors(options)
  const violations = verdictOf(account, [])
  const figures = figuresOf(account)
  const kinds = KINDS.map((kind) => `${kind} ${killed[kind]}`).join(', ')
  say(`${sentence(figures)}; ${filled} of them to show that no handle leaked`)
  say(
    `kill: ${figures.accepted} binds, actors killed in the middle of a bind: ${kinds}, ` +
      `${violations} violations, seed ${options.seed}, ${seconds(began)}`,
  )
  return violations
}

say(`seed ${options.seed}`)
let violations = 0
if (!values.actors) violations += await processPart()
if (!values.process) violations += await actorPart()
process.exit(violations > 0 ? 1 : 0)
