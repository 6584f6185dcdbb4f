/** `accelerando status`: shows whether anything is wrong now, and counts of all entities. */
import { systemClock } from '../../vocabulary/clock.ts'
import { inOneLine, visibleJson } from '../../vocabulary/text.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { endWith, misused } from '../exits.ts'
import { type ApiFlags, addApiFlags, apiOf, entryOf } from '../operators/api.ts'
import type { Overview } from '../operators/apiShapes.ts'
import { addOutput, columnsOf, onTerminal, present } from '../output.ts'
import { untilAsked } from '../untilAsked.ts'

/** Columns for `Attention`, a type of a module that is loaded only when the page is printed. */
const COLUMNS = columnsOf<{
  readonly severity: string
  readonly says: string
  readonly look: string
  readonly mend: string
}>(['severity', 'says', 'look', 'mend'])
const read = (flags: ApiFlags): Promise<Overview> => apiOf(flags)<Overview>('GET', '/overview')

/** A page for people, or one document for each change, in one line. */
const FOLLOWED: readonly string[] = ['table', 'json', 'jsonl']
const isPage = ({ json, format, column, sortColumn, limit }: ApiFlags): boolean => {
  if ([column, sortColumn, limit].some((each) => each !== undefined))
    throw misused('--follow: shows the whole page, so it has neither columns nor an order nor a limit')
  const written = json ? 'json' : (format ?? (onTerminal() ? 'table' : 'jsonl'))
  if (!FOLLOWED.includes(written))
    throw misused(`--follow: the format is one of ${FOLLOWED.join(', ')} (is ${written})`)
  return written === 'table'
}
const follow = async (flags: ApiFlags): Promise<void> => {
  const isText = isPage(flags)
  const [{ followStatus }, { statusLines }, { base }] = await Promise.all([
    import('../operators/statusFollow.ts'),
    import('../operators/statusPage.ts'),
    entryOf(flags),
  ])
  await followStatus<Overview>({
    look: () => read(flags),
    keyOf: (seen) => visibleJson({ ...seen, counted_at: null }),
    linesOf: (seen) => (isText ? [...statusLines(base, seen, Date.parse(seen.counted_at)), ''] : [visibleJson(seen)]),
    redraw: isText && onTerminal(),
    write: (text) => void process.stdout.write(text),
    warn: (text) => void process.stderr.write(`${inOneLine(text)}\n`),
    signal: untilAsked(),
    clock: systemClock,
  })
}

export const status: Register = (program) => {
  const command = program
    .command('status')
    .description('Is anything wrong now, and how many of everything there are. Exit code 7: something needs attention.')
    .endsWith('findings')
    .example('accelerando status', 'accelerando status --follow', 'accelerando status -f json')
  addOutput(addApiFlags(command), COLUMNS)
    .option('--follow', 'draw it again as things change; without a terminal a document of the API for each change')
    .action(
      withPlainErrors(async (flags: ApiFlags & { readonly follow?: true }) => {
        if (flags.follow) return follow(flags)
        const [json, { base }, page] = await Promise.all([
          read(flags),
          entryOf(flags),
          import('../operators/statusPage.ts'),
        ])
        const now = Date.parse(json.counted_at)
        const rows = page.attentionOf(json, now)
        present(flags, {
          document: json,
          rows,
          columns: COLUMNS,
          text: () => page.statusLines(base, json, now),
          report: true,
        })
        if (rows.some(({ severity }) => severity === 'bad')) endWith('findings')
      }),
    )
}
