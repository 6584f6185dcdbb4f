/**
 * `npm run mutation -- src/audit`: plants small faults in these files or folders, one at a time, and lists those that
 * no test notices. `FILE:LINE` is one line. `--count N --seed S`: only so many of them, drawn from the seed; `--workers
 * N`; `--tests N`: so many test files are run for one fault, the nearest; `--only-tests PATTERN`: only test files of
 * which the path contains it; `--list` prints what is possible.
 */
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { shown } from './mutants.ts'
import { type Verdict, mutate, possible } from './mutation.ts'

const { values, positionals } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    tests: { type: 'string', default: '20' },
    'only-tests': { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const whole = (name: 'count' | 'seed' | 'workers' | 'tests'): number => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number; it is ${values[name]}`)
  return value
}

const wanted = { root: fileURLToPath(new URL('../..', import.meta.url)), only: positionals }
const note = ({ mutant, verdict, by }: Verdict): void => {
  if (verdict !== 'discarded') console.log(`${verdict}: ${shown(mutant)}${by === null ? '' : `\n    by ${by}`}`)
}

if (values.list) for (const mutant of possible(wanted)) console.log(shown(mutant))
else {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  const verdicts = await mutate({
    ...wanted,
    count: whole('count'),
    seed: whole('seed'),
    workers: whole('workers'),
    filesMax: whole('tests'),
    onlyTests: values['only-tests'],
    note,
    stop: stopping.signal,
  })
  const of = (verdict: Verdict['verdict']) => verdicts.filter((one) => one.verdict === verdict)
  const [noticed, survived] = [of('noticed').length, of('survived')]
  console.log(survived.map(({ mutant }) => `\nsurvived: ${shown(mutant)}`).join(''))
  const share = ((100 * noticed) / Math.max(1, noticed + survived.length)).toFixed(1)
  console.log(
    `${noticed} noticed, ${survived.length} survived, ${of('discarded').length} discarded: ${share} % noticed`,
  )
}
