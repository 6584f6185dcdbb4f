/** Checks after the last fault: accepted requests have their results, and all records agree with each other. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { check } from '../../src/audit/check.ts'
import type { Evidence, Records, Violation } from '../../src/audit/evidence.ts'
import { judgeHandles } from '../../src/audit/linear.ts'
import { gatherEvidence } from '../../src/cli/audit/gather.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Account } from '../kill/account.ts'
import { viewsDiffer } from '../kill/audit.ts'
import type { Cloud } from '../kill/cloud.ts'
import { allTold, fillUp, listAll } from '../kill/ending.ts'
import { type Client, stillSo } from '../kill/life.ts'
import { judgePlacement, placementSeen } from './placementJudge.ts'
import type { PlacementUse } from './placementUse.ts'
import { HOSTS } from './plan.ts'
import type { Line } from './recorded.ts'
import { tidied } from './rowsLost.ts'
import { statesDiffer } from './states.ts'
import { type Struck, outagesOf } from './struck.ts'
import type { World } from './world.ts'

/** Of deadlines in the journal: other controls leave due work alone for 3 s, and the machine has much to do. */
const SLACK_MS = 10_000
/** Between the client's clock and those of controls, which are set wrong by up to 10 s. */
const SKEW_MS = 12_000
const SETTLE_MS = 60_000
const LOOK_MS = 1000
/** Slow answers of a busy machine leave more orders of ownership possible than an operator's audit looks at. */
const LOOKS_MAX = 1_500_000
const END_MS = 10_000
/** A client that waits for the end of a lost bind gives it up after its deadline. */
const TIDY_MS = 60_000

type Audited = { readonly violations: readonly string[]; readonly evidence: Evidence }

const lineOf = ({ invariant, meaning, found, proof }: Violation): string =>
  `audit ${invariant} (${meaning}): ${found}; ${JSON.stringify(proof).slice(0, 900)}`

/** Read as objects: a run is short. */
const held = ({ journal, views, ...rest }: Records): Evidence => {
  const tables = Object.entries(views ?? {}).map(([name, rows]) => [name, [...rows]])
  const read = views ? { views: Object.fromEntries(tables) as NonNullable<Evidence['views']> } : {}
  return { ...rest, journal: [...journal], ...read }
}

/** What the database declares as lost, and when that was: it does not know that as well as who took it away. */
const lostIn = ({ losses }: World, { lost = [] }: Evidence): Pick<Evidence, 'lost'> => ({
  lost: lost.map((loss) => ({ ...loss, ...losses.findLast(({ toMs }) => toMs < loss.toMs) })),
})

const auditOnce = async (world: World, lines: readonly Line[], struck: readonly Struck[]): Promise<Audited> => {
  const { url, broker, prefix, folder } = world
  const client = join(folder, 'client.ndjson')
  writeFileSync(client, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const gathered = await gatherEvidence(
    {
      config: { database: { url: url() }, data: folder, kafka: { ...broker.options, prefix } },
      folder: false,
      file: null,
      topicFile: null,
      hostData: HOSTS.map((name) => join(folder, 'hosts', name)),
      clients: [client],
      now: null,
      stopped: false,
      settled: true,
      slackMs: SLACK_MS,
      skewMs: SKEW_MS,
    },
    silent,
  )
  const evidence = held(gathered.evidence)
  const placement = world.openstack ? { placement: await placementSeen(world.openstack) } : {}
  const judged = { ...evidence, pauses: outagesOf(struck), ...lostIn(world, evidence), ...placement }
  return { evidence: judged, violations: [...check(judged).map(lineOf), ...statesDiffer(judged)] }
}

/** Repeats the audit for a while: unfinished work ends soon, and a real violation remains. */
const auditSettled = async (world: World, lines: readonly Line[], struck: readonly Struck[]): Promise<Audited> => {
  const until = Date.now() + SETTLE_MS
  for (;;) {
    const audited = await auditOnce(world, lines, struck)
    if (audited.violations.length === 0 || Date.now() > until) return audited
    await sleep(LOOK_MS)
  }
}

const ended = async ({ controls, hosts }: World, account: Account): Promise<void> => {
  for (const member of [...controls, ...hosts]) {
    if (member.running() === null) {
      account.contradictions.push(`${member.name} does not run any more`)
      continue
    }
    const { code, tookMs } = await member.end('SIGTERM')
    if (code !== 0 || tookMs > END_MS)
      account.contradictions.push(`SIGTERM ended ${member.name} with ${code} after ${tookMs.toFixed(0)} ms`)
  }
}

const viewsOf = async ({ url }: World): Promise<readonly string[]> => {
  const store = await openStore({ kind: 'postgres', url: url(), sole: true })
  try {
    return await viewsDiffer(store)
  } finally {
    await store.close()
  }
}

export type Scene = {
  readonly world: World
  readonly client: Client
  readonly cloud: Cloud
  readonly lines: readonly Line[]
  readonly struck: readonly Struck[]
  /** Null: there is no Placement. */
  readonly use: PlacementUse | null
  readonly say: (line: string) => void
}
/** Returns the violations found in the records. The account of the client is judged elsewhere. */
export const settle = async ({ world, client, cloud, lines, struck, use, say }: Scene): Promise<readonly string[]> => {
  const { account, api, nova } = client
  nova.steady()
  await tidied({ world, client, cloud, account, say }, TIDY_MS)
  await allTold(client)
  const filled = await fillUp(client, cloud, () => true)
  await allTold(client)
  for (const life of account.lives) if (life.leaveSentAt === null) await stillSo(client, life)
  account.listedAtEnd = await listAll(api)
  say(`settled: ${filled} binds more filled every place`)
  const differs = world.openstack && use ? await judgePlacement(world.openstack, client, use) : []
  if (use) say(`Placement: ${world.openstack?.asked.length} requests, ${differs.length} differences`)
  const { violations, evidence } = await auditSettled(world, lines, struck)
  say(
    `audited: ${evidence.journal.length} rows, ${evidence.topics?.messages.length ?? 0} messages, ` +
      `${evidence.hosts?.length ?? 0} hosts, ${evidence.clients?.length ?? 0} requests of the client`,
  )
  const handles = judgeHandles(evidence, LOOKS_MAX)
  const undecided = handles.filter(({ judged }) => judged.verdict === 'undecided')
  say(`ownership of ${handles.length} handles judged by the client's record, ${undecided.length} undecided`)
  await ended(world, account)
  const unfit = handles.flatMap(({ handle, judged: { verdict } }) => {
    if (verdict === 'fits') return []
    const why = verdict === 'impossible' ? 'no order explains what clients saw' : 'it could not be judged'
    return [`ownership of handle ${handle}: ${why}`]
  })
  return [...violations, ...differs, ...unfit, ...(await viewsOf(world))]
}
