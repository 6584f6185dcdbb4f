/** `accelerando handles`: shows the states of attach handles, and lets an operator change them. */
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import { type ApiFlags, addApiFlags, apiOf, fieldsOf, show, tableOf } from '../operators/api.ts'
import { type Handle, type HandleDetail, noteLine } from '../operators/apiShapes.ts'
import { type Register, withPlainErrors } from '../command.ts'

type Listing = ApiFlags & { readonly state?: string; readonly host?: string }
type Asked = ApiFlags & { readonly reason: string }

const list = async (flags: Listing) => {
  const query = new URLSearchParams({
    ...(flags.state !== undefined && { state: flags.state }),
    ...(flags.host !== undefined && { hostname: flags.host }),
  }).toString()
  const json = await apiOf(flags)<{ readonly handles: readonly Handle[] }>('GET', `/handles${query && `?${query}`}`)
  const rows = json.handles.map((one) => [one.uuid, one.state, one.hostname, one.deployable_uuid, one.arq_uuid])
  show(flags, json, () => tableOf(['UUID', 'STATE', 'HOST', 'DEPLOYABLE', 'ARQ'], rows))
}

const at = (uuid: string) => `/handles/${encodeURIComponent(uuid)}`
const detail = (one: HandleDetail): readonly string[] =>
  fieldsOf({
    uuid: one.uuid,
    state: one.state,
    host: one.hostname,
    deployable: one.deployable_uuid,
    arq: one.arq_uuid,
    'last arq': one.last_arq_uuid,
    'order under way': one.order,
    quarantined: noteLine(one.quarantine),
  })
const one = async (uuid: string, flags: ApiFlags) => {
  const json = await apiOf(flags)<HandleDetail>('GET', at(uuid))
  show(flags, json, () => detail(json))
}
const turn = (verb: 'quarantine' | 'release') => async (uuid: string, flags: Asked) => {
  const json = await apiOf(flags)<HandleDetail>('POST', `${at(uuid)}/${verb}`, { reason: flags.reason })
  show(flags, json, () => detail(json))
}

export const handles: Register = (program) => {
  const family = program.command('handles').description('The attach handles of a running service.')
  addApiFlags(family.command('list').description('Lists attach handles.'))
    .option('--state <STATE>', `only those in this state: ${HANDLE_STATES.join(', ')}`)
    .option('--host <NAME>', 'only those of this host')
    .action(withPlainErrors(list))
  addApiFlags(family.command('show <UUID>').description('Shows one attach handle and why it is quarantined.')).action(
    withPlainErrors(one),
  )
  for (const [verb, about] of [
    ['quarantine', 'Withholds a handle from all requests until an operator releases it.'],
    ['release', 'Confirms that a quarantined handle is clean, and makes it available again.'],
  ] as const)
    addApiFlags(family.command(`${verb} <UUID>`).description(about))
      .requiredOption('--reason <TEXT>', 'why; kept in the journal')
      .action(withPlainErrors(turn(verb)))
}
