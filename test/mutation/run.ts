/**
 * `npm run mutation -- --count 100 --seed 1`: plants that many small faults in `src/`, one at a time, and tells which
 * of them no test notices. `--only PATH` (again and again; a folder, a file, a pattern, `FILE:LINE`), `--workers N`,
 * `--goal PERCENT`, `--tests N --seconds S`: so many test files are run for one fault, the nearest and those that speak
 * of its place, and for so long; all tests are run once before, so that only those are asked that run the function with
 * the fault (`--no-coverage`: not; `--coverage-file PATH`: kept there for further samples); `--list` prints what is
 * possible and ends.
 */
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { EQUIVALENT } from './equivalent.ts'
import type { Verdict } from './judge.ts'
import { shown } from './mutants.ts'
import { mutate, possible } from './mutation.ts'
import { roomOf } from './sample.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    goal: { type: 'string', default: '90' },
    tests: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    list: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: true },
    'coverage-file': { type: 'string' },
  },
  allowNegative: true,
})
const whole = (name: 'count' | 'seed' | 'workers' | 'goal' | 'tests' | 'seconds'): number => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number; it is ${values[name]}`)
  return value
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const wanted = { root, only: values.only, equivalent: EQUIVALENT }
const began = performance.now()
const counted = (verdicts: readonly Verdict[], verdict: Verdict['verdict']): number =>
  verdicts.filter((one) => one.verdict === verdict).length

const stopping = new AbortController()
const verdicts: Verdict[] = []
const note = (one: Verdict): void => {
  verdicts.push(one)
  const by = one.verdict === 'noticed' ? `\n    by ${one.by}` : ''
  if (one.verdict !== 'discarded') console.log(`${one.verdict}: ${shown(one.mutant)}${by}`)
}
const summary = (): void => {
  const rooms = [...Map.groupBy(verdicts, ({ mutant }) => roomOf(mutant.path))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  console.log('\nroom            noticed/of')
  for (const [room, all] of rooms)
    console.log(`${room.padEnd(16)}${counted(all, 'noticed')}/${all.length - counted(all, 'discarded')}`)
  const survivors = verdicts.filter(({ verdict }) => verdict === 'survived')
  for (const { mutant } of survivors) console.log(`survived: ${shown(mutant)}`)
  const noticed = counted(verdicts, 'noticed')
  const share = (100 * noticed) / Math.max(1, noticed + survivors.length)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(
    `seed ${values.seed}: ${share.toFixed(1)} % noticed, ${seconds} s${stopping.signal.aborted ? ', stopped early' : ''}`,
  )
  console.log(`${noticed} noticed, ${survivors.length} survived, ${counted(verdicts, 'discarded')} discarded`)
  if (share < whole('goal') || stopping.signal.aborted) process.exitCode = 1
}

if (values.list) for (const mutant of possible(wanted)) console.log(shown(mutant))
else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  const [count, seed, workers, seconds] = [whole('count'), whole('seed'), whole('workers'), whole('seconds')]
  await mutate({
    ...wanted,
    count,
    seed,
    workers,
    filesMax: whole('tests'),
    budgetMs: seconds * 1000,
    coverage: values.coverage,
    coverageFile: values['coverage-file'] ?? null,
    note,
    warn: (line) => console.error(line),
    stop: stopping.signal,
  })
  summary()
}
