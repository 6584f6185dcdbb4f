/** `accelerando handle`: shows the states of attach handles, and lets an operator change them. */
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import { type ApiFlags, addApiFlags, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { CommandRow } from '../commandRow.ts'
import { type Wait, waitMsOf, waitUntil, waitable } from '../operators/waiting.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import { type Handle, type HandleDetail, noteLine } from '../operators/apiShapes.ts'
import { cleaningFields } from '../operators/cleaningLines.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { Failure } from '../exits.ts'

const HEADS = { hostname: 'host', deployable_uuid: 'deployable', arq_uuid: 'arq', last_arq_uuid: 'last arq' }
const LISTED = columnsOf<Handle>(['uuid', 'state', 'hostname', 'deployable_uuid', 'arq_uuid'], HEADS)
/** An older service says nothing of the device. */
type Shown = { readonly device?: HandleDetail['device'] }
const DETAILS: Columns<HandleDetail> = [
  ...columnsOf<HandleDetail>(['uuid', 'state', 'hostname', 'deployable_uuid', 'arq_uuid', 'last_arq_uuid', 'order'], {
    ...HEADS,
    order: 'order under way',
  }),
  { name: 'device_uuid', head: 'device', of: ({ device }: Shown) => device?.uuid },
  { name: 'device_state', of: ({ device }: Shown) => device?.state },
  { name: 'device_reason', head: 'why of device', of: ({ device }: Shown) => device?.state_reason },
  { name: 'device_since', head: 'since of device', of: ({ device }: Shown) => device?.state_since },
  { name: 'quarantine', head: 'quarantined', of: ({ quarantine }) => noteLine(quarantine) },
]

type Listing = ApiFlags & { readonly state?: string; readonly host?: string }
type Given = ApiFlags & { readonly reason: string }

const list = async (flags: Listing) => {
  const path = withQuery('/handles', { state: flags.state, hostname: flags.host, limit: limitFor(flags) })
  const json = await apiOf(flags)<{ readonly handles: readonly Handle[] }>('GET', path)
  present(flags, { document: json, rows: json.handles, columns: LISTED })
}

const at = (uuid: string) => `/handles/${encodeURIComponent(uuid)}`
const detail = (flags: ApiFlags, json: HandleDetail): void =>
  present(flags, {
    document: json,
    rows: [json],
    columns: DETAILS,
    one: true,
    more: cleaningFields(json) ?? {},
  })
const one = async (uuid: string, flags: ApiFlags) => {
  const json = await apiOf(flags)<HandleDetail>('GET', at(uuid))
  detail(flags, json)
}
const turn = (verb: 'quarantine' | 'release') => async (uuid: string, flags: Given) => {
  const json = await apiOf(flags)<HandleDetail>('POST', `${at(uuid)}/${verb}`, { reason: flags.reason })
  detail(flags, json)
}

const clean = async (uuid: string, flags: Given & Wait) => {
  const [api, limitMs] = [apiOf(flags), waitMsOf(flags)]
  const begun = await api<HandleDetail>('POST', `${at(uuid)}/clean`, { reason: flags.reason })
  if (limitMs === null) return detail(flags, begun)
  const unfinished = async () => {
    const { state } = await api<HandleDetail>('GET', at(uuid))
    return state === 'releasing' ? `attach handle ${uuid} is being cleaned` : null
  }
  const query = { subject: begun.deployable_uuid }
  const next = `accelerando handle show ${uuid}`
  await waitUntil({ flags, query, unfinished, limitMs, next })
  const cleaned = await api<HandleDetail>('GET', at(uuid))
  if (cleaned.quarantine !== null)
    throw new Failure('failed', `attach handle ${uuid} is not clean: ${cleaned.quarantine.reason}`, { next })
  detail(flags, cleaned)
}

const turning = (family: CommandRow, verb: string, about: string): CommandRow =>
  addOutput(addApiFlags(family.command(`${verb} <UUID>`).description(about)), DETAILS, { one: true })
    .example(`accelerando handle ${verb} 01a20b28-0abe-700a-9f52-7b87b630bc1b --reason "the card was looked at"`)
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')

export const handles: Register = (program) => {
  const family = program.command('handle').alias('handles').description('The attach handles of a running service.')
  addOutput(
    addApiFlags(
      family
        .command('list')
        .description('Lists attach handles.')
        .example('accelerando handle list --state quarantined --host compute-1'),
    ),
    LISTED,
  )
    .option('--state <STATE>', `only those in this state: ${HANDLE_STATES.join(', ')}`)
    .option('--host <NAME>', 'only those of this host')
    .action(withPlainErrors(list))
  const show = family
    .command('show <UUID>')
    .description('Shows one attach handle and why it is quarantined.')
    .example('accelerando handle show 01a20b28-0abe-700a-9f52-7b87b630bc1b')
  addOutput(addApiFlags(show), DETAILS, { one: true }).action(withPlainErrors(one))
  for (const [verb, about] of [
    ['quarantine', 'Keeps a handle from all requests until an operator releases it.'],
    ['release', 'Confirms that a quarantined handle is clean, and makes it available again.'],
  ] as const)
    turning(family, verb, about).action(withPlainErrors(turn(verb)))
  waitable(
    turning(family, 'clean', 'Has the host clean a handle that nobody has; it is available when that has succeeded.'),
    'it was cleaned, or that has failed',
  ).action(withPlainErrors(clean))
}
