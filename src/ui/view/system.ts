/** The page about the system: what the process that answers knows of itself and of its surroundings. */
import type { Overview } from '../shapes.ts'
import type { System } from '../systemShapes.ts'
import { type Fact, command, empty, facts, id, mark, none, panel, state, trouble, when } from './parts.ts'
import { type Column, rows } from './rows.ts'
import type { Screen } from './screen.ts'
import type { Tone } from './states.ts'
import { type Child, type Node, a, code, details, div, h1, header, li, p, span, summary, ul } from './tags.ts'
import { count, duration, labelOf, many, shell, valueOf } from './words.ts'

const POWER_LOSS: Readonly<Record<System['store']['power_loss'], string>> = {
  last_commits:
    'A power loss may take away the last requests that were answered: the embedded store does not wait for the disk. A kill of the process takes nothing away. Where that matters, use PostgreSQL.',
  as_the_server_is_set:
    'A power loss takes away what the settings of the PostgreSQL server allow: with fsync and synchronous_commit on, nothing.',
  everything: 'A power loss, or the end of the process, takes everything away: the store is in memory only.',
}
const STORES: Readonly<Record<System['store']['kind'], string>> = {
  pglite: 'Embedded, in the data folder',
  postgres: 'PostgreSQL',
  memory: 'Memory',
}

const processPanel = ({ process, versions }: System, now: number): Node =>
  panel(
    'The process that answers',
    null,
    facts([
      ['Program', code(null, `accelerando ${process.program}`)],
      ['Machine', process.machine],
      ['Process ID', String(process.pid)],
      ['Started', when(process.started_at, now)],
    ]),
    process.program === 'control'
      ? p({ class: 'rest dim' }, 'Other controls of this cloud have times, consumers and neighbours of their own.')
      : null,
    facts([
      ['Version', versions.accelerando],
      ['Schema', versions.schema ?? none()],
      ['API', `${versions.api.min} to ${versions.api.max}`],
      ['Node', versions.node],
    ]),
    versions.newer.length === 0
      ? null
      : p(
          { class: 'headline' },
          mark('held'),
          `A newer program has migrated the database: ${versions.newer.join(', ')}`,
        ),
  )

const storePanel = ({ store }: System): Node =>
  panel(
    'Store',
    null,
    facts([['Kind', STORES[store.kind]]]),
    p(
      { class: 'headline' },
      mark(store.power_loss === 'as_the_server_is_set' ? 'idle' : 'held'),
      POWER_LOSS[store.power_loss],
    ),
  )

const NEIGHBOURS: Readonly<Record<System['neighbours'][number]['state'], readonly [tone: Tone, word: string]>> = {
  in_use: ['good', 'in use'],
  absent: ['idle', 'not configured'],
  failing: ['bad', 'failing'],
}
const neighboursPanel = ({ neighbours }: System): Node =>
  panel(
    'Neighbours',
    null,
    facts(
      neighbours.map(({ name, state: word, detail }): Fact => {
        const [tone, said] = NEIGHBOURS[word]
        return [labelOf(name), span(null, state(tone, said), detail === null ? null : ` · ${detail}`)]
      }),
    ),
  )

/** Most writes take less than a few milliseconds. */
const took = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : duration(ms))
const writesPanel = ({ journal_writes: writes }: System, now: number): Node =>
  panel(
    'Writes to the journal',
    span({ class: 'dim' }, 'by this process, of the last 15 minutes'),
    writes === null
      ? empty('It has written nothing lately')
      : facts([
          ['Half within', took(writes.p50_ms)],
          ['90 % within', took(writes.p90_ms)],
          ['99 % within', took(writes.p99_ms)],
          ['Longest', took(writes.max_ms)],
          ['Writes', span(null, `${count(writes.count)}, the first `, when(writes.since, now))],
        ]),
  )

