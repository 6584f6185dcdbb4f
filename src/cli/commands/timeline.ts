/**
 * `accelerando arq timeline`: the history of an accelerator request, from a running service or from a file in which it
 * was kept.
 */
import * as v from 'valibot'
import { systemClock } from '../../vocabulary/clock.ts'
import { visibleJson } from '../../vocabulary/text.ts'
import type { CommandRow } from '../commandRow.ts'
import { outLines, withPlainErrors } from '../command.ts'
import { misused } from '../exits.ts'
import { type ApiFlags, addApiFlags, addAsOf, apiOf, withQuery } from '../operators/api.ts'
import type { Timeline } from '../operators/apiShapes.ts'
import { arqPath } from '../operators/arqRows.ts'
import { documentIn } from '../operators/documentFile.ts'
import { timelineDrawing } from '../operators/timelineDrawing.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import { Option } from 'commander'

type Step = Timeline['steps'][number]
const detailText = (detail: Step['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : visibleJson(value)}`)
    .join(' ')
const STEPS: Columns<Step> = [
  ...columnsOf<Step>(['at', 'step', 'took_ms', 'cause'], { took_ms: 'after ms' }),
  { name: 'detail', of: ({ detail }) => detailText(detail) },
]

/** The timeline as rows. It can be read even after the request is deleted. */
export const showSteps = async (uuid: string, flags: ApiFlags): Promise<void> => {
  const path = withQuery(`${arqPath(uuid)}/timeline`, { as_of: flags.asOf })
  const json = await apiOf(flags)<Timeline>('GET', path)
  present(flags, { document: json, rows: json.steps, columns: STEPS })
}

/** What the console offers for download, and what `--json` has written. */
const kept = async (file: string): Promise<Timeline> => {
  const schemas = await import('../../http/schemas.ts')
  const read = v.safeParse(schemas.Timeline, documentIn(file))
  const no = (wrong: string) => misused(`${file}: ${wrong}; it is not a timeline written by --json`)
  if (!read.success) {
    const [issue] = read.issues
    throw no(`${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`)
  }
  const { sizeOfStep } = await import('../../ui/timelineSteps.ts')
  const wrong = read.output.steps.map(sizeOfStep).find((judged) => typeof judged === 'string')
  if (typeof wrong === 'string') throw no(wrong)
  // the type of the commands is this one, but read-only
  return read.output as Timeline
}

/** Until when a timeline is drawn: a file, in which nothing goes on, ends with its last step. */
const endOf = ({ steps }: Timeline, { file, asOf }: Given): number => {
  if (file !== undefined) return Date.parse(steps.at(-1)?.at ?? '')
  return Math.min(systemClock.now(), asOf === undefined ? Infinity : Date.parse(asOf))
}

type Given = ApiFlags & { readonly file?: string; readonly events?: true; readonly traceEvents?: true }
const run = async (uuid: string | undefined, flags: Given): Promise<void> => {
  const { file, events, asOf: as_of } = flags
  if ((uuid === undefined) === (file === undefined))
    throw misused('name an accelerator request, or a file with its timeline with --file')
  if (file !== undefined && as_of !== undefined) throw misused('--as-of asks a service, and --file asks none')
  const json =
    file === undefined
      ? await apiOf(flags)<Timeline>(
          'GET',
          withQuery(`${arqPath(uuid!)}/timeline`, { events: events && 'true', as_of }),
        )
      : await kept(file)
  if (flags.traceEvents) {
    const { traceEventsOf } = await import('../../ui/traceEvents.ts')
    const now = endOf(json, flags)
    const steps = json.steps.map((step) => ({ ...step, event: null }))
    return outLines(visibleJson(traceEventsOf({ ...json, steps }, now), 2).split('\n'))
  }
  present(flags, { document: json, rows: json.steps, columns: STEPS, text: () => timelineDrawing(json) })
}

export const timeline = (family: CommandRow): void => {
  const command = family
    .command('timeline [UUID]')
    .description(
      'Draws the history of an accelerator request, even after it is deleted, or one that was kept in a file.',
    )
    .example(
      'accelerando arq timeline 01a20b28-0adf-7000-988f-af4e98d0d102',
      'accelerando arq timeline 01a20b28-0adf-7000-988f-af4e98d0d102 --as-of 2026-01-31T12:00:00Z',
      'accelerando arq timeline --file timeline.json',
      'accelerando arq timeline 01a20b28-0adf-7000-988f-af4e98d0d102 --trace-events',
    )
  addAsOf(addOutput(addApiFlags(command), STEPS))
    .option('--file <FILE>', 'a timeline that --json has written or the console has exported; asks no service')
    .option('--events', 'also the recorded event behind each step, as json, jsonl and yaml show it')
    .addOption(
      new Option('--trace-events', 'in the trace-event format, which trace viewers such as Perfetto read').conflicts([
        'format',
        'column',
        'json',
      ]),
    )
    .action(withPlainErrors(run))
}
