/** Evidence as an operator would have it: files, folders, a store. And the command over it. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Evidence, HostTrace, TopicMessage } from '../../src/audit/evidence.ts'
import { viewRowsOf } from '../../src/actors/entities.ts'
import { type ViewName, put } from '../../src/actors/runtime/views.ts'
import type { Raw } from '../../src/bus/kafka/read.ts'
import { writeJournal } from '../../src/cli/audit/files.ts'
import type { Verdict } from '../../src/cli/audit/text.ts'
import { effectsPath } from '../../src/drivers/simulated/effects.ts'
import type { Entry } from '../../src/host/entry.ts'
import { type StoreConfig, openStore } from '../../src/persistence/open.ts'
import { runProgram } from '../support/program.ts'

const run = promisify(execFile)

const lines = (path: string, items: readonly unknown[]): string => {
  writeFileSync(path, items.map((item) => `${JSON.stringify(item)}\n`).join(''))
  return path
}
export const rawOf = ({ id, type, position, time, body, key, ...place }: TopicMessage): Raw => {
  const envelope = {
    specversion: '1.0',
    id,
    source: '/control',
    type,
    subject: key,
    time: new Date(time!).toISOString(),
    datacontenttype: 'application/json',
    ...(position === null ? {} : { position }),
    data: body,
  }
  return { ...place, key, value: body === null ? null : JSON.stringify(envelope), time: time! }
}

/** The ledger that leads to these numbers on the disk; what was done on the hardware is in no ledger. */
const writeHost = (dir: string, { name, steps, prepared = [], loaded = {} }: HostTrace): string => {
  mkdirSync(join(dir, 'drivers'), { recursive: true })
  const entries = steps.flatMap((step): readonly Entry[] =>
    step.did === 'noted'
      ? [
          {
            slot: step.slot,
            number: step.number,
            type: step.preparedFor === null ? 'ReleaseSlot' : 'PrepareSlot',
            driver: 'simulated_driver',
            deployable: 'd',
            deployableUuid: step.slot,
            handle: '',
            ...(step.preparedFor ? { arq: step.preparedFor } : {}),
            ...(step.preparedFor === undefined ? {} : { result: { status: 'done' as const } }),
            state: step.done ? 'done' : 'in-hand',
            startedAt: 0,
            finishedAt: 0,
            sent: false,
          },
        ]
      : [],
  )
  lines(join(dir, 'ledger.jsonl'), [{ ledger: 1, host: name }, ...entries])
  const slots = Object.fromEntries(prepared.map((slot) => [slot, { deployable: 'd', info: '{}' }]))
  writeFileSync(effectsPath(join(dir, 'drivers'), 'simulated_driver'), JSON.stringify({ prepared: slots, loaded }))
  return dir
}

/** A store with this journal and these views. */
export const writeStore = async (config: StoreConfig, { journal, views = {} }: Pick<Evidence, 'journal' | 'views'>) => {
  const store = await openStore(config)
  await store.bulkLoad(journal.map((row) => ({ rows: [{ ...row, position: undefined }], changes: [] })))
  await store.rebuildViews(viewRowsOf)
  const changes = (Object.keys(views) as ViewName[]).flatMap((name) =>
    (views[name] ?? []).map((row) => put(name, row as never)),
  )
  if (changes.length > 0) await store.bulkLoad([{ rows: [], changes }])
  await store.close()
}

/** The arguments that show the command all of the evidence that can be written down. */
export const writeEvidence = async (dir: string, evidence: Evidence): Promise<readonly string[]> => {
  mkdirSync(dir, { recursive: true })
  const journal = join(dir, 'journal.ndjson')
  await writeJournal(journal, evidence.journal)
  const hosts = (evidence.hosts ?? []).map((trace) => writeHost(join(dir, trace.name), trace))
  const messages = evidence.topics?.messages.map(rawOf)
  return [
    ...['--file', journal, '--now', new Date(evidence.now).toISOString(), '--slack', '100000'],
    ...(messages ? ['--topics', lines(join(dir, 'topics.ndjson'), messages)] : []),
    ...(evidence.clients ? ['--client', lines(join(dir, 'clients.ndjson'), evidence.clients)] : []),
    ...hosts.flatMap((host) => ['--host-data', host]),
    ...(evidence.quiet ? ['--settled'] : []),
  ]
}

export type Audited = {
  readonly code: number | null
  readonly names: readonly string[]
  readonly said: string
  readonly complained: string
}
export const runAudit = async (...args: readonly string[]): Promise<Audited> => {
  const program = runProgram({ args: ['audit', ...args, '--json'] })
  const { code } = await program.exited
  const said = program.stdout()
  return { code, names: namesIn(code, said), said, complained: program.stderr() }
}
const namesIn = (code: number | null, said: string): readonly string[] =>
  said === '' ? [] : (JSON.parse(said) as Verdict).violations.map(({ invariant }) => invariant)

const FIXTURE = join(import.meta.dirname, '../support/fixtures/audits.fixture.ts')
/** The command over each of these, one after another in one process: to start a process takes longer than to audit. */
export const runAudits = async (dir: string, all: readonly (readonly string[])[]): Promise<readonly Audited[]> => {
  const file = join(dir, 'audits.json')
  writeFileSync(file, JSON.stringify(all.map((args) => [...args, '--json'])))
  const { stdout } = await run(process.execPath, [FIXTURE, file], { maxBuffer: 64 * 1024 * 1024 })
  const ends = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { code: number; said: string; complained: string })
  return ends.map((end) => ({ ...end, names: namesIn(end.code, end.said) }))
}
