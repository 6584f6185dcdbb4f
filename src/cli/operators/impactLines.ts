/** What `--dry-run` shows of a change that it only describes. */
import { counted } from '../doctor/check.ts'
import { type OutputFlags, columnsOf, present, rendered } from '../output.ts'
import type { Impact } from './apiShapes.ts'

export const IMPACT_COLUMNS = columnsOf<Impact['arqs'][number]>(
  ['uuid', 'state', 'project_id', 'instance_uuid', 'hostname'],
  { uuid: 'arq', project_id: 'project', instance_uuid: 'instance', hostname: 'host' },
)

export const impactLines = (impact: Impact): readonly string[] => {
  const { refusal, effect, devices, instances, projects, arqs, arqs_left_out: leftOut } = impact
  const all = arqs.length + leftOut
  const fate = effect === 'unbound' ? 'unbound by force' : 'kept as they are'
  const table = () => rendered({ document: arqs, rows: arqs, columns: IMPACT_COLUMNS }, {}, true)
  return [
    refusal === null ? 'it would be done' : `it would be refused: ${refusal}`,
    `${counted(devices.length, 'device')}, ${counted(instances.length, 'instance')}, ${counted(projects.length, 'project')}, ` +
      `${counted(all, 'accelerator request')}${all > 0 ? `, ${fate}` : ''}`,
    ...(arqs.length > 0 ? table() : []),
    ...(leftOut > 0 ? [`and ${leftOut} more`] : []),
    'nothing was changed',
  ]
}

/** The help of the option, for each change that has it. */
export const DRY_RUN = 'change nothing: say which instances, projects and requests it would concern'
export const showImpact = (flags: OutputFlags, impact: Impact): void =>
  present(flags, {
    document: impact,
    rows: impact.arqs,
    columns: IMPACT_COLUMNS,
    text: () => impactLines(impact),
    report: true,
  })
