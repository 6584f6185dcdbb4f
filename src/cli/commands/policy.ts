/** `accelerando policy show`: who may do what under the configuration that is in force. */
import { type Flags, type Register, configured, out, withPlainErrors, outLines } from '../command.ts'
import { addFlags, PROGRAM_FLAGS } from '../config/flags.ts'
import { policyTable } from '../operators/policyTable.ts'
import { tableOf } from '../operators/api.ts'
import { visibleJson } from '../../text.ts'

type Given = Flags & { readonly as?: string; readonly json?: true }

export const policy: Register = (program) => {
  const family = program.command('policy').description('The rules by which requests are allowed.')
  addFlags(
    family
      .command('show')
      .description(
        'Shows for each operation the rule in force and which roles it allows, from the configuration and its policy file.',
      ),
    PROGRAM_FLAGS.policy,
  )
    .option('--as <ROLES>', 'only for a token of a project with these roles, such as member,reader')
    .option('--json', 'one JSON value instead of a table')
    .action(
      withPlainErrors(async ({ as, json, ...flags }: Given) => {
        const config = configured(flags)
        if (!config) return
        const { heads, rows } = policyTable(config.http.policy, as)
        if (json) return out(visibleJson(rows))
        const yes = (allowed: boolean): string => (allowed ? 'yes' : '-')
        const cells = rows.map(({ operation, allowed, rule }) => [
          operation,
          ...heads.map((head) => yes(allowed[head]!)),
          rule,
        ])
        outLines(tableOf(['OPERATION', ...heads.map((head) => head.toUpperCase()), 'RULE'], cells))
      }),
    )
}
