/**
 * `accelerando orphan`: shows accelerator requests of servers that Nova does not know; `orphan collect` deletes them.
 */
import type { Command } from 'commander'
import { confirmable, confirmed } from '../confirm.ts'
import { endWith } from '../exits.ts'
import { type Api, type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import { addOutput, columnsOf, present } from '../output.ts'
import type { Collected, Orphans } from '../operators/apiShapes.ts'
import { collectedLines, orphanLines } from '../operators/orphanLines.ts'
import { type Register, withPlainErrors } from '../command.ts'

type Given = ApiFlags & { readonly apply?: true; readonly yes?: true }
const COLUMNS = columnsOf<Orphans['orphans'][number]>(['instance_uuid', 'hostname', 'arqs', 'changed_at'])
type Found = Pick<Orphans, 'orphans' | 'unclear' | 'asked'>

/** The maximal number of instances in one request. */
const AT_ONCE = 100

/** Reads all pages and joins their content. */
const found = async (api: Api): Promise<Found> => {
  const pages: Orphans[] = []
  for (let query: string | null = ''; query !== null;) {
    const page: Orphans = await api<Orphans>('GET', `/orphans${query}`)
    pages.push(page)
    query = page.next === null ? null : `?marker=${page.next}`
  }
  return {
    orphans: pages.flatMap(({ orphans }) => orphans),
    unclear: pages.flatMap(({ unclear }) => unclear),
    asked: pages.reduce((sum, { asked }) => sum + asked, 0),
  }
}

const collected = async (api: Api, instances: readonly string[]): Promise<Collected> => {
  const parts: Collected[] = []
  for (let at = 0; at < instances.length; at += AT_ONCE)
    parts.push(await api<Collected>('POST', '/orphans/collect', { instance_uuids: instances.slice(at, at + AT_ONCE) }))
  return { orphans: parts.flatMap(({ orphans }) => orphans), kept: parts.flatMap(({ kept }) => kept) }
}

export const orphans: Register = (program) => {
  const command = program
    .command('orphan')
    .alias('orphans')
    .description('The accelerator requests of servers that Nova does not know any more. Deletes nothing.')
    .example('accelerando orphan')
    .endsWith('findings')
  const family = addOutput(addApiFlags(command), COLUMNS)
  family.action(
    withPlainErrors(async (flags: Given) => {
      const json = await found(apiOf(flags))
      present(flags, {
        document: json,
        rows: json.orphans,
        columns: COLUMNS,
        text: () => orphanLines(json),
        report: true,
      })
      if (json.orphans.length > 0) endWith('findings')
    }),
  )
  const collect = family
    .command('collect')
    .description('Deletes them, after Nova has been asked twice more: their attach handles are released.')
    .example('accelerando orphan collect', 'accelerando orphan collect --apply --yes')
  confirmable(addOutput(addApiFlags(collect), COLUMNS))
    .option('--apply', 'do it; without this flag the command only says what would be deleted')
    .action(
      withPlainErrors(async (_flags: Given, command: Command) => {
        // options that family and command both have are parsed by the family, which is named first
        const asked = command.optsWithGlobals<Given>()
        const api = apiOf(asked)
        const before = await found(api)
        const looked = {
          document: before,
          rows: before.orphans,
          columns: COLUMNS,
          text: () => orphanLines(before),
          report: true,
        } as const
        if (!asked.apply) return present(asked, looked)
        await confirmed(asked, `The accelerator requests of ${before.orphans.length} instances are deleted.`)
        const instances = before.orphans.map(({ instance_uuid: one }) => one)
        const json = await collected(api, [...new Set(instances)])
        present(asked, {
          document: json,
          rows: json.orphans,
          columns: COLUMNS,
          text: () => collectedLines(json),
          report: true,
        })
      }),
    )
}
