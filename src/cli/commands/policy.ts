/** `accelerando policy show`: shows which roles the present configuration allows which operations. */
import { type Flags, type Register, configured, withPlainErrors } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { type PolicyTable, policyTable, ROLE_NAMES } from '../operators/policyTable.ts'
import { type Columns, type OutputFlags, addOutput, present } from '../output.ts'

type PolicyRow = PolicyTable['rows'][number]
const columnsFor = (heads: readonly string[]): Columns<PolicyRow> => [
  { name: 'operation', of: ({ operation }) => operation },
  ...heads.map((name): Columns<PolicyRow>[number] => ({
    name,
    of: ({ allowed }) => (allowed[name] ? 'yes' : null),
  })),
  { name: 'rule', of: ({ rule }) => rule },
]

type Given = Flags & OutputFlags & { readonly as?: string }

export const policy: Register = (program) => {
  const family = program.command('policy').description('The rules by which requests are allowed.')
  const show = family
    .command('show')
    .description(
      'Shows for each operation the rule in force and which roles it allows, from the configuration and its policy file.',
    )
    .example('accelerando policy show --as member,reader')
  addOutput(addFlags(show, PROGRAM_FLAGS.policy), columnsFor(ROLE_NAMES))
    .option('--as <ROLES>', 'only for a token of a project with these roles, such as member,reader')
    .option('--json', 'one JSON value instead of a table')
    .action(
      withPlainErrors(async (given: Given) => {
        const { as } = given
        const config = configured(given)
        if (!config) return
        const { heads, rows } = policyTable(config.http.policy, as)
        present(given, { document: rows, rows, columns: columnsFor(heads) })
      }),
    )
}
