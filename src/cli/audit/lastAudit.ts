/**
 * The result of the last audit of a store, kept in the store itself (decision 0123). It is kept as the checkpoint of a
 * reader without a position, so it holds back no archiving, and needs no table and no right of its own.
 */
import * as v from 'valibot'
import type { AuditFacts } from '../../http/system.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import type { Journal } from '../../actors/runtime/ports.ts'
import { VERSION } from '../version.ts'
import type { Verdict } from './text.ts'

export const AUDIT_READER = 'audit'
const LISTED_MAX = 20
const TEXT_MAX = 300

const Recorded = v.object({
  at: v.number(),
  version: v.string(),
  invariants: v.number(),
  violations: v.number(),
  violated: v.array(v.string()),
  rows: v.number(),
  seconds: v.number(),
  sources: v.array(v.string()),
})

const few = (texts: readonly string[]): readonly string[] =>
  texts.slice(0, LISTED_MAX).map((text) => text.slice(0, TEXT_MAX))

export const auditFacts = (verdict: Verdict, at: number): AuditFacts => ({
  at,
  version: VERSION,
  invariants: verdict.invariants,
  violations: verdict.violations.length,
  violated: few([...new Set(verdict.violations.map(({ invariant }) => invariant))]),
  rows: verdict.figures.rows,
  seconds: Math.round(verdict.seconds * 10) / 10,
  sources: few(verdict.sources),
})

/** Null: none is recorded, or only by a release that writes it in another form. */
export const lastAudit = async (journal: Pick<Journal, 'checkpoint'>): Promise<AuditFacts | null> => {
  const read = v.safeParse(Recorded, jsonIn(await journal.checkpoint(AUDIT_READER)))
  return read.success ? read.output : null
}

/** The text ends with a brace, so that nobody takes its end for a position. */
export const saveAudit = (journal: Pick<Journal, 'saveCheckpoint'>, facts: AuditFacts): Promise<void> =>
  journal.saveCheckpoint(AUDIT_READER, JSON.stringify(facts))