type Lag = NonNullable<System['consumers']['lags']>[number]
const LAG_COLUMNS: readonly Column<Lag>[] = [
  { title: 'Topic', cell: ({ topic }) => topic },
  { title: 'Consumer group', cell: ({ group }) => group },
  { title: 'Partition', cell: ({ partition }) => String(partition), kind: 'number' },
  { title: 'Messages waiting', cell: ({ messages }) => count(messages), kind: 'number' },
]
const lagRows = (label: string, list: readonly Lag[]): Node =>
  rows(label, LAG_COLUMNS, list, ({ topic, group, partition }) => `${topic} ${group} ${partition}`)
const consumersPanel = ({ consumers: { bus, lags, lags_left_out: more, problem } }: System): Node => {
  const title = 'What consumers have not read yet'
  const where = span({ class: 'dim' }, bus === 'kafka' ? 'Kafka' : 'the bus inside this process')
  if (lags === null)
    return panel(title, where, p({ class: 'headline' }, mark('bad'), `It is not known: ${problem ?? 'no answer'}`))
  const [behind, done] = [lags.filter(({ messages }) => messages > 0), lags.filter(({ messages }) => messages === 0)]
  return panel(
    title,
    where,
    lags.length === 0 ? empty('This process reads no topic') : null,
    behind.length > 0 ? lagRows('Partitions with waiting messages', behind) : null,
    done.length === 0
      ? null
      : details(
          { class: 'raw' },
          summary(null, `${many(done.length, 'partition is', 'partitions are')} read to the end`),
          lagRows('Partitions that are read to the end', done),
        ),
    more === 0 ? null : p({ class: 'rest dim' }, `${count(more)} further partitions are not shown.`),
  )
}

type Invariant = { readonly says: string; readonly count: number; readonly last: string | null }
const FOUND: Readonly<Record<keyof Overview['found'], string>> = {
  views_differing: 'List rows agree with the journal',
  orphan_handles: 'Each held attach handle belongs to a request that holds it',
  slot_differences: 'Hosts have prepared what the journal says',
  reports_refused: 'Reports come from the hosts that they name',
  dead_letters: 'Each message can be read and handled',
}
const invariantsOf = ({ found }: Overview): readonly Invariant[] =>
  (Object.keys(FOUND) as (keyof Overview['found'])[]).map((name) => ({
    says: FOUND[name],
    count: found[name].count,
    last: found[name].last_at,
  }))
const invariantsPanel = (overview: Overview, now: number): Node =>
  panel(
    'What must hold',
    span({ class: 'dim' }, 'as this process has seen it since its start'),
    rows<Invariant>(
      'What must hold',
      [
        { title: 'Rule', cell: ({ says }) => says, kind: 'wide' },
        { title: 'State', cell: (row) => (row.count === 0 ? state('good', 'holds') : state('bad', 'was broken')) },
        { title: 'Times', cell: (row) => count(row.count), kind: 'number' },
        { title: 'Last', cell: (row) => when(row.last, now) },
      ],
      invariantsOf(overview),
      ({ says }) => says,
    ),
    overview.journal.writing_stopped
      ? p({ class: 'headline' }, mark('bad'), 'The database has lost rows, and nothing is written.')
      : null,
    p({ class: 'rest dim' }, `${many(overview.views_checked, 'entity', 'entities')} compared with the journal so far.`),
  )

const auditPanel = ({ last_audit: audit, last_audit_problem: problem }: System, now: number): Node =>
  panel(
    'Last audit',
    null,
    problem !== null
      ? p({ class: 'note' }, state('bad', `The last audit cannot be read: ${problem}`))
      : audit === null
        ? empty('No audit of this store is recorded', p(null, 'This checks all invariants over everything recorded:'))
        : facts([
            [
              'Result',
              audit.violations === 0
                ? state('good', many(audit.invariants, 'invariant holds', 'invariants hold'))
                : state('bad', `${many(audit.violations, 'violation')}: ${audit.violated.join(', ')}`),
            ],
            ['Made', when(audit.at, now)],
            ['Read', `${many(audit.rows, 'journal row')} in ${duration(audit.seconds * 1000)}`],
            ['Sources', audit.sources.join('; ')],
            ['By version', audit.version],
          ]),
    command(shell`accelerando audit`),
  )

