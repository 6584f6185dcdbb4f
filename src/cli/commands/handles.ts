/** `accelerando handle`: shows the states of attach handles, and lets an operator change them. */
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import { type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import { type Columns, addOutput, columnsOf, fieldsIn, fieldsOf, present } from '../output.ts'
import { type Handle, type HandleDetail, noteLine } from '../operators/apiShapes.ts'
import { cleaningFields } from '../operators/cleaningLines.ts'
import { type Register, withPlainErrors } from '../command.ts'

const HEADS = { hostname: 'host', deployable_uuid: 'deployable', arq_uuid: 'arq', last_arq_uuid: 'last arq' }
const LISTED = columnsOf<Handle>(['uuid', 'state', 'hostname', 'deployable_uuid', 'arq_uuid'], HEADS)
const DETAILS: Columns<HandleDetail> = [
  ...columnsOf<HandleDetail>(['uuid', 'state', 'hostname', 'deployable_uuid', 'arq_uuid', 'last_arq_uuid', 'order'], {
    ...HEADS,
    order: 'order under way',
  }),
  { name: 'quarantine', head: 'quarantined', of: ({ quarantine }) => noteLine(quarantine) },
]

type Listing = ApiFlags & { readonly state?: string; readonly host?: string }
type Asked = ApiFlags & { readonly reason: string }

const list = async (flags: Listing) => {
  const query = new URLSearchParams({
    ...(flags.state !== undefined && { state: flags.state }),
    ...(flags.host !== undefined && { hostname: flags.host }),
  }).toString()
  const json = await apiOf(flags)<{ readonly handles: readonly Handle[] }>('GET', `/handles${query && `?${query}`}`)
  present(flags, { document: json, rows: json.handles, columns: LISTED })
}

const at = (uuid: string) => `/handles/${encodeURIComponent(uuid)}`
const detail = (flags: ApiFlags, json: HandleDetail): void =>
  present(flags, {
    document: json,
    rows: [json],
    columns: DETAILS,
    one: true,
    text: () => fieldsOf({ ...fieldsIn(json, DETAILS), ...cleaningFields(json) }),
  })
const one = async (uuid: string, flags: ApiFlags) => {
  const json = await apiOf(flags)<HandleDetail>('GET', at(uuid))
  detail(flags, json)
}
const turn = (verb: 'quarantine' | 'release' | 'clean') => async (uuid: string, flags: Asked) => {
  const json = await apiOf(flags)<HandleDetail>('POST', `${at(uuid)}/${verb}`, { reason: flags.reason })
  detail(flags, json)
}

export const handles: Register = (program) => {
  const family = program.command('handle').alias('handles').description('The attach handles of a running service.')
  addOutput(addApiFlags(family.command('list').description('Lists attach handles.')), LISTED)
    .option('--state <STATE>', `only those in this state: ${HANDLE_STATES.join(', ')}`)
    .option('--host <NAME>', 'only those of this host')
    .action(withPlainErrors(list))
  const show = family.command('show <UUID>').description('Shows one attach handle and why it is quarantined.')
  addOutput(addApiFlags(show), DETAILS, { one: true }).action(withPlainErrors(one))
  for (const [verb, about] of [
    ['quarantine', 'Withholds a handle from all requests until an operator releases it.'],
    ['release', 'Confirms that a quarantined handle is clean, and makes it available again.'],
    ['clean', 'Has the host clean a handle that nobody has; it is available when that has succeeded.'],
  ] as const)
    addOutput(addApiFlags(family.command(`${verb} <UUID>`).description(about)), DETAILS, { one: true })
      .requiredOption('--reason <TEXT>', 'why; kept in the journal')
      .action(withPlainErrors(turn(verb)))
}
