/** `accelerando system`: shows what the process that answers knows of itself. */
import { type Register, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import type { SystemDocument } from '../operators/apiShapes.ts'
import { type SystemRow, systemLines, systemRows } from '../operators/systemLines.ts'
import { addOutput, columnsOf, present } from '../output.ts'

const COLUMNS = columnsOf<SystemRow>(['part', 'name', 'value'])

export const system: Register = (program) => {
  const command = program
    .command('system')
    .description(
      'What the process that answers knows of itself: versions, neighbours, the configuration in force without secrets, consumer lag, how long writes to the journal take, and the last audit.',
    )
    .example('accelerando system', 'accelerando system -f json | jq \'.[] | select(.part == "configuration")\'')
  addOutput(addApiFlags(command), COLUMNS).action(
    withPlainErrors(async (flags: ApiFlags) => {
      const document = await apiOf(flags)<SystemDocument>('GET', '/system')
      present(flags, {
        document,
        rows: systemRows(document),
        columns: COLUMNS,
        text: () => systemLines(document),
      })
    }),
  )
}
