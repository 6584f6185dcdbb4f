/**
 * `npm run sim -- --seeds N --first-seed S`, or `--seed S` to replay one and read its story; `--plant NAME` breaks something on
 * purpose and fails when no seed finds it.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { BITES, type Bite } from './lies.ts'
import { type Played, play } from './simulate.ts'

type Brief = Omit<Played, 'story' | 'evidence'>

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    'first-seed': { type: 'string', default: '1' },
    seed: { type: 'string' },
    plant: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
})

const planted: Bite | null = BITES.find((bite) => bite === values.plant) ?? null
if (values.plant !== undefined && planted === null)
  throw new Error(`--plant: must be one of ${BITES.join(', ')}; it is ${values.plant}`)

/** A worker plays so many seeds and ends, so that what the engine keeps of dead actors does not pile up. */
const CHUNK = 20

const brief = ({ story: _story, evidence: _evidence, ...rest }: Played): Brief => rest
const describe = ({ seed, violations }: Brief): string =>
  violations.map(({ invariant, meaning, found }) => `seed ${seed}: ${invariant} (${meaning}): ${found}`).join('\n')

const inWorker = (seeds: readonly number[], note: (played: Brief) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: seeds, argv: process.argv.slice(2) })
    worker.on('message', note)
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })

const many = async (first: number, count: number, jobs: number): Promise<readonly Brief[]> => {
  const chunks = Array.from({ length: Math.ceil(count / CHUNK) }, (_, at) =>
    Array.from({ length: Math.min(CHUNK, count - at * CHUNK) }, (_one, inside) => first + at * CHUNK + inside),
  )
  const played: Brief[] = []
  const note = (one: Brief): void => {
    played.push(one)
    if (one.violations.length > 0) console.log(describe(one))
  }
  const next = async (): Promise<void> => {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) await inWorker(chunk, note)
  }
  await Promise.all(Array.from({ length: jobs }, next))
  return played
}

const sum = (items: readonly Brief[], of: (one: Brief) => number): number =>
  items.reduce((total, one) => total + of(one), 0)

const main = async (): Promise<void> => {
  const began = performance.now()
  const one = values.seed === undefined ? null : await play(Number(values.seed), planted)
  if (one) console.log(one.story.join('\n'))
  if (one && one.violations.length > 0) console.log(describe(one))
  const played = one
    ? [brief(one)]
    : await many(Number(values['first-seed']), Number(values.seeds), Number(values.jobs))
  const minutes = (performance.now() - began) / 60_000
  const failed = played.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed)
  if (failed.length > 0) console.log(`replay with: ${failed.map((seed) => `npm run sim -- --seed ${seed}`).join('; ')}`)
  const violations = sum(played, (each) => each.violations.length)
  console.log(
    `${played.length} seeds, ${sum(played, ({ requests }) => requests)} requests, ${sum(played, ({ faults }) => faults)} faults, ${violations} violations, ${(played.length / minutes).toFixed(0)} seeds/min`,
  )
  if (planted) {
    console.log(`planted: ${planted}; found by ${failed.length} of ${played.length} seeds`)
    if (failed.length === 0) process.exitCode = 1
    return
  }
  if (violations > 0 || (!one && played.length < Number(values.seeds))) process.exitCode = 1
}

if (isMainThread) await main()
else for (const seed of workerData as readonly number[]) parentPort!.postMessage(brief(await play(seed, planted)))
