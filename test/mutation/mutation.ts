/** A seeded mutation test: small faults are planted in copies of the program, and its tests are to notice them. */
import { join, matchesGlob } from 'node:path'
import { GENERATED } from '../tidy/rules.ts'
import { readFolder } from '../tidy/source.ts'
import { type Covers, type Recording, coverageOf, keptRecording, recordCoverage, recordedTimes } from './coverage.ts'
import { type Equivalent, isKnown } from './equivalent.ts'
import { type Judge, type Verdict, judged } from './judge.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { mentionsIn } from './mentions.ts'
import { loadersOf, nearestTests, testFilter } from './nearest.ts'
import { type Stratum, strataOf } from './sample.ts'
import { type Tests, type Times, makeTests } from './tests.ts'
import { type Trees, makeTrees } from './tree.ts'

export type Wanted = {
  readonly root: string
  readonly count: number
  readonly seed: number
  /** Files, folders or patterns; a file may name a line: `src/clock.ts:12`. All of `src` when there is none. */
  readonly only: readonly string[]
  readonly workers: number
  readonly filesMax: number
  readonly budgetMs: number
  /** All tests are run once before, to know which of them run what. */
  readonly coverage: boolean
  /** Where the recording is kept for further samples; null: it is not. */
  readonly coverageFile: string | null
  readonly equivalent: readonly Equivalent[]
  readonly note: (verdict: Verdict) => void
  readonly warn: (line: string) => void
  readonly stop: AbortSignal
}

const isIn = (only: readonly string[], { path, line }: Mutant): boolean =>
  only.length === 0 ||
  only.some((one) => {
    const [name, at] = one.split(':')
    const there = path === name || path.startsWith(`${name!.replace(/\/$/, '')}/`) || matchesGlob(path, name!)
    return there && (at === undefined || Number(at) === line)
  })

/** All that may be judged: neither generated nor known to change nothing. */
export const possible = ({ root, only, equivalent }: Pick<Wanted, 'root' | 'only' | 'equivalent'>): readonly Mutant[] =>
  readFolder(root, 'src')
    .filter(({ path, text }) => !GENERATED.path.test(path) && !text.split('\n')[0]!.includes(GENERATED.mark))
    .flatMap(({ path, text }) =>
      mutantsOf(path, text).filter((mutant) => isIn(only, mutant) && !isKnown(equivalent, mutant, text)),
    )

type Progress = Stratum & { next: number; counted: number; running: number }
/**
 * From the room that has the smallest part of its share, so that a sample that is cut off is fair to all rooms. Never
 * starts more in a room than are still wanted there, so that the same mutants are judged however the workers are timed.
 */
const take = (rooms: readonly Progress[]): readonly [Progress, Mutant] | null => {
  const part = ({ counted, running, wanted }: Progress): number => (counted + running) / wanted
  const [room] = rooms
    .filter((one) => part(one) < 1 && one.next < one.queue.length)
    .toSorted((one, other) => part(one) - part(other))
  if (!room) return null
  room.running++
  return [room, room.queue[room.next++]!]
}

/** These come before the files that speak of the place. */
const NEAREST_FIRST = 2
/** Quick, and they notice much of what they load: they are asked next. */
const WIDE: readonly string[] = [
  'test/golden/answers.test.ts',
  'test/cli/livedCloud.test.ts',
  'test/cli/oneService.test.ts',
]

/**
 * Never asked, since they would only hold the sample up: they install clients, start whole clouds, wait for databases
 * that are killed, or try the mutation test itself. A test that needs more than `tests.ts` allows is left out when that
 * shows, which costs half a minute each time.
 */
const NOT_ASKED = [
  'test/clients/**',
  'test/mutation/**',
  'test/rig/**',
  'test/sim/bites.test.ts',
  'test/persistence/{failover,outage,pglite,soleWriter}.test.ts',
]

type Config = { readonly INCLUDE: readonly string[]; readonly EXCLUDE: readonly string[] }
const nearestOf = async (root: string, covers: Covers): Promise<Judge['nearest']> => {
  const { INCLUDE: include, EXCLUDE: exclude } = (await import(join(root, 'vitest.config.ts'))) as Config
  const sources = ['src', 'test', 'bin', 'infra'].flatMap((folder) => {
    try {
      return readFolder(root, folder)
    } catch {
      return []
    }
  })
  const loaders = loadersOf(sources)
  const isTest = testFilter(include, [...exclude, ...NOT_ASKED])
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const mentions = mentionsIn(new Map([...texts].filter(([path]) => isTest(path))))
  return (mutant) => {
    const { path, line } = mutant
    const text = texts.get(path) ?? ''
    const near = nearestTests(loaders, path, isTest, mentions.ofFile(text))
    const reached = new Set(near)
    // a test that does not load the file can only share words with it by chance
    const speaking = mentions.ofPlace(text, line).filter((file) => reached.has(file))
    const wide = WIDE.filter((file) => reached.has(file))
    const files = [...new Set([...near.slice(0, NEAREST_FIRST), ...wide, ...speaking, ...near])]
    return files.filter((file) => covers(file, mutant))
  }
}

const recorded = ({ coverageFile, stop }: Wanted, trees: Trees): Promise<Recording> => {
  const record = () => recordCoverage(trees.copy('recorded'), stop)
  return coverageFile === null ? record() : keptRecording(coverageFile, record, stop)
}

export const mutate = async (wanted: Wanted): Promise<readonly Verdict[]> => {
  const { root, count, seed, workers, filesMax, budgetMs, stop, note, warn } = wanted
  const rooms = strataOf(possible(wanted), count, seed).map((room) => ({ ...room, next: 0, counted: 0, running: 0 }))
  const trees = makeTrees(root)
  const verdicts: Verdict[] = []
  const work = async (tree: string, tests: Tests, judge: Judge): Promise<void> => {
    for (;;) {
      const taken = stop.aborted ? null : take(rooms)
      if (!taken) {
        // another may find that what it judges does not count, and leave room for more
        if (stop.aborted || rooms.every(({ running }) => running === 0)) return
        await new Promise((resolve) => setTimeout(resolve, 200))
        continue
      }
      const [room, mutant] = taken
      const verdict = await judged(tree, mutant, tests, judge).finally(() => room.running--)
      if (stop.aborted) return
      if (verdict.verdict !== 'discarded') room.counted++
      verdicts.push(verdict)
      note(verdict)
    }
  }
  const times: Times = new Map()
  try {
    const recording = wanted.coverage ? await recorded(wanted, trees) : null
    const covers = recording === null ? () => true : coverageOf(recording, root)
    const expectedMs = recording === null ? () => 0 : recordedTimes(recording)
    const judge = { nearest: await nearestOf(root, covers), expectedMs, filesMax, budgetMs, stop }
    const copies = Array.from({ length: workers }, (_, n) => trees.copy(`mutated-${n + 1}`))
    await Promise.all(
      copies.map(async (tree) => {
        const tests = makeTests(tree, times, warn, stop)
        await work(tree, tests, judge).finally(tests.end)
      }),
    )
  } finally {
    trees.remove()
  }
  return verdicts
}
