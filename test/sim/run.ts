/**
 * `npm run sim -- --seeds N --first-seed S`, or `--seed S` to replay one and print its log; `--plant NAME` breaks
 * something on purpose and fails when no seed finds it; `--sagas` plays every operation with a fault in each of its
 * steps.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { BITES, type Bite } from './lies.ts'
import { SAGAS, sagaOf } from './sagaTable.ts'
import { type Case, casesOf, playSaga } from './sagas.ts'
import { type Played, play } from './simulate.ts'
import { HARMS } from './tap.ts'

type Brief = Omit<Played, 'story' | 'evidence'>

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    'first-seed': { type: 'string', default: '1' },
    seed: { type: 'string' },
    plant: { type: 'string' },
    sagas: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
})

const planted: Bite | null = BITES.find((bite) => bite === values.plant) ?? null
if (values.plant !== undefined && planted === null)
  throw new Error(`--plant: must be one of ${BITES.join(', ')}; it is ${values.plant}`)

/**
 * A worker plays so many and ends, so that what the engine keeps of dead actors does not pile up. Not fewer, as a new
 * worker needs twice as long for its first seeds, until their code is compiled.
 */
const PLAYS_OF_WORKER = 400
const YOUNG_MB = 64
/** Who waits for many seeds is told how far it is each time so many were played. */
const PLAYED_NOTED = 500

const brief = ({ story: _story, evidence: _evidence, ...rest }: Played): Brief => rest
const describe = ({ seed, violations }: Brief): string =>
  violations.map(({ invariant, meaning, found }) => `seed ${seed}: ${invariant} (${meaning}): ${found}`).join('\n')

type Item = number | Case
const openWorker = (note: (result: never) => void) => {
  const worker = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  let played = Promise.withResolvers<void>()
  worker.on('message', (result) => {
    note(result as never)
    played.resolve()
  })
  worker.on('error', (error) => played.reject(error))
  worker.on('exit', (code) => played.reject(new Error(`a worker ended with code ${code} in the middle of its work`)))
  return {
    play: (item: Item): Promise<void> => {
      played = Promise.withResolvers<void>()
      worker.postMessage(item)
      return played.promise
    },
    end: () => worker.terminate(),
  }
}
const shared = async (items: Item[], jobs: number, note: (result: never) => void): Promise<void> => {
  const one = async (): Promise<void> => {
    const worker = openWorker(note)
    for (let left = PLAYS_OF_WORKER; left > 0 && items.length > 0; left--) await worker.play(items.shift()!)
    await worker.end()
  }
  const lane = async (): Promise<void> => {
    while (items.length > 0) await one()
  }
  await Promise.all(Array.from({ length: jobs }, lane))
}

const many = async (played: Brief[], first: number, count: number, jobs: number): Promise<void> => {
  const seeds = Array.from({ length: count }, (_, at) => first + at)
  await shared(seeds, jobs, (one: Brief) => {
    played.push(one)
    if (played.length % PLAYED_NOTED === 0) console.error(`${played.length} of ${count} seeds`)
    if (one.violations.length > 0) console.log(describe(one))
  })
}

/** Each is played once to count its steps, and then once for each step and harm. */
const sagas = async (jobs: number): Promise<void> => {
  const began = performance.now()
  const cases: Case[] = []
  const bad: string[] = []
  for (const saga of SAGAS) {
    const { name } = saga
    const { steps, wrong } = await playSaga(saga, null)
    bad.push(...wrong.map((line) => `${name}: ${line}`))
    if (wrong.length > 0) console.log(bad.at(-1))
    cases.push(...casesOf({ saga: name, steps }))
  }
  let played = 0
  await shared([...cases], jobs, (lines: readonly string[]) => {
    played++
    bad.push(...lines)
    if (lines.length > 0) console.log(lines.join('\n'))
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(
    `${SAGAS.length} sagas, ${cases.length / HARMS.length} steps, ${played} of ${cases.length} cases, ${bad.length} violations, ${seconds} s`,
  )
  if (bad.length > 0 || played < cases.length) process.exitCode = 1
}
const sagaLines = async (one: Case): Promise<readonly string[]> => {
  const { wrong, harmed } = await playSaga(sagaOf(one.saga), one)
  return wrong.map((line) => `${one.saga}, step ${one.at} (${harmed?.step.kind ?? '?'}) ${one.harm}: ${line}`)
}

const sum = (items: readonly Brief[], of: (one: Brief) => number): number =>
  items.reduce((total, one) => total + of(one), 0)

const summary = (played: readonly Brief[], wanted: number, began: number): void => {
  const minutes = (performance.now() - began) / 60_000
  const failed = played.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed)
  if (failed.length > 0) console.log(`replay with: ${failed.map((seed) => `npm run sim -- --seed ${seed}`).join('; ')}`)
  const violations = sum(played, (each) => each.violations.length)
  console.log(
    `${played.length} seeds, ${sum(played, ({ requests }) => requests)} requests, ${sum(played, ({ faults }) => faults)} faults, ${sum(played, ({ parts }) => parts)} parts and ${sum(played, ({ vgpus }) => vgpus)} vGPUs given, ${violations} violations, ${(played.length / minutes).toFixed(0)} seeds/min`,
  )
  if (planted) console.log(`planted: ${planted}; found by ${failed.length} of ${played.length} seeds`)
  const bad = planted ? failed.length === 0 : violations > 0 || played.length < wanted
  if (bad) process.exitCode = 1
}
const told = async (seed: number): Promise<Brief> => {
  const one = await play(seed, planted)
  console.log(one.story.join('\n'))
  if (one.violations.length > 0) console.log(describe(one))
  return brief(one)
}
const seeds = async (): Promise<void> => {
  const began = performance.now()
  if (values.seed !== undefined) return summary([await told(Number(values.seed))], 1, began)
  const [played, wanted]: [Brief[], number] = [[], Number(values.seeds)]
  // who stops it learns what was played until then
  process.once('SIGTERM', () => {
    summary(played, wanted, began)
    process.exit()
  })
  await many(played, Number(values['first-seed']), wanted, Number(values.jobs))
  summary(played, wanted, began)
}

const work = async (item: Item): Promise<void> =>
  parentPort!.postMessage(typeof item === 'number' ? brief(await play(item, planted)) : await sagaLines(item))

if (!isMainThread) parentPort!.on('message', (item: Item) => void work(item))
else if (values.sagas) await sagas(Number(values.jobs))
else await seeds()
