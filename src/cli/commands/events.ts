/** `accelerando event`: shows events, as the API of a running service returns them. */
import { misused } from '../exits.ts'
import { EVENT_ID } from '../../actors/events.ts'
import { inOneLine } from '../../vocabulary/text.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags } from '../operators/api.ts'
import type { ReceivedEvent } from '../operators/events.ts'
import { eventDetails } from '../operators/tailLine.ts'
import { type Cell, type Columns, addOutput, limitOf, onTerminal, outLine, present, rowLines } from '../output.ts'
import { untilAsked } from '../untilAsked.ts'

const FILTERS = ['kind', 'type', 'subject', 'host', 'instance', 'project', 'request'] as const
type Given = ApiFlags & { readonly [Name in (typeof FILTERS)[number]]?: string } & {
  readonly after?: string
  readonly follow?: true
}

type Fields = Readonly<Record<string, unknown>>
const part = (fields: Fields | undefined, name: string): Fields | undefined => fields?.[name] as Fields | undefined
const dataOf = ({ event }: ReceivedEvent): Fields | undefined => part(event, 'data')
const COLUMNS: Columns<ReceivedEvent> = [
  { name: 'time', of: ({ event }) => event['time'] as Cell },
  { name: 'entity', of: (event) => dataOf(event)?.['entity'] as Cell },
  { name: 'type', of: (event) => part(dataOf(event), 'event')?.['type'] as Cell },
  { name: 'detail', of: (event) => eventDetails(part(dataOf(event), 'event') ?? {}) || null },
  { name: 'by', of: (event) => part(dataOf(event), 'cause')?.['by'] as Cell },
  { name: 'request_id', head: 'request', of: (event) => part(dataOf(event), 'cause')?.['requestId'] as Cell },
  { name: 'id', of: ({ id }) => id },
]
const ENDLESS = '--follow: goes on without an end, so it has no order, and its format is table, jsonl, csv or value'

const run = async (flags: Given): Promise<void> => {
  const { after = null, limit, sortColumn } = flags
  if (after !== null && !EVENT_ID.test(after)) throw misused('--after: must be the id of an event, as it is shown')
  const query = Object.fromEntries(FILTERS.flatMap((name) => (flags[name] ? [[name, flags[name]]] : [])))
  const max = limit === undefined ? Number.POSITIVE_INFINITY : limitOf(limit)
  const { eventLine, follow, takePages } = await import('../operators/events.ts')
  const wanted = { flags, query, after }
  const lines = rowLines(COLUMNS, eventLine, flags, onTerminal())
  if (lines === null) {
    if (flags.follow) throw misused(ENDLESS)
    const rows: ReceivedEvent[] = []
    await takePages(wanted, sortColumn === undefined ? max : Number.POSITIVE_INFINITY, (event) => void rows.push(event))
    return present(flags, { document: rows, rows, columns: COLUMNS })
  }
  const enough = new AbortController()
  let left = max
  const take = (event: ReceivedEvent): void => {
    lines.of(event, undefined).forEach(outLine)
    if (--left === 0) enough.abort()
  }
  const warn = (text: string): void => void process.stderr.write(`${inOneLine(text)}\n`)
  await (flags.follow
    ? follow(wanted, take, warn, AbortSignal.any([untilAsked(), enough.signal]))
    : takePages(wanted, max, take))
  lines.end().forEach(outLine)
}

export const events: Register = (program) => {
  const command = program
    .command('event')
    .alias('events')
    .description('Shows what happens, one line per event, with the id from which one can go on.')
    .example(
      'accelerando event --follow --kind arq,host',
      'accelerando event --type BindFailed',
      'accelerando event --limit 100 -f jsonl',
      'accelerando event --request req-5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10',
    )
  addOutput(addApiFlags(command), COLUMNS)
    .option('--follow', 'go on as things happen, also when a control ends; without it all there is at present')
    .option('--after <ID>', 'only what follows the event with this id')
    .option(
      '--kind <KINDS>',
      'only about these kinds of entity: arq, deployable, device, host, instance, placement, profile',
    )
    .option('--type <TYPES>', 'only these types, such as Bound,BindFailed')
    .option('--subject <IDS>', 'only about these entities: UUIDs, or names of hosts')
    .option('--host <NAMES>', 'only events that name one of these hosts')
    .option('--instance <UUIDS>', 'only events that name one of these instances')
    .option('--project <IDS>', 'only about accelerator requests of these projects')
    .option('--request <IDS>', 'only what was recorded under one of these request ids')
    .action(withPlainErrors(run))
}
