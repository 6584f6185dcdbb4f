import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INVARIANTS } from '../../src/audit/check.ts'
import type { Evidence } from '../../src/audit/evidence.ts'
import { readJournal } from '../../src/cli/audit/files.ts'
import type { Verdict } from '../../src/cli/audit/text.ts'
import { FORGERIES } from './forgeries.ts'
import { soundEvidence } from './soundEvidence.ts'
import { type Audited, runAudit, runAudits, writeEvidence, writeStore } from './written.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'

const GOLDEN = join(import.meta.dirname, '../golden/0.1.0.ndjson')
/** What only a store can show. */
const IN_STORE = ['S13', 'I8']
/** What the command has no file for: what a driver did, what Nova wrote down. */
const UNWRITTEN = [
  'an old order is carried out',
  'a result is reported before it is noted',
  'Nova hears of it too early',
  'Nova took nothing',
  'a provider of Nova is written',
  'a provider in use is deleted',
  'a provider of another Cyborg is deleted',
  'a provider is missing',
  'a provider is renamed',
  'an inventory differs',
  'a trait is missing',
  'a cleaning did not happen',
  'a card held another image when its slot was prepared',
  'more is reserved than requests leave',
  'what is left does not cover what is allocated',
  'a request that nobody has bound stays for ever',
  'a provider of ours belongs to nothing',
]
const WRITTEN = FORGERIES.filter(([, what]) => !UNWRITTEN.includes(what))

