/** Each check of references must find what is planted for it, and let be what is right. */
import { expect, test } from 'vitest'
import * as references from './references.ts'

const README = `| letter | what | page | section |
|---|---|---|---|
| D | decisions | rest-api | 11 |
| Q | requirements | agents | 13 |
`
const REST = `## 8. Lifecycle
### 8.5 Notification
Only here Q4 is a defect; D2 is not decided.
| D1 | a decision |
| Q4 | a defect |
`
const AGENTS = `## 13. Requirements
See Q1, and Q7.
| Q1 | one owner |
| DONE-1 | what is done |
`
const CONTRACT = {
  'docs/contract/README.md': README,
  'docs/contract/rest-api.md': REST,
  'docs/contract/agents.md': AGENTS,
}

const tree = (texts: Readonly<Record<string, string>>): references.Tree => {
  const all = new Map(Object.entries({ ...CONTRACT, ...texts }))
  return { texts: all, paths: new Set(all.keys()) }
}

test('a section that does not exist is found, one that exists and a version of an API are not', () => {
  const text = `/** rest-api 8.5, agents.md 13, rest-api 8 */
// rest-api 8.6
// (rest-api 8.5, 9.1 and 8.5)
// see [agents](docs/contract/agents.md) 14
// OpenStack-API-Version: agents 1.39`
  expect(references.sections(tree({ 'src/a.ts': text }))).toEqual([
    'src/a.ts:2 cites rest-api 8.6, which is no section',
    'src/a.ts:3 cites rest-api 9.1, which is no section',
    'src/a.ts:4 cites agents 14, which is no section',
  ])
})

test('a letter without a rule is found, also when another page has such a rule', () => {
  const text = `// Q1 and (D1): as decided; rest-api Q4 is another
// Q4
it('does it (D2)')
// rest-api Q5
// by N3 (an old rule), on an A100 or an L40, in /v2/D9 or %D9, at 0000:D8:00.0, 'M2 10h3'`
  expect(references.letters(tree({ 'src/a.ts': text, 'docs/a.md': 'as Q2-Q3 say' }))).toEqual([
    'src/a.ts:2 cites Q4, which agents does not define',
    'src/a.ts:3 cites D2, which rest-api does not define',
    'src/a.ts:4 cites Q5, which rest-api does not define',
    'src/a.ts:5 cites N3, which no page of the contract defines',
    'docs/a.md:1 cites Q2, which agents does not define',
    'docs/a.md:1 cites Q3, which agents does not define',
  ])
})

test('within the contract a letter means its own page first', () => {
  expect(references.lettersOfPages(tree({}))).toEqual([
    'docs/contract/rest-api.md:3 cites D2, which rest-api does not define',
    'docs/contract/agents.md:2 cites Q7, which agents does not define',
  ])
})

test('a local rule that is defined twice, nowhere, or by a single letter is found', () => {
  const found = references.localRules(
    tree({
      'src/inbox.ts': `/**\n * The inbox.\n *\n * INBOX-1 one;\n * INBOX-2 two.\n */\n// DONE-1, UTF-8`,
      'src/other.ts': `/**\n * Another.\n *\n * INBOX-2 again, see INBOX-1;\n * N1 too short.\n */\n/**\n * INBOX-1 is cited here\n */`,
      'test/inbox.test.ts': `test('INBOX-3 three', go)`,
    }),
  )
  expect(found).toEqual([
    'INBOX-2 is defined 2 times: src/inbox.ts, src/other.ts',
    'src/other.ts defines N1: give it a prefix of its own',
    'test/inbox.test.ts:1 cites INBOX-3, which no file defines',
  ])
})

test('a link that leads nowhere is found', () => {
  const text = '[a](contract/agents.md#13) [b](contract/gone.md) [c](https://example.org/x) [d](#here) [e](contract/)'
  expect(references.links(tree({ 'docs/a.md': text }))).toEqual([
    'docs/a.md:1 links to contract/gone.md, which is not there',
  ])
})

test('a decision that is not there is found', () => {
  const text = '// decision 0001, decisions 0001, 0002 and 0003, decisions/0004, 4 decisions'
  expect(references.decisions(tree({ 'src/a.ts': text, 'docs/decisions/0001-a.md': '' }))).toEqual([
    'src/a.ts:1 cites decision 0002, which is not there',
    'src/a.ts:1 cites decision 0003, which is not there',
    'src/a.ts:1 cites decision 0004, which is not there',
  ])
})

test('a path of the tree that is not there is found', () => {
  const maps =
    '`src/bus/` `src/*.ts` `port.ts` `bus/port.ts` `control.toml`, `src/gone/` `gone.ts` `other/port.ts` `test/x.ts`'
  const planted = tree({
    'ARCHITECTURE.md': maps,
    'README.md': '    npm run x -- --only src/lost/a.ts, src/bus',
    'src/bus/port.ts': '// docs/gone.md',
    'src/a.ts': '',
  })
  expect(references.files(planted)).toEqual([
    'ARCHITECTURE.md:1 names src/gone/, which is not there',
    'ARCHITECTURE.md:1 names gone.ts, which is not there',
    'ARCHITECTURE.md:1 names other/port.ts, which is not there',
    'ARCHITECTURE.md:1 names test/x.ts, which is not there',
    'README.md:1 names src/lost/a.ts, which is not there',
    'src/bus/port.ts:1 names docs/gone.md, which is not there',
  ])
})
