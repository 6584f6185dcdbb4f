/**
 * `accelerando drift`: shows the differences between hardware, records and Placement; `drift heal` repairs Placement.
 */
import type { Command } from 'commander'
import { endWith } from '../exits.ts'
import { type ApiFlags, addApiFlags, apiOf, withQuery } from '../operators/api.ts'
import { type Columns, addOutput, columnsOf, present } from '../output.ts'
import type { Healing, HostDrift } from '../operators/apiShapes.ts'
import { driftLines, healedEntries, healedLines, isIgnored } from '../operators/driftLines.ts'
import { type Register, withPlainErrors } from '../command.ts'
import { ignoring } from './driftIgnored.ts'

type Given = ApiFlags & { readonly host?: string; readonly apply?: true; readonly nova?: true }
type Entry = HostDrift['entries'][number] & { readonly host: string }
const COLUMNS: Columns<Entry> = columnsOf<Entry>([
  'host',
  'kind',
  'name',
  'provider_uuid',
  'repairs',
  'state',
  'reason',
  'consumer_uuid',
  'arqs',
  'uuid',
]).concat({ name: 'ignored', head: 'ignored until', of: ({ ignored }) => ignored?.until ?? null })
const entriesOf = (drift: readonly HostDrift[]): readonly Entry[] =>
  drift.flatMap(({ host, entries }) => entries.map((entry) => ({ host, ...entry })))
type Answered = { readonly drift: readonly HostDrift[] }
type HealedEntry = Entry & { readonly outcome: 'to do' | 'repaired' | 'left' | 'busy' }
const HEALED_COLUMNS: Columns<HealedEntry> = [...COLUMNS, ...columnsOf<HealedEntry>(['outcome'])]
const healedRows = ({ dry_run: dry, drift, healed }: Healing): readonly HealedEntry[] =>
  dry
    ? entriesOf(drift).map((entry) => ({ ...entry, outcome: 'to do' }))
    : drift.flatMap((one) =>
        healedEntries(
          one,
          healed.find(({ host }) => host === one.host),
        ).map((entry) => ({ host: one.host, ...entry })),
      )

/** All hosts, some in each request. */
const heals = async (asked: Given): Promise<Healing> => {
  const [drift, healed] = [[] as HostDrift[], [] as Healing['healed'][number][]]
  const dryRun = !asked.apply
  for (let marker: string | null | undefined; marker !== null;) {
    const path = withQuery('/drift/heal', { host: asked.host, dry_run: String(dryRun), marker })
    const some = await apiOf(asked)<Healing>('POST', path)
    drift.push(...some.drift)
    healed.push(...some.healed)
    marker = some.next
  }
  return { dry_run: dryRun, drift, healed, next: null }
}
/** What is ignored is no finding. */
const differs = ({ trouble, entries }: HostDrift): boolean => trouble !== null || !entries.every(isIgnored)
const isLeft = ({ dry_run: dry, drift, healed }: Healing): boolean =>
  dry ? drift.some(differs) : healed.some(({ outcome }) => outcome !== 'in_step')

export const drift: Register = (program) => {
  const command = program
    .command('drift')
    .description('What differs between hardware, records and Placement. Changes nothing.')
    .example('accelerando drift --host compute-1', 'accelerando drift --nova -f csv')
    .endsWith('findings')
  const family = addOutput(addApiFlags(command), COLUMNS)
    .option('--host <NAME>', 'only this host')
    .option('--nova', 'also ask Nova about each server that has accelerators')
  family.action(
    withPlainErrors(async (flags: Given) => {
      const json = await apiOf(flags)<Answered>(
        'GET',
        withQuery('/drift', { host: flags.host, nova: flags.nova && 'true' }),
      )
      const { drift: found } = json
      present(flags, {
        document: json,
        rows: entriesOf(found),
        columns: COLUMNS,
        text: () => driftLines(found),
        report: true,
      })
      if (found.some(differs)) endWith('findings')
    }),
  )
  const heal = family
    .command('heal')
    .alias('repair')
    .description('Repairs Placement where it differs from what is recorded.')
    .example('accelerando drift heal --host compute-1', 'accelerando drift heal --apply')
    .endsWith('findings')
  addOutput(addApiFlags(heal), HEALED_COLUMNS)
    .option('--host <NAME>', 'only this host')
    .option('--apply', 'do it; without this flag the command only says what would be done')
    .action(
      withPlainErrors(async (_flags: Given, command: Command) => {
        // options that family and command both have are parsed by the family, which is named first
        const asked = command.optsWithGlobals<Given>()
        const done = await heals(asked)
        const text = () => (done.dry_run ? driftLines(done.drift) : healedLines(done))
        present(asked, { document: done, rows: healedRows(done), columns: HEALED_COLUMNS, text, report: true })
        if (isLeft(done)) endWith('findings')
      }),
    )
  ignoring(family)
}
