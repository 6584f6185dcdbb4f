/** What the process knows of itself, and the archive of facts for maintainers. These paths are an extension. */
import { CALLER_HEADERS } from '../identity.ts'
import { time } from '../render.ts'
import { type Route, answer, route } from '../route.ts'
import type { AuditFacts, SystemFacts, WriteTimes } from '../system.ts'
import { System } from '../systemSchemas.ts'
import { latestMinor, MAJOR } from '../versions.ts'

const writesBody = ({ count, since, p50, p90, p99, max }: WriteTimes) => ({
  count,
  since: time(since),
  p50_ms: p50,
  p90_ms: p90,
  p99_ms: p99,
  max_ms: max,
})
const auditBody = ({ at, ...audit }: AuditFacts) => ({ at: time(at), ...audit })
const body = (facts: SystemFacts, additive: boolean) => {
  const { toldAt, process, versions, store, neighbours, configuration, consumers, writes, audit, auditProblem } = facts
  return {
    told_at: time(toldAt),
    process: {
      program: process.program,
      machine: process.machine,
      pid: process.pid,
      started_at: time(process.startedAt),
    },
    versions: { ...versions, api: { min: `${MAJOR}.0`, max: `${MAJOR}.${latestMinor(additive)}` } },
    store: { kind: store.kind, power_loss: store.powerLoss },
    neighbours,
    configuration,
    consumers: {
      bus: consumers.bus,
      lags: consumers.lags,
      lags_left_out: consumers.leftOut,
      problem: consumers.problem,
    },
    journal_writes: writes === null ? null : writesBody(writes),
    last_audit: audit === null ? null : auditBody(audit),
    last_audit_problem: auditProblem,
  }
}

const system = route({
  method: 'GET',
  path: '/v2/system',
  rule: 'cyborg:system:get',
  evenHindered: true,
  docs: {
    summary:
      'What the process that answers knows of itself: versions, neighbours, the configuration in force without secrets, the lag of its consumers, the time that its writes to the journal take, and the last audit that was recorded.',
    answers: { 200: System },
  },
  handle: ({ system: port, options }) =>
    answer(port.facts(), 200, (facts) => body(facts, options.additiveMicroversion)),
})

const bundle = route({
  method: 'GET',
  path: '/v2/system/support_bundle',
  rule: 'cyborg:system:support_bundle',
  evenHindered: true,
  waits: true,
  docs: {
    summary:
      'The same archive as of `accelerando support-bundle`, made by the process that answers with the rights of the caller: at most one at a time. What is too large or takes too long is named in its manifest instead.',
    answers: { 200: null },
    refusals: [429],
    file: { type: 'application/gzip', about: 'A tar archive of text files, without secrets.' },
  },
  handle: async ({ system: port, header }) => {
    const identity = Object.fromEntries(
      CALLER_HEADERS.flatMap((name): [string, string][] => {
        const value = header(name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const made = await port.supportBundle(identity)
    return made.ok ? { ok: true, status: 200, file: made.value } : made
  },
})

export const systemRoutes: readonly Route[] = [system, bundle]
