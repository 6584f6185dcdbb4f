/**
 * What `audit` prints of files, word for word: which moment deadlines are judged by, and what lies beside the journal.
 * `-u` where a change is meant.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rawTopics } from '../audit/topicsOf.ts'
import { playScenario } from '../golden/scenario.ts'
import { tempFolder } from '../support/program.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('audit-files')
afterAll(folder.remove)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const linesOf = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')
const hostAt = (name: string): string => {
  mkdirSync(join(folder.path, name))
  file(join(name, 'ledger.jsonl'), linesOf([{ ledger: 1, host: name }]))
  return join(folder.path, name)
}

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
/** The last bind is open: its deadline is at 01:09:24.031, and a reaction may come 30 s later. */
test('the journal of a life', LIMIT, async () => {
  const rows = await playScenario()
  const journal = file('journal.ndjson', linesOf(rows))
  const { run: ran, text } = openTranscript(
    {},
    [
      [folder.path, '<folder>'],
      [/\(\d+\.\d s, \d+ MB\)/g, '(<amount>)'],
      [/"(seconds|memoryMb)":[\d.]+/g, '"$1":<amount>'],
    ],
    [],
  )
  const run = (more: string) => ran(`audit --file ${journal}${more}`)
  await run('')
  for (const moment of ['09:54Z', '09:55Z']) await run(` --now 2026-01-01T01:${moment}`)
  await run(' --now 2026-01-01T01:09:55Z --slack 31')
  await run(' --now 2026-01-01T01:09:25Z --slack 0')
  await run(' --now 2026-01-01T01:09:24Z --slack 0')
  await run(' --stopped --settled')
  await run(' --json')
  const topics = rawTopics(rows)
  await run(` --topics ${file('topics', linesOf(topics))}`)
  const half = topics.filter(({ topic }) => topic !== 'profile.events.v1')
  await run(` --json --topics ${file('half', linesOf(half))}`)
  const caller = { projectId: 'p1', isAdmin: true, isService: false }
  const asked = { act: 'get', status: 200, caller, shown: [] }
  const at = Date.parse('2026-01-01T00:00:00Z')
  const clients = [
    file('one', linesOf([{ ...asked, from: 0, to: 1 }])),
    file('two', linesOf([{ ...asked, fromMs: at, toMs: at }])),
  ]
  await run(` --client ${clients[0]} --client ${clients[1]} --host-data ${hostAt('h1')} --host-data ${hostAt('h2')}`)
  await run(` --client ${file('three', '{}\n')}`)
  await ran(`audit --file ${file('bad', '{}\n')}`)
  await ran(`audit --file ${join(folder.path, 'nothing')}`)
  await expect(text()).toMatchFileSnapshot('golden/auditFiles.txt')
})
