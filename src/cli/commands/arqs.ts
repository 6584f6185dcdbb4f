/** `accelerando arq`: shows an accelerator request and its history, and ends a bind that nothing else will end. */
import { confirmable, confirmed } from '../confirm.ts'
import { type Api, type ApiFlags, addApiFlags, apiOf } from '../operators/api.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import type { Arq, Timeline } from '../operators/apiShapes.ts'
import { timelineDrawing } from '../operators/timelineDrawing.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { visibleJson } from '../../text.ts'

type Step = Timeline['steps'][number]
const DETAILS = columnsOf<Arq>(
  [
    'uuid',
    'state',
    'device_profile_name',
    'project_id',
    'hostname',
    'instance_uuid',
    'device_rp_uuid',
    'attach_handle_uuid',
    'created_at',
  ],
  {
    device_profile_name: 'profile',
    project_id: 'project',
    hostname: 'host',
    instance_uuid: 'instance',
    device_rp_uuid: 'resource provider',
    attach_handle_uuid: 'attach handle',
    created_at: 'created',
  },
)
const showArq = (flags: ApiFlags, json: Arq): void =>
  present(flags, { document: json, rows: [json], columns: DETAILS, one: true })
const detailText = (detail: Step['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : visibleJson(value)}`)
    .join(' ')
const STEPS: Columns<Step> = [
  ...columnsOf<Step>(['at', 'step', 'took_ms', 'cause'], { took_ms: 'after ms' }),
  { name: 'detail', of: ({ detail }) => detailText(detail) },
]
const pathOf = (uuid: string) => `/accelerator_requests/${encodeURIComponent(uuid)}`
/** The timeline can be read even after the request is deleted. */
const showTimeline = async (api: Api, uuid: string, flags: ApiFlags) => {
  const json = await api<Timeline>('GET', `${pathOf(uuid)}/timeline`)
  present(flags, { document: json, rows: json.steps, columns: STEPS })
}

export const arqs: Register = (program) => {
  const family = program.command('arq').alias('arqs').description('The accelerator requests of a running service.')
  addOutput(addApiFlags(family.command('show <UUID>').description('Shows one accelerator request.')), DETAILS, {
    one: true,
  })
    .option('--timeline', 'show its history step by step, even after it is deleted')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly timeline?: true }) => {
        const api = apiOf(flags)
        if (flags.timeline) return showTimeline(api, uuid, flags)
        const json = await api<Arq>('GET', pathOf(uuid))
        showArq(flags, json)
      }),
    )
  addOutput(
    addApiFlags(
      family
        .command('timeline <UUID>')
        .description('Draws the history of an accelerator request, even after it is deleted.'),
    ),
    STEPS,
  ).action(
    withPlainErrors(async (uuid: string, flags: ApiFlags) => {
      const json = await apiOf(flags)<Timeline>('GET', `${pathOf(uuid)}/timeline`)
      present(flags, { document: json, rows: json.steps, columns: STEPS, text: () => timelineDrawing(json) })
    }),
  )
  const unbind = family
    .command('force-unbind <UUID>')
    .description('Ends a bind whose instance no longer exists, or whose host will not return.')
  confirmable(addOutput(addApiFlags(unbind), DETAILS, { one: true }))
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly reason: string; readonly yes?: true }) => {
        await confirmed(flags, `Accelerator request ${uuid} is unbound, whatever its instance and its host do.`)
        const json = await apiOf(flags)<Arq>('POST', `${pathOf(uuid)}/force_unbind`, { reason: flags.reason })
        showArq(flags, json)
      }),
    )
}
