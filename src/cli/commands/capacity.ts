/** `accelerando capacity`: the number of accelerators of each kind, and how many can be granted. */
import { type Register, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import type { Capacity } from '../operators/apiShapes.ts'

type Line = Capacity['capacity'][number]
type Row = Omit<Line, 'hosts'> & { readonly host?: string }
const AMOUNTS = ['total', 'held', 'free', 'withheld', 'broken'] as const
const COLUMNS: Columns<Row> = [
  ...columnsOf<Row>(['resource_class'], { resource_class: 'class' }),
  { name: 'traits', of: ({ traits }) => traits.join(' ') || null },
  { name: 'host', of: ({ host }) => host ?? null },
  ...columnsOf<Row>(AMOUNTS),
]

type Given = ApiFlags & { readonly class?: string; readonly trait?: string; readonly hosts?: true }

const rowsOf = ({ capacity }: Capacity, byHost: boolean): readonly Row[] =>
  capacity.flatMap(({ hosts, ...line }) => (byHost ? hosts.map((here) => ({ ...line, ...here })) : [line]))

export const capacity: Register = (program) => {
  const family = program
    .command('capacity')
    .description('How many accelerators there are, and how many can be granted.')
  const show = family
    .command('show')
    .description('Shows them by resource class and traits: total, held, free, withheld, broken.')
    .example('accelerando capacity show', 'accelerando capacity show -f csv')
  addOutput(addApiFlags(show), COLUMNS)
    .option('--class <NAME>', 'only accelerators of this resource class')
    .option('--trait <NAME>', 'only accelerators with this trait')
    .option('--hosts', 'a line for each host')
    .action(
      withPlainErrors(async (flags: Given) => {
        const { class: resource_class, trait, hosts } = flags
        const json = await apiOf(flags)<Capacity>('GET', withQuery('/capacity', { resource_class, trait }))
        const rows = rowsOf(json, hosts === true)
        present(flags, { document: json, rows, columns: COLUMNS })
      }),
    )
}
