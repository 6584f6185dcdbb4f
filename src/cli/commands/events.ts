/** `accelerando event`: shows events, as the API of a running service returns them. */
import { misused } from '../exits.ts'
import { EVENT_ID } from '../../actors/events.ts'
import { inOneLine } from '../../text.ts'
import { type Register, outLines, withPlainErrors } from '../command.ts'
import { type ApiFlags, addApiFlags } from '../operators/api.ts'
import { untilAsked } from '../untilAsked.ts'

const FILTERS = ['kind', 'type', 'subject', 'host', 'instance', 'project'] as const
type Given = ApiFlags & { readonly [Name in (typeof FILTERS)[number]]?: string } & {
  readonly after?: string
  readonly follow?: true
}

export const events: Register = (program) => {
  addApiFlags(
    program
      .command('event')
      .alias('events')
      .description('Shows what happens, one line per event, with the id from which one can go on.')
      .example('accelerando event --follow --kind arq,host', 'accelerando event --type BindFailed'),
  )
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
    .action(
      withPlainErrors(async (flags: Given) => {
        const { after = null } = flags
        if (after !== null && !EVENT_ID.test(after))
          throw misused('--after: must be the id of an event, as it is shown')
        const query = Object.fromEntries(FILTERS.flatMap((name) => (flags[name] ? [[name, flags[name]]] : [])))
        const work = await import('../operators/events.ts')
        const [wanted, out] = [{ flags, query, after }, (line: string) => outLines([line])]
        if (!flags.follow) return work.showPages(wanted, out)
        await work.follow(wanted, out, (line) => void process.stderr.write(`${inOneLine(line)}\n`), untilAsked())
      }),
    )
}
