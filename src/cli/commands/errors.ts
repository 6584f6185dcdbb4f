/** `accelerando error`: what an error code of the API means, and what to do. It asks no service. */
import { type Register, withPlainErrors } from '../command.ts'
import { Failure } from '../exits.ts'
import { ERROR_CODES, type ErrorCode } from '../operators/errorCodes.ts'
import { type Columns, type OutputFlags, addOutput, present, rendered } from '../output.ts'

/** The words of a link without its target, which is a page that need not be at hand. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
const COLUMNS: Columns<ErrorCode> = [
  { name: 'code', of: ({ code }) => code },
  { name: 'status', head: 'http status', of: ({ title }) => title },
  { name: 'exit_code', of: ({ exit_code: exit }) => exit },
  { name: 'means', of: ({ means }) => plain(means) },
  { name: 'mend', head: 'what to do', of: ({ mend }) => plain(mend) },
]
const LISTED = COLUMNS.slice(0, -1)

const PREFIX = 'accelerator.'
const rowOf = (given: string): ErrorCode => {
  const named = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given
  const found = ERROR_CODES.find(({ code }) => code === named)
  if (found === undefined)
    throw new Failure('notFound', `this release knows no error code ${given}`, { next: 'accelerando error' })
  return found
}

export const errors: Register = (program) => {
  const command = program
    .command('error [CODE]')
    .description('What an error code of the API means and what to do about it; without CODE all of them in short.')
    .example('accelerando error not_found')
    .endsWith('notFound')
  addOutput(command, COLUMNS)
    .option('--json', 'one JSON value instead of text')
    .action(
      withPlainErrors(async (code: string | undefined, flags: OutputFlags) => {
        const rows = code === undefined ? ERROR_CODES : [rowOf(code)]
        const short = () => rendered({ document: rows, rows, columns: LISTED }, {}, true)
        if (code === undefined) return present(flags, { document: rows, rows, columns: COLUMNS, text: short })
        present(flags, { document: rows[0], rows, columns: COLUMNS, one: true })
      }),
    )
}
