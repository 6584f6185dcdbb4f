/** `audit` of files: which moment deadlines are judged by, what lies beside the journal, and which file is refused. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawTopics } from '../audit/topicsOf.ts'
import { playScenario } from '../golden/scenario.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('audit-files')
afterAll(folder.remove)
const at = (name: string): string => join(folder.path, name)
const file = (name: string, values: readonly unknown[]): string => {
  writeFileSync(at(name), values.map((value) => `${JSON.stringify(value)}\n`).join(''))
  return at(name)
}
const audit = async (line: string) => {
  const { code, out, err } = await commandHere(['audit', '--file', ...line.split(' ')])
  return { code, err, out, violated: [...out.matchAll(/^VIOLATED ([^:]+)/gm)].map(([, name]) => name) }
}
/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = 180_000
let rows: Awaited<ReturnType<typeof playScenario>>
beforeAll(async () => {
  rows = await playScenario()
  file('journal', rows)
}, LIMIT)

/** The last bind is open: its deadline is at 01:09:24.031, and a reaction may come 30 s later. */
test.each([
  ['', []],
  [' --now 2026-01-01T01:09:54Z', []],
  [' --now 2026-01-01T01:09:55Z --slack 31', []],
  [' --now 2026-01-01T01:09:25Z --slack 0', ['L1']],
  [' --stopped --settled', ['L5']],
])('the journal of a life, judged with "%s"', { timeout: LIMIT }, async (more, violated) => {
  const found = await audit(`${at('journal')}${more}`)
  expect(found).toMatchObject({ code: violated.length === 0 ? 0 : 7, err: '', violated })
  expect(found.out).toMatch(violated.length === 0 ? /^clean: \d+ invariants hold/m : /^1 violations of 1 invariants/m)
})
test('what is not judged is said, with the option that would give what is missing', { timeout: LIMIT }, async () => {
  const { out } = await audit(at('journal'))
  expect(out).toMatch(/^not judged without the topics \(--kafka-brokers, --topics\): PUBLISHED-1, PUBLISHED-2/m)
  expect(out).toMatch(/^not judged without the ledgers of hosts \(--host-data\): S5 disk, S8, S6$/m)
  const topics = file('topics', rawTopics(rows))
  expect((await audit(`${at('journal')} --topics ${topics}`)).out).not.toMatch(/^not judged without the topics/m)
  const hosts = ['h1', 'h2'].map((name) => {
    mkdirSync(at(name))
    file(join(name, 'ledger.jsonl'), [{ ledger: 1, host: name }])
    return ` --host-data ${at(name)}`
  })
  const caller = { projectId: 'p1', isAdmin: true, isService: false }
  const client = file('client', [{ act: 'get', status: 200, caller, shown: [], from: 0, to: 1 }])
  const found = await audit(`${at('journal')} --client ${client}${hosts.join('')}`)
  expect(found).toMatchObject({ code: 0, violated: [] })
  expect(found.out).toMatch(/^hosts +2 ledgers$/m)
  expect(found.out).toMatch(/^clients +1 requests/m)
})
test('a topic that lacks what the journal holds is found, as a document too', { timeout: LIMIT }, async () => {
  const half = file(
    'half',
    rawTopics(rows).filter(({ topic }) => topic !== 'profile.events.v1'),
  )
  const { code, out } = await audit(`${at('journal')} --json --topics ${half}`)
  const { figures, violations } = JSON.parse(out) as { figures: { rows: number }; violations: readonly unknown[] }
  expect([code, figures.rows]).toEqual([7, rows.length])
  expect(violations.length).toBeGreaterThan(0)
})
test.each([
  [
    'journal that is none',
    () => file('bad', [{}]),
    '',
    'bad: line 1: key: Invalid key: Expected "key" but received undefined',
  ],
  ['journal that is not there', () => at('nothing'), '', 'ENOENT: no such file or directory'],
  ['record of a client that is none', () => at('journal'), ' --client BAD', 'BAD'],
])('a %s ends it with 1', { timeout: LIMIT }, async (_, path, more, says) => {
  expect(await audit(`${path()}${more}`)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(says) })
})
