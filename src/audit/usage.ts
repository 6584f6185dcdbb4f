/**
 * The rows of ended bindings. The last state of a request does not tell them, so they are collected change by change. A
 * missing row is no violation: a release that did not know the view may have ended the binding, and a rebuild of the
 * views adds the row.
 */
import { hash } from 'node:crypto'
import { ENTITIES } from '../actors/entities.ts'
import { arq } from '../actors/arq/decider.ts'
import { kindOf } from '../actors/runtime/memory.ts'
import type { Row } from '../actors/runtime/views.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { type Finding, inView, type Step } from './history.ts'

const digestOf = (row: object): string => hash('sha1', canonicalJson(row), 'base64').slice(0, 20)

export const openBindings = () => {
  const ended = new Set<string>()
  return {
    note: ({ changes }: Step): void => {
      for (const { row, before, after } of changes) {
        if (kindOf(row.key) !== arq.kind) continue
        for (const change of ENTITIES[arq.kind]!.rows(before, after))
          if (change.view === 'usage' && change.row) ended.add(digestOf(change.row))
      }
    },
    *judge(rows: Iterable<Row<'usage'>>): Iterable<Finding> {
      for (const row of rows)
        if (!ended.has(digestOf(row)))
          yield inView('usage', row.id, `usage/${row.id} is ${canonicalJson(row)}, no binding of the journal is that`)
    },
  }
}
