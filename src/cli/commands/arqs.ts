/**
 * `accelerando arq`: shows accelerator requests and their history, and `accelerando instance`: those of one instance.
 */
import { ARQ_STATES } from '../../actors/arq/states.ts'
import { Failure } from '../exits.ts'
import { type ApiFlags, addApiFlags, addAsOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import { type Arqs, COLLECTION, DETAILS, LISTED, MEMBERS, arqPath, showArq } from '../operators/arqRows.ts'
import { addOutput, present } from '../output.ts'
import type { Arq } from '../operators/apiShapes.ts'
import type { CommandRow } from '../commandRow.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { arqActs } from './arqActs.ts'
import { showSteps, timeline } from './timeline.ts'

type Listing = ApiFlags & { readonly instance?: string; readonly state?: string; readonly project?: string }
const listing = (family: CommandRow): void => {
  const command = family
    .command('list')
    .description('Lists accelerator requests, in the order in which they were created.')
    .example('accelerando arq list --state BindFailed', 'accelerando arq list --as-of 2026-01-31T12:00:00Z -f jsonl')
  addAsOf(addOutput(addApiFlags(command), LISTED))
    .option('--instance <UUID>', 'only those of this instance')
    .option('--state <STATE>', `only those in this state: ${ARQ_STATES.join(', ')}`)
    .option('--project <ID>', 'only those of this project')
    .action(
      withPlainErrors(async (flags: Listing) => {
        const { instance, project: project_id, asOf: as_of } = flags
        const state = ARQ_STATES.find((one) => one.toLowerCase() === flags.state?.toLowerCase()) ?? flags.state
        const path = withQuery(COLLECTION, { instance, state, project_id, as_of, limit: limitFor(flags) })
        const json = await apiOf(flags)<Arqs>('GET', path)
        present(flags, { document: json, rows: json.arqs, columns: LISTED })
      }),
    )
}
const showing = (family: CommandRow): void => {
  const show = family
    .command('show <UUID>')
    .description('Shows one accelerator request.')
    .example('accelerando arq show 01a20b28-0adf-7000-988f-af4e98d0d102')
  addAsOf(addOutput(addApiFlags(show), DETAILS, { one: true }))
    .option('--timeline', 'show its history step by step, even after it is deleted')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly timeline?: true }) => {
        if (flags.timeline) return showSteps(uuid, flags)
        showArq(flags, await apiOf(flags)<Arq>('GET', withQuery(arqPath(uuid), { as_of: flags.asOf })))
      }),
    )
  timeline(family)
}

export const arqs: Register = (program) => {
  const family = program.command('arq').alias('arqs').description('The accelerator requests of a running service.')
  listing(family)
  showing(family)
  arqActs(family)
}

export const instances: Register = (program) => {
  const show = program
    .command('instance')
    .description('The instances (servers) that have accelerators.')
    .command('show <UUID>')
    .description('Shows the accelerator requests of one instance.')
    .example('accelerando instance show d55ec672-bc67-4458-b10d-38ecb62abffe')
  addAsOf(addOutput(addApiFlags(show), MEMBERS)).action(
    withPlainErrors(async (instance: string, flags: ApiFlags) => {
      const json = await apiOf(flags)<Arqs>('GET', withQuery(COLLECTION, { instance, as_of: flags.asOf }))
      if (json.arqs.length === 0)
        throw new Failure('notFound', `the instance ${instance} has no accelerator request`, {
          next: 'accelerando arq list',
        })
      present(flags, { document: json, rows: json.arqs, columns: MEMBERS })
    }),
  )
}
