/** Evidence of a whole simulated life that breaks no invariant; forgeries change copies of it. */
import type { Evidence } from '../../src/audit/evidence.ts'
import { play } from '../sim/simulate.ts'
import { topicsOf } from './topicsOf.ts'

const SEEDS = [14, 15, 16, 17, 18, 19, 20, 21] as const
/** A life whose database loses nothing that it has acknowledged: what is said to be lost is not judged, and not known to the command. */
const withoutLoss = async (): Promise<Evidence> => {
  for (const seed of SEEDS) {
    const { evidence } = await play(seed)
    if (evidence.lost?.length === 0) return evidence
  }
  throw new Error(`each of the seeds ${SEEDS.join(', ')} loses rows`)
}
const lived = async (): Promise<Evidence> => {
  const evidence = await withoutLoss()
  const journal = evidence.journal.map((row, at) => ({ ...row, position: String(at + 1) }))
  return { ...evidence, journal, topics: topicsOf(journal) }
}
let sound: Promise<Evidence> | null = null
/** Nobody touched it; the topics are what the journal says to others. Lived once: whoever forges changes a copy. */
export const soundEvidence = (): Promise<Evidence> => (sound ??= lived())
