/** What is kept of the verdict of an audit, and when nothing is. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepVerdict } from '../../src/cli/audit/audit.ts'
import { AUDIT_READER, auditFacts, lastAudit, saveAudit } from '../../src/cli/audit/lastAudit.ts'
import type { Verdict } from '../../src/cli/audit/text.ts'
import { VERSION } from '../../src/cli/version.ts'
import { positionIn } from '../../src/persistence/landmarks.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { memoryLog } from '../support/lab.ts'

const verdict = (more: Partial<Verdict> = {}): Verdict => ({
  sources: ['the database', 'a ledger'],
  figures: { rows: 12 } as Verdict['figures'],
  invariants: 57,
  unjudged: [],
  violations: [],
  seconds: 1.26,
  memoryMb: 99,
  ...more,
})
const violated = (invariant: string) => ({ invariant, meaning: '', found: '', proof: [] })

test('it names each violated invariant once, no more than twenty, and cuts what is long', () => {
  const names = Array.from({ length: 21 }, (_, at) => `S${at}`)
  const sources = [...names, 'last']
  expect(auditFacts(verdict({ violations: [...names, ...names].map(violated), sources }), 7)).toEqual({
    at: 7,
    version: VERSION,
    invariants: 57,
    violations: 42,
    violated: names.slice(0, 20),
    rows: 12,
    seconds: 1.3,
    sources: names.slice(0, 20),
  })
  const long = (length: number) => auditFacts(verdict({ sources: ['x'.repeat(length)] }), 7).sources
  expect([long(300), long(301)]).toEqual([['x'.repeat(300)], ['x'.repeat(300)]])
})
test('the last one is told, as it was kept; it is no position', async () => {
  const { journal } = memoryStore()
  expect(await lastAudit(journal)).toBeNull()
  await saveAudit(journal, auditFacts(verdict(), 1))
  const second = auditFacts(verdict({ violations: [violated('S1')] }), 2)
  await saveAudit(journal, second)
  expect(await lastAudit(journal)).toEqual(second)
  expect(positionIn(await journal.checkpoint(AUDIT_READER))).toBeUndefined()
})
const KEPT = auditFacts(verdict(), 1)
test.each<readonly [what: string, text: string]>([
  ['nothing', ''],
  ['a number', '17.3'],
  ['half a document', '{"at":'],
  ['a document without the rest', '{"at":"yesterday"}'],
  ...Object.keys(KEPT).map((name) => [`one without ${name}`, JSON.stringify({ ...KEPT, [name]: null })] as const),
])('what another release has written counts as none: %s', async (_, text) => {
  const { journal } = memoryStore()
  await journal.saveCheckpoint(AUDIT_READER, text)
  expect(await lastAudit(journal)).toBeNull()
})
test('where it cannot be kept, the log says why; of a file or of topics alone there is no place for it', async () => {
  const log = memoryLog()
  const data = join(import.meta.dirname, 'nowhere')
  const kafka = { brokers: ['k:1'], prefix: '' } as never
  const options = (more: object) => ({
    config: { database: null, data, kafka: null },
    folder: true,
    file: null,
    topicFile: null,
    hostData: [],
    clients: [],
    now: null,
    stopped: true,
    settled: false,
    slackMs: 0,
    skewMs: 0,
    ...more,
  })
  await keepVerdict(options({ file: 'journal.ndjson' }), verdict(), log)
  await keepVerdict(options({ folder: false, config: { database: null, data, kafka } }), verdict(), log)
  expect(log.said).toEqual([])
  await keepVerdict(options({}), verdict(), log)
  expect(log.said).toEqual([
    { level: 'warn', detail: { reason: expect.stringContaining('holds no store') }, message: 'audit.notRecorded' },
  ])
})
