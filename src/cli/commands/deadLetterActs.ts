/** `accelerando dead-letter show`, `replay` and `drop`: a dead letter as a control has it, and what is done with it. */
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { withPlainErrors } from '../command.ts'
import type { CommandRow } from '../commandRow.ts'
import { type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import type { DeadLetterDetail } from '../operators/apiShapes.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'

const COLUMNS: Columns<DeadLetterDetail> = [
  ...columnsOf<DeadLetterDetail>(['uuid', 'id', 'state', 'stored_at', 'topic', 'key', 'reason', 'size_bytes'], {
    stored_at: 'stored',
    size_bytes: 'bytes',
  }),
  { name: 'replay_refusal', head: 'cannot be sent again', of: (letter) => letter.replay_refusal },
  {
    name: 'handled',
    of: ({ handled }) =>
      handled === null ? null : `at ${handled.at} by ${handled.by ?? '-'}: ${handled.reason ?? '-'}`,
  },
  { name: 'value', head: 'message', of: ({ value }) => value },
]
/** `dead-letter list` shows the ids of the messages, and the API the UUIDs that follow from them. */
const at = async (name: string): Promise<string> => {
  const uuid = canonicalUuid(name)
  if (uuid !== null) return `/dead_letters/${uuid}`
  const { uuidOf } = await import('../../delivery/deadLetters/box.ts')
  return `/dead_letters/${uuidOf({ id: name })}`
}
const show = (flags: ApiFlags, letter: DeadLetterDetail): void =>
  present(flags, { document: letter, rows: [letter], columns: COLUMNS, one: true })
const one = (command: CommandRow): CommandRow => addOutput(addApiFlags(command), COLUMNS, { one: true })

export const deadLetterActs = (family: CommandRow): void => {
  one(
    family
      .command('show <ID>')
      .description('Shows one of them whole, as a control has read it.')
      .example('accelerando dead-letter show host.reports.v1/3/1700/2fa31d9d70a33c4a'),
  ).action(
    withPlainErrors(async (id: string, flags: ApiFlags) => {
      show(flags, await apiOf(flags)<DeadLetterDetail>('GET', await at(id)))
    }),
  )
  for (const [verb, about] of [
    ['replay', 'Has a control send its message again, as it was; who asked for it and why is recorded.'],
    ['drop', 'Sets it aside: it is no longer open. It stays on its topic, with the reason and who dropped it.'],
  ] as const)
    one(
      family
        .command(`${verb} <ID>`)
        .description(about)
        .example(
          `accelerando dead-letter ${verb} host.reports.v1/3/1700/2fa31d9d70a33c4a --reason "the host is mended"`,
        ),
    )
      .requiredOption('--reason <TEXT>', 'why; kept with the dead letter')
      .action(
        withPlainErrors(async (id: string, flags: ApiFlags & { readonly reason: string }) => {
          const { reason } = flags
          show(flags, await apiOf(flags)<DeadLetterDetail>('POST', `${await at(id)}/${verb}`, { reason }))
        }),
      )
}
