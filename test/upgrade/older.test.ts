/** What today's program writes, read by the code of an earlier release: it may still run beside, or be opened again. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { journalText } from '../golden/fold.ts'
import { playScenario } from '../golden/scenario.ts'
import { playTopics, topicsText } from '../golden/topics.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'
import { type Tree, lastWithControls, treeOf } from './release.ts'

const OLDER = join(import.meta.dirname, 'older.ts')

/** What the tree's own code cannot read, a line each. */
const unreadBy = ({ folder }: Tree, records: readonly BusRecord[], journal: string): readonly string[] => {
  const written = tempFolder('written')
  try {
    const [messages, rows] = [join(written.path, 'messages'), join(written.path, 'journal')]
    writeFileSync(messages, topicsText(records))
    writeFileSync(rows, journal)
    const said = execFileSync(process.execPath, [OLDER, folder, messages, rows], { encoding: 'utf8' })
    return said === '' ? [] : said.trimEnd().split('\n')
  } finally {
    written.remove()
  }
}
/** As if a field had been taken away from a message. */
const without = (record: BusRecord, field: string): BusRecord => {
  const { data, ...envelope } = JSON.parse(record.value) as { readonly data: Record<string, unknown> }
  const { [field]: _, ...rest } = data
  return { ...record, value: JSON.stringify({ ...envelope, data: rest }) }
}

/**
 * What an older release need not read (docs/upgrade.md): nobody sets a quota or shows the inventory in Placement while
 * it runs.
 */
const isUnreadable = ({ key }: FeedRow): boolean => key.startsWith('quota/') || key.startsWith('placement/')
/** What comes after such a row of the same entity is left out with it: a journal has no gaps. */
const readable = (rows: readonly FeedRow[]): readonly FeedRow[] => {
  const cut = new Set<string>()
  return rows.filter((row) => {
    if (isUnreadable(row)) cut.add(row.key)
    return !cut.has(row.key)
  })
}

const part = lastWithControls()
describeWith(part, `the code of ${part.name}`, (commit) => {
  test('reads what today writes, and would not read everything', async () => {
    const rows = readable(await playScenario())
    const records = await playTopics(rows)
    const tree = treeOf(commit)
    try {
      expect(unreadBy(tree, records, journalText(rows))).toEqual([])
      const order = records.find(({ topic }) => topic === 'host.orders.v1')!
      const unread = unreadBy(tree, [without(order, 'deadline')], journalText(rows))
      expect(unread).toEqual([expect.stringContaining('data.deadline')])
    } finally {
      tree.remove()
    }
  })
})
