/** `accelerando usage`: how long accelerators were bound, by project, resource class and period. */
import { Option } from 'commander'
import { type Register, withPlainErrors } from '../command.ts'
import { USAGE_PERIODS } from '../../actors/usage/tally.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import { addOutput, columnsOf, present, rendered } from '../output.ts'
import type { Usage } from '../operators/apiShapes.ts'

type Given = ApiFlags & {
  readonly from?: string
  readonly until?: string
  readonly period: string
  readonly project?: string
  readonly csv?: true
}
const COLUMNS = columnsOf<Usage['usage'][number]>(
  ['project_id', 'resource_class', 'from', 'until', 'device_seconds', 'bindings'],
  { project_id: 'project', resource_class: 'class' },
)

const textLines = ({ from, until, as_of: asOf, usage: rows }: Usage): readonly string[] => [
  `from ${from} to ${until}; what is still bound counts up to ${asOf < until ? asOf : until}`,
  ...rendered({ document: rows, rows, columns: COLUMNS }, {}, true),
]

export const usage: Register = (program) => {
  const command = program
    .command('usage')
    .description('For how many seconds accelerators were bound, by project, resource class and period.')
    .example('accelerando usage --period month -f csv')
  addOutput(addApiFlags(command), COLUMNS)
    .option('--from <DAY>', 'the beginning, a day or a moment in UTC (default: the first of the month of --until)')
    .option('--until <DAY>', 'the end, which does not belong to it (default: now)')
    .addOption(
      new Option('--period <PERIOD>', 'divides the time by the calendar').choices(USAGE_PERIODS).default('total'),
    )
    .option('--project <ID>', 'only this project')
    .option('--csv', 'as --format csv')
    .action(
      withPlainErrors(async (flags: Given) => {
        const { from, until, period, project: project_id } = flags
        const json = await apiOf(flags)<Usage>('GET', withQuery('/usage', { from, until, period, project_id }))
        const result = { document: json, rows: json.usage, columns: COLUMNS, text: () => textLines(json) }
        present(flags.csv ? { ...flags, format: 'csv' } : flags, result)
      }),
    )
}
