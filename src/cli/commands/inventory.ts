/** `accelerando device list`, `show`, `tree`, `enable` and `disable`: the devices that a running service knows. */
import { DEVICE_STATUSES } from '../../actors/deployable/messages.ts'
import { DEVICE_STATES } from '../../actors/device/standing.ts'
import { DEVICE_TYPES } from '../../vocabulary/hardware.ts'
import type { CommandRow } from '../commandRow.ts'
import { withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags, addAsOf, apiOf, limitFor, withQuery } from '../operators/api.ts'
import type { Device, DeviceDetail, Impact } from '../operators/apiShapes.ts'
import { TREE, deviceTree, treeLines } from '../operators/deviceTree.ts'
import { DRY_RUN, showImpact } from '../operators/impactLines.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'

const HEADS = {
  hostname: 'host',
  created_at: 'created',
  state_reason: 'why',
  state_since: 'since',
  arqs: 'in use by',
}
const LISTED = columnsOf<Device>(
  ['uuid', 'type', 'vendor', 'model', 'hostname', 'status', 'state', 'state_since', 'arqs', 'state_reason'],
  HEADS,
)
const heldBy = ({ health }: DeviceDetail, name: 'arq_uuid' | 'instance_uuid') =>
  [...new Set(health?.held.map((held) => held[name] ?? (name === 'arq_uuid' ? held.state : null)))]
    .filter((text) => text !== null)
    .join(' ') || null
const DETAILS: Columns<DeviceDetail> = [
  ...columnsOf<DeviceDetail>(
    ['uuid', 'type', 'vendor', 'model', 'hostname', 'status', 'state', 'state_reason', 'state_since', 'created_at'],
    HEADS,
  ),
  { name: 'failing', of: ({ failing }) => failing },
  { name: 'health', of: ({ health }) => health?.state },
  { name: 'reason', head: 'why of health', of: ({ health }) => health?.reason },
  { name: 'held', head: 'in use by', of: (device) => heldBy(device, 'arq_uuid') },
  { name: 'instances', head: 'servers', of: (device) => heldBy(device, 'instance_uuid') },
]
const pathOf = (uuid: string): string => `/devices/${encodeURIComponent(uuid)}`

type Listing = ApiFlags &
  Readonly<Partial<Record<'type' | 'vendor' | 'host' | 'status' | 'state', string>>> & { readonly failing?: true }
const reading = (family: CommandRow): void => {
  const list = family
    .command('list')
    .description('Lists the devices that a running service knows.')
    .example('accelerando device list --host compute-1', 'accelerando device list --state missing -f value -c uuid')
  addAsOf(addOutput(addApiFlags(list), LISTED))
    .option('--type <TYPE>', `only devices of this type: ${DEVICE_TYPES.join(', ')}`)
    .option('--vendor <VENDOR>', 'only devices of this vendor, as the driver spells it')
    .option('--host <NAME>', 'only devices of this host')
    .option('--status <STATUS>', `only devices that are ${DEVICE_STATUSES.join(' or ')}`)
    .option('--state <STATE>', `only devices in this state, the worst that is known: ${DEVICE_STATES.join(', ')}`)
    .option('--failing', 'as --state failing')
    .action(
      withPlainErrors(async (flags: Listing) => {
        const { vendor, host: hostname, status, asOf: as_of } = flags
        const [type, state] = [flags.type?.toUpperCase(), flags.state ?? (flags.failing && 'failing')]
        const path = withQuery('/devices', { type, vendor, hostname, status, state, as_of, limit: limitFor(flags) })
        const json = await apiOf(flags)<{ readonly devices: readonly Device[] }>('GET', path)
        present(flags, { document: json, rows: json.devices, columns: LISTED })
      }),
    )
  const show = family
    .command('show <UUID>')
    .description('Shows one device: its state and health, and who uses it.')
    .example('accelerando device show 01a211b2-a456-7000-bd5e-eb59b90a194d')
  addAsOf(addOutput(addApiFlags(show), DETAILS, { one: true })).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => {
      const json = await apiOf(flags)<DeviceDetail>('GET', withQuery(pathOf(uuid), { as_of: flags.asOf }))
      present(flags, { document: json, rows: [json], columns: DETAILS, one: true })
    }),
  )
  const tree = family
    .command('tree <UUID>')
    .description('Shows what is in a device: its deployables, and who has each of their attach handles.')
    .example('accelerando device tree 01a211b2-a456-7000-bd5e-eb59b90a194d')
  addOutput(addApiFlags(tree), TREE).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => {
      const rows = await deviceTree(apiOf(flags), uuid)
      present(flags, { document: rows, rows, columns: TREE, text: () => treeLines(rows) })
    }),
  )
}

const acting = (family: CommandRow): void => {
  const enable = family
    .command('enable <UUID>')
    .description('Offers a device again.')
    .example('accelerando device enable 01a211b2-a456-7000-bd5e-eb59b90a194d')
  addOutput(addApiFlags(enable), DETAILS, { one: true }).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => turn(uuid, flags, 'enable')),
  )
  const disable = family
    .command('disable <UUID>')
    .description('Stops offering a device. What is bound stays bound.')
    .example('accelerando device disable 01a211b2-a456-7000-bd5e-eb59b90a194d --dry-run')
  addOutput(addApiFlags(disable), DETAILS, { one: true })
    .option('--dry-run', DRY_RUN)
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly dryRun?: true }) => {
        if (!flags.dryRun) return turn(uuid, flags, 'disable')
        showImpact(flags, await apiOf(flags)<Impact>('POST', `${pathOf(uuid)}/disable?dry_run=true`))
      }),
    )
}
const turn = async (uuid: string, flags: ApiFlags, verb: 'enable' | 'disable'): Promise<void> => {
  const api = apiOf(flags)
  await api('POST', `${pathOf(uuid)}/${verb}`)
  const json = await api<DeviceDetail>('GET', pathOf(uuid))
  present(flags, { document: json, rows: [json], columns: DETAILS, one: true })
}

export const inventory = (family: CommandRow): void => {
  reading(family)
  acting(family)
}
