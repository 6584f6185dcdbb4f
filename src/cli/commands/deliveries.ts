/** `accelerando delivery`: shows the events that Nova has not taken, and sends them once more. */
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import type { Delivery } from '../operators/apiShapes.ts'
import { Option } from 'commander'
import { DELIVERY_STATES, type DeliveryState } from '../../actors/answers/tallied.ts'
import type { CommandRow } from '../commandRow.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import { type Register, withPlainErrors } from '../command.ts'

const COLUMNS: Columns<Delivery> = [
  ...columnsOf<Delivery>(['instance_uuid', 'state', 'hostname', 'attempts', 'next_at', 'until', 'request_id'], {
    instance_uuid: 'instance',
    hostname: 'host',
    next_at: 'next try',
  }),
  { name: 'arqs', of: ({ statuses }) => Object.keys(statuses).join(' ') },
  { name: 'answers', of: ({ answers }) => [...new Set(Object.values(answers))].join('; ') },
]
/** The maximal number that the service returns at once. */
const PORTION = '500'

type ListFlags = ApiFlags & { readonly state: DeliveryState }
const all = async (flags: ListFlags): Promise<readonly Delivery[]> => {
  const [api, found] = [apiOf(flags), [] as Delivery[]]
  for (let marker: string | undefined, more = true; more; marker = found.at(-1)?.instance_uuid) {
    type Page = { readonly deliveries: readonly Delivery[]; readonly deliveries_links?: readonly unknown[] }
    const page: Page = await api<Page>('GET', withQuery('/deliveries', { state: flags.state, limit: PORTION, marker }))
    found.push(...page.deliveries)
    more = page.deliveries_links !== undefined && page.deliveries.length > 0
  }
  return found
}

const resend = (family: CommandRow): void => {
  const command = family
    .command('resend <INSTANCE>')
    .description(
      'Tells Nova once more how the binds of an instance ended, also what it has refused or was not reached for. Nova ignores what nobody waits for.',
    )
    .example('accelerando delivery resend d55ec672-bc67-4458-b10d-38ecb62abffe --reason "Nova was restored"')
  addOutput(addApiFlags(command), COLUMNS, { one: true })
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (instance: string, flags: ApiFlags & { readonly reason: string }) => {
        const path = `/deliveries/${encodeURIComponent(instance)}/resend`
        const asked = await apiOf(flags)<Delivery>('POST', path, { reason: flags.reason })
        present(flags, { document: asked, rows: [asked], columns: COLUMNS, one: true })
      }),
    )
}

export const deliveries: Register = (program) => {
  const family = program.command('delivery').alias('deliveries').description('What Nova has to be told of binds.')
  resend(family)
  const list = family
    .command('list')
    .description(
      'Lists the events that Nova has not taken: those that it is told again, or those that it is told no more.',
    )
    .example('accelerando delivery list', 'accelerando delivery list --state undelivered')
  addOutput(addApiFlags(list), COLUMNS)
    .addOption(new Option('--state <STATE>', 'which of them').choices([...DELIVERY_STATES]).default(DELIVERY_STATES[0]))
    .action(
      withPlainErrors(async (flags: ListFlags) => {
        const rows = await all(flags)
        present(flags, { document: { deliveries: rows }, rows, columns: COLUMNS })
      }),
    )
}
