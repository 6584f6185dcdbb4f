/** Evidence of a whole simulated life that breaks no invariant; forgeries change copies of it. */
import type { Evidence } from '../../src/audit/evidence.ts'
import { play } from '../sim/simulate.ts'
import { lookedFor } from './programForgeries.ts'
import { topicsOf } from './topicsOf.ts'

const SEEDS = Array.from({ length: 16 }, (_, at) => 14 + at)
const programs = ({ journal }: Evidence): boolean =>
  journal.some(({ events }) =>
    (events as readonly { readonly type: string }[]).some(({ type }) => type === 'Programmed'),
  )
const cleans = ({ journal }: Evidence): boolean =>
  journal.some(({ events }) =>
    events.some(
      (event) => 'cleaned' in event && (event.cleaned as { readonly exitCode: unknown } | null)?.exitCode === 0,
    ),
  )
const preparesLoaded = (evidence: Evidence): boolean => {
  const wanted = lookedFor(evidence)
  return (evidence.hosts ?? []).some(({ steps }) =>
    steps.some((step) => step.did === 'prepare' && wanted.has(`${step.slot} ${step.number}`)),
  )
}
/**
 * A life in which an operator programs a card, a slot is prepared for an image, and a host cleans a handle; whose
 * controls have right clocks, as rules about terms compare moments; and whose database loses nothing that it has
 * acknowledged: what is said to be lost is not judged, and not known to the command.
 */
const wholeLife = async (): Promise<Evidence> => {
  for (const seed of SEEDS) {
    const { evidence, haveStrayed } = await play(seed)
    const isWhole = evidence.lost?.length === 0 && !haveStrayed
    if (isWhole && programs(evidence) && cleans(evidence) && preparesLoaded(evidence)) return evidence
  }
  throw new Error(`each of the seeds ${SEEDS.join(', ')} loses rows, has wrong clocks, or programs or cleans nothing`)
}
const lived = async (): Promise<Evidence> => {
  const evidence = await wholeLife()
  const journal = evidence.journal.map((row, at) => ({ ...row, position: String(at + 1) }))
  return { ...evidence, journal, topics: topicsOf(journal) }
}
let sound: Promise<Evidence> | null = null
/** Nobody touched it; the topics are what the journal says to others. Lived once: whoever forges changes a copy. */
export const soundEvidence = (): Promise<Evidence> => (sound ??= lived())
