/** `accelerando delivery list`: the events that Nova has not taken yet. */
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import type { Delivery } from '../operators/apiShapes.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import { type Register, withPlainErrors } from '../command.ts'

const COLUMNS: Columns<Delivery> = [
  ...columnsOf<Delivery>(['instance_uuid', 'hostname', 'attempts', 'next_at', 'given_up_at', 'request_id'], {
    instance_uuid: 'instance',
    hostname: 'host',
    next_at: 'next try',
    given_up_at: 'given up',
  }),
  { name: 'arqs', of: ({ statuses }) => Object.keys(statuses).join(' ') },
]
/** The service shows so many at once. */
const PORTION = '500'

const all = async (flags: ApiFlags): Promise<readonly Delivery[]> => {
  const [api, found] = [apiOf(flags), [] as Delivery[]]
  for (let marker: string | undefined, more = true; more; marker = found.at(-1)?.instance_uuid) {
    type Page = { readonly deliveries: readonly Delivery[]; readonly deliveries_links?: readonly unknown[] }
    const page: Page = await api<Page>('GET', withQuery('/deliveries', { limit: PORTION, marker }))
    found.push(...page.deliveries)
    more = page.deliveries_links !== undefined && page.deliveries.length > 0
  }
  return found
}

export const deliveries: Register = (program) => {
  const list = program
    .command('delivery')
    .alias('deliveries')
    .description('What Nova has to be told of binds.')
    .command('list')
    .description('Lists the events that Nova has not taken yet, with the moment of the next try.')
    .example('accelerando delivery list', 'accelerando delivery list --sort-column attempts:desc')
  addOutput(addApiFlags(list), COLUMNS).action(
    withPlainErrors(async (flags: ApiFlags) => {
      const rows = await all(flags)
      present(flags, { document: { deliveries: rows }, rows, columns: COLUMNS })
    }),
  )
}
