/**
 * The chaos test: three controls and four hosts over a real broker and a real database, under load, with injected
 * faults.
 *
 *   npm run chaos -- --minutes 3 --seed 1 [--binds 500] [--clients 14] [--logs DIR] [--cloud]
 *
 * With --cloud a real Keystone and a real Placement stand beside them, and are struck too.
 * The last line is the summary; exit 1 on any violation; it ends within --minutes and 8 more.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CLOUD } from '../cloud/rig.ts'
import { type Part, needs } from '../support/needs.ts'
import { type Chaos, openChaos } from './chaos.ts'
import { planLine, planOf } from './plan.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    binds: { type: 'string', default: '500' },
    clients: { type: 'string', default: '14' },
    logs: { type: 'string' },
    cloud: { type: 'boolean', default: false },
  },
})
const whole = (name: 'minutes' | 'seed' | 'binds' | 'clients'): number => {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`)
  return value
}
const began = performance.now()
const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
const say = (line: string) => void process.stdout.write(`${seconds().padStart(4)} s  ${line}\n`)
const SHOWN_MAX = 40
/** The rest of the 8 minutes is for stopping all processes. */
const OVERTIME_MS = 7.5 * 60_000

const placeOf = (part: 'postgres' | 'kafka' | Part): string => {
  const { at, lacking } = needs(part)
  if (at === undefined) throw new Error(`chaos needs ${typeof part === 'string' ? part : part.name}: ${lacking}`)
  return at
}

const keepLogs = (folder: string, { world, lines, struck }: Chaos): void => {
  mkdirSync(folder, { recursive: true })
  for (const [index, { name, program }] of world.lives.entries())
    writeFileSync(join(folder, `${String(index).padStart(3, '0')}-${name}.log`), program.stdout() + program.stderr())
  writeFileSync(join(folder, 'client.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  writeFileSync(join(folder, 'faults.json'), JSON.stringify(struck, null, 1))
}

// stops processes and unmounts folders when this process ends
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = {
  minutes: whole('minutes'),
  seed: whole('seed'),
  binds: whole('binds'),
  clients: whole('clients'),
  say,
}
say(`seed ${options.seed}`)
const plan = planOf(options.seed, options.minutes, values.cloud)
for (const step of plan) process.stdout.write(`        ${planLine(step)}\n`)

const chaos = await openChaos(options, {
  postgres: placeOf('postgres'),
  kafka: placeOf('kafka'),
  openstack: values.cloud ? placeOf(CLOUD) : null,
})
const tell = (found: readonly string[]): never => {
  for (const violation of found.slice(0, SHOWN_MAX)) say(`VIOLATION ${violation}`)
  if (found.length > SHOWN_MAX) say(`... and ${found.length - SHOWN_MAX} more`)
  if (values.logs !== undefined) keepLogs(values.logs, chaos)
  process.stdout.write(`${chaos.summary()}, ${found.length} violations, seed ${options.seed}, ${seconds()} s\n`)
  process.exit(found.length > 0 ? 1 : 0)
}
const overdue = setTimeout(
  () => {
    tell([`it was not over ${OVERTIME_MS / 60_000} minutes after its time: ${chaos.doing()}`, ...chaos.judged()])
  },
  options.minutes * 60_000 + OVERTIME_MS,
)
const broke = await chaos.run(plan).then(
  () => [],
  (error: unknown) => [`it broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
)
clearTimeout(overdue)
// what was gathered until then is not the whole, and would be judged wrongly
const found = broke.length > 0 ? broke : chaos.judged()
if (values.logs !== undefined) keepLogs(values.logs, chaos)
await chaos.close()
tell(found)
