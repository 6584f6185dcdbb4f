/** `accelerando arqs`: shows an accelerator request and its history, and ends a bind that nothing else will end. */
import { type Api, type ApiFlags, addApiFlags, apiOf, fieldsOf, show, tableOf } from '../operators/api.ts'
import type { Arq, Timeline } from '../operators/apiShapes.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { visibleJson } from '../../text.ts'

const fields = (arq: Arq): readonly string[] =>
  fieldsOf({
    uuid: arq.uuid,
    state: arq.state,
    profile: arq.device_profile_name,
    project: arq.project_id,
    host: arq.hostname,
    instance: arq.instance_uuid,
    'resource provider': arq.device_rp_uuid,
    'attach handle': arq.attach_handle_uuid,
    created: arq.created_at,
  })
const stepLines = ({ steps }: Timeline): readonly string[] =>
  tableOf(
    ['AT', 'STEP', 'AFTER MS', 'CAUSE', 'DETAIL'],
    steps.map(({ at, step, took_ms: took, cause, detail }) => [
      at,
      step,
      took,
      cause,
      Object.entries(detail)
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : visibleJson(value)}`)
        .join(' '),
    ]),
  )

const pathOf = (uuid: string) => `/accelerator_requests/${encodeURIComponent(uuid)}`
/** The timeline can be read even after the request is deleted. */
const showTimeline = async (api: Api, uuid: string, flags: ApiFlags) => {
  const json = await api<Timeline>('GET', `${pathOf(uuid)}/timeline`)
  show(flags, json, () => stepLines(json))
}

export const arqs: Register = (program) => {
  const family = program.command('arqs').description('The accelerator requests of a running service.')
  addApiFlags(family.command('show <UUID>').description('Shows one accelerator request.'))
    .option('--timeline', 'show its history step by step, even after it is deleted')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly timeline?: true }) => {
        const api = apiOf(flags)
        if (flags.timeline) return showTimeline(api, uuid, flags)
        const json = await api<Arq>('GET', pathOf(uuid))
        show(flags, json, () => fields(json))
      }),
    )
  addApiFlags(
    family
      .command('force-unbind <UUID>')
      .description('Ends a bind whose instance no longer exists, or whose host will not return.'),
  )
    .requiredOption('--reason <TEXT>', 'why; kept in the journal')
    .action(
      withPlainErrors(async (uuid: string, flags: ApiFlags & { readonly reason: string }) => {
        const json = await apiOf(flags)<Arq>('POST', `${pathOf(uuid)}/force_unbind`, { reason: flags.reason })
        show(flags, json, () => fields(json))
      }),
    )
}
