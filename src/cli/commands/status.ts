/** `accelerando status`: shows whether anything is wrong now, and counts of all entities. */
import { systemClock } from '../../clock.ts'
import { inOneLine, visibleJson } from '../../text.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { endWith } from '../exits.ts'
import { type ApiFlags, addApiFlags, apiOf, entryOf } from '../operators/api.ts'
import type { Overview } from '../operators/apiShapes.ts'
import { addOutput, columnsOf, present } from '../output.ts'
import { untilAsked } from '../untilAsked.ts'

/** Columns for `Attention`, a type of a module that is loaded only when the page is printed. */
const COLUMNS = columnsOf<{
  readonly severity: string
  readonly says: string
  readonly look: string
  readonly mend: string
}>(['severity', 'says', 'look', 'mend'])
const read = (flags: ApiFlags): Promise<Overview> => apiOf(flags)<Overview>('GET', '/overview')

const follow = async (flags: ApiFlags): Promise<void> => {
  const [{ followStatus }, { statusLines }, { base }] = await Promise.all([
    import('../operators/statusFollow.ts'),
    import('../operators/statusPage.ts'),
    entryOf(flags),
  ])
  const isText = !flags.json && (flags.format ?? 'table') === 'table'
  await followStatus<Overview>({
    look: () => read(flags),
    keyOf: (seen) => visibleJson({ ...seen, counted_at: null }),
    linesOf: (seen) => (isText ? [...statusLines(base, seen, Date.parse(seen.counted_at)), ''] : [visibleJson(seen)]),
    redraw: isText && process.stdout.isTTY,
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
        present(flags, { document: json, rows, columns: COLUMNS, text: () => page.statusLines(base, json, now) })
        if (rows.some(({ severity }) => severity === 'bad')) endWith('findings')
      }),
    )
}