describe('accelerando audit', () => {
  let evidence: Evidence
  const root = mkdtempSync(join(tmpdir(), 'accelerando-audit-'))
  let made = 0
  const folder = () => join(root, String(made++))
  beforeAll(embeddedStoreMade)
  beforeAll(async () => {
    const { pauses: _, unable: __, nova: ___, memories: ____, ...rest } = await soundEvidence()
    evidence = rest
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('is a program that names what was planted, and ends with 1', async () => {
    const [[name, , forge]] = WRITTEN as [(typeof WRITTEN)[0]]
    const args = await writeEvidence(folder(), { ...evidence, ...forge(evidence) })
    expect(await runAudit(...args)).toMatchObject({ code: 7, names: expect.arrayContaining([name]) })
  })
  it('finds nothing in evidence that nobody touched, and ends with 0', async () => {
    const { code, said, complained } = await runAudit(...(await writeEvidence(folder(), evidence)))
    expect(complained).toBe('')
    const { figures, violations } = JSON.parse(said) as Verdict
    expect(violations).toEqual([])
    expect(code).toBe(0)
    expect(figures.rows).toBe(evidence.journal.length)
    expect(figures.clients).toMatchObject({ requests: evidence.clients!.length, undecided: 0 })
    expect(figures.clients!.handles).toBeGreaterThan(3)
    expect(figures.topics!['arq.events.v1']).toMatchObject({ repeats: 0 })
  })
  describe('names what was planted, shows the entries, and ends with 7', () => {
    const planted = WRITTEN.filter(([name]) => !IN_STORE.includes(name))
    let audited: readonly Audited[]
    beforeAll(async () => {
      const written = planted.map(([, , forge]) => writeEvidence(folder(), { ...evidence, ...forge(evidence) }))
      audited = await runAudits(root, await Promise.all(written))
    })
    it.each(planted)('%s: %s', (name, what) => {
      const { code, names, said } = audited[planted.findIndex(([, each]) => each === what)]!
      expect(names).toContain(name)
      expect(code).toBe(7)
      const proofs = (JSON.parse(said) as Verdict).violations.filter(({ invariant }) => invariant === name)
      expect(proofs.every(({ proof }) => proof.length > 0)).toBe(true)
    })
  })
  it('has a planted violation of every invariant, but for those about what it has no record of: the age of requests, Placement, what commands did on hosts, and what cards held', () => {
    const shown = new Set(WRITTEN.map(([name]) => name))
    expect(INVARIANTS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([
      'L5 unbound',
      'S18 host',
      'S14 bound',
      'S11',
      'L3',
      'I16',
      'S2 placement',
    ])
  })

  it('reads a stopped folder, and writes its journal so that it can be read again', { timeout: 120_000 }, async () => {
    const [dir, file] = [folder(), join(root, 'dump.ndjson')]
    mkdirSync(dir)
    await embeddedStoreIn(join(dir, 'store'))
    await writeStore({ kind: 'pglite', dir: join(dir, 'store') }, { journal: [...(await readJournal(GOLDEN))] })
    const first = await runAudit('--data', dir, '--write', file, '--slack', '100000')
    expect(first).toMatchObject({ code: 0, names: [] })
    const again = await runAudit('--file', file, '--slack', '100000')
    expect(again).toMatchObject({ code: 0, names: [] })
    const figures = ({ said }: { readonly said: string }) => (JSON.parse(said) as Verdict).figures
    expect(figures(again)).toEqual(figures(first))
  })
  it('reads what earlier releases wrote, and prints figures and verdict for people', async () => {
    const program = runProgram({ args: ['audit', '--file', GOLDEN] })
    expect((await program.exited).code).toBe(0)
    expect(program.stdout()).toMatch(
      /^journal {4}99 rows, .*\n(.*\n)*ARQs .*Bound 1.*\n(.*\n)*clean: \d+ invariants hold/m,
    )
  })
  it('ends with 1 when it cannot read, with 2 when it is called wrongly, and says why', async () => {
    const broken = join(root, 'broken.ndjson')
    writeFileSync(broken, '{"key":"arq/1","version":0}\n')
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--file', join(root, 'nowhere')], /ENOENT/],
      [['--file', broken], /line 1: version: /],
      [['--data', join(root, 'nowhere')], /holds no store/],
      [['--file', GOLDEN, '--slack', 'x'], /--slack: must be a number of seconds/],
      [['--file', GOLDEN, '--host-data', root], /no ledger/],
      [['--database', 'postgresql://nobody@127.0.0.1:1/none'], /ECONNREFUSED/],
      [['--kafka', 'nonsense'], /kafka/],
    ]
    const others = await runAudits(
      root,
      cases.slice(1).map(([args]) => args),
    )
    const audited = [await runAudit(...cases[0]![0]), ...others]
    expect(audited.map(({ code }) => code)).toEqual([1, 1, 1, 2, 1, 1, 2])
    for (const [at, [, why]] of cases.entries()) expect(audited[at]!.complained).toMatch(why)
  })
})

describeWith('postgres', 'accelerando audit of a database', (bin) => {
  const planted = FORGERIES.filter(([name]) => IN_STORE.includes(name))
  const root = mkdtempSync(join(tmpdir(), 'accelerando-audit-'))
  const databases: Database[] = []
  let audited: readonly Audited[]
  beforeAll(async () => {
    const evidence = await soundEvidence()
    for (const views of [{}, ...planted.map(([, , forge]) => forge(evidence).views ?? {})]) {
      const database = await freshDatabase(bin)
      databases.push(database)
      await writeStore({ kind: 'postgres', url: database.url }, { journal: evidence.journal, views })
    }
    const sound = ['--stopped', '--slack', '100000']
    audited = await runAudits(
      root,
      databases.map(({ url }, at) => ['--database', url, ...(at === 0 ? sound : [])]),
    )
  })
  afterAll(async () => {
    await Promise.all(databases.map(({ drop }) => drop()))
    rmSync(root, { recursive: true })
  })

  it('finds nothing where nothing is wrong, views included', () => {
    expect(audited[0]).toMatchObject({ code: 0, names: [] })
  })
  it.each(planted.map(([name, what], at) => [name, what, at + 1] as const))('names %s: %s', (name, _, at) => {
    expect(audited[at]!.names).toContain(name)
    expect(audited[at]!.code).toBe(7)
  })
})