type Option = System['configuration'][number]
const valueText = (value: unknown): Child => (value === null ? none() : code(null, valueOf(value)))
const OPTION_COLUMNS: readonly Column<Option>[] = [
  { title: 'Option', cell: ({ key }) => code(null, key) },
  { title: 'Value', cell: ({ value }) => valueText(value), kind: 'wide' },
  { title: 'Source', cell: ({ source }) => source },
  { title: 'From', cell: ({ from }) => (from === null ? none() : code(null, from)) },
]
const optionRows = (label: string, list: readonly Option[], columns = OPTION_COLUMNS): Node =>
  rows(label, columns, list, ({ key }) => key)
const configurationPanel = ({ configuration }: System): Node => {
  const set = configuration.filter(({ source }) => source !== 'default')
  const usual = configuration.filter(({ source }) => source === 'default')
  return panel(
    'Configuration',
    span({ class: 'dim' }, 'as this process has read it at its start'),
    set.length === 0 ? empty('No option is set: all have their defaults') : optionRows('Options that are set', set),
    usual.length === 0
      ? null
      : details(
          { class: 'raw' },
          summary(
            null,
            `${many(usual.length, 'option')} with ${usual.length === 1 ? 'its default' : 'their defaults'}`,
          ),
          optionRows('Options with their defaults', usual, OPTION_COLUMNS.slice(0, 2)),
        ),
  )
}

export const BUNDLE_RULE = 'cyborg:system:support_bundle'
const bundlePanel = (may: boolean): Node =>
  panel(
    'Support bundle',
    null,
    p(
      { class: 'rest' },
      'One archive with what a maintainer needs to see: the findings of the doctor, this configuration, overview, hosts, deliveries, drift, the last 1000 events, metrics and versions. Secrets are hidden in it. Making it takes up to a minute.',
    ),
    may
      ? p({ class: 'rest' }, a({ class: 'button', href: 'system/support-bundle' }, 'Download the support bundle'))
      : p(
          { class: 'headline' },
          mark('held'),
          span(null, 'You may not make one. The policy rule is ', code(null, BUNDLE_RULE), '.'),
        ),
    command(shell`accelerando support-bundle`),
  )

const rightsPanel = (permissions: Readonly<Record<string, boolean>>): Node =>
  panel(
    'What you may do',
    null,
    ul(
      { class: 'rules' },
      ...Object.entries(permissions).map(([rule, may]) =>
        li(
          { key: rule },
          state(may ? 'good' : 'idle', rule.replace('cyborg:', ''), may ? 'allowed' : 'not allowed'),
          may ? null : span({ class: 'dim' }, ' not allowed'),
        ),
      ),
    ),
  )

export const systemPage = ({ body: { system, overview, permissions }, who, now }: Screen<'system'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'System')),
    p({ class: 'lead' }, 'Can this installation be trusted? What it knows of itself and of its surroundings.'),
    ...(system.ok
      ? [
          processPanel(system.value, now),
          storePanel(system.value),
          neighboursPanel(system.value),
          writesPanel(system.value, now),
          consumersPanel(system.value),
        ]
      : [trouble(system.error)]),
    ...(overview.ok ? [invariantsPanel(overview.value, now)] : system.ok ? [trouble(overview.error)] : []),
    ...(system.ok
      ? [
          auditPanel(system.value, now),
          configurationPanel(system.value),
          bundlePanel(permissions[BUNDLE_RULE] !== false),
        ]
      : []),
    panel(
      'You',
      null,
      facts([
        ['User', id(who?.user ?? null)],
        ['Project', id(who?.project ?? null)],
      ]),
    ),
    rightsPanel(permissions),
    command(shell`accelerando system`),
    command(shell`accelerando doctor`),
  )
