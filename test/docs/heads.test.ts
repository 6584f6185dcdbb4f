/** Every page of the documents says in its first word of which kind it is. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const DOCS = join(import.meta.dirname, '../../docs')
/** Decisions are reasons by their folder, and the plan is no document for readers. */
const WITHOUT = /^decisions\/|^plan\.md$/
const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !WITHOUT.test(path))
  .toSorted()

const kindOf = (text: string): string | null =>
  /^(?:<!-- [^\n]* -->\n)?# [^\n]+\n\n(Start|Task|Reference|Reason)\./.exec(text)?.[1] ?? null

test.each(pages)('%s', (path) => expect(kindOf(readFileSync(join(DOCS, path), 'utf8'))).not.toBeNull())
test('a page without a kind is found', () => {
  expect(kindOf('# Title\n\nSome text.\n')).toBeNull()
  expect(kindOf('# Title\n\nTask. Some text.\n')).toBe('Task')
})
test('tasks, starts, reference and reasons are all there', () => {
  expect(new Set(pages.map((path) => kindOf(readFileSync(join(DOCS, path), 'utf8'))))).toEqual(
    new Set(['Start', 'Task', 'Reference', 'Reason']),
  )
})
