/** The status page: whether anything is wrong now, and counts of all entities. Pure. */
import { findingsOf } from '../../ui/view/findings.ts'
import { sum } from '../../ui/view/words.ts'
import { tableOf } from '../output.ts'
import type { Overview } from './apiShapes.ts'

export type Attention = {
  readonly severity: 'bad' | 'waits'
  readonly says: string
  /** The command that shows the objects that are counted. */
  readonly look: string
  /** The command that repairs the problem, or that explains how. */
  readonly mend: string
}

/** The commands for the pages of the console. */
const OBJECTS: Readonly<Record<string, string>> = {
  arqs: 'arq list',
  deliveries: 'delivery list',
  devices: 'device list',
  drift: 'drift',
  handles: 'handle list',
  hosts: 'host list',
  letters: 'dead-letter list',
  system: 'doctor',
}
const commandOf = (href: string): string => {
  const [page = '', query = ''] = href.split('?')
  const flags = [...new URLSearchParams(query)].map(([name, value]) =>
    value === 'true' ? ` --${name}` : ` --${name} ${value}`,
  )
  return `accelerando ${OBJECTS[page] ?? 'status'}${flags.join('')}`
}
/** Replaces the narrow blanks of the console, which terminals do not need. */
const plain = (text: string): string => text.replaceAll(/[\u00A0\u202F]/g, ' ')

export const attentionOf = (overview: Overview, now: number): readonly Attention[] =>
  findingsOf(overview, now).map(({ tone, text, href, since, mend }) => ({
    severity: tone === 'bad' ? 'bad' : 'waits',
    says: plain(text) + (since === null ? '' : `, since ${since}`),
    look: commandOf(href),
    mend,
  }))

const verdictOf = (found: readonly Attention[]): string => {
  const bad = found.filter(({ severity }) => severity === 'bad').length
  if (bad > 0) return `${bad} ${bad === 1 ? 'thing needs' : 'things need'} attention`
  return found.length > 0
    ? 'nothing is wrong; some things wait'
    : 'all is well: every host answers, and nothing is stuck'
}
const MARKS = { bad: '!', waits: '~' } as const
const countsOf = (name: string, counts: Readonly<Record<string, number>>): readonly string[] => [
  name,
  String(sum(counts)),
  Object.entries(counts)
    .map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`)
    .join(', '),
]
const waits = (name: string, { waiting, oldest_at: oldest }: Overview['orders']): readonly string[] => [
  name,
  String(waiting),
  oldest === null ? '' : `the oldest since ${oldest}`,
]

export const statusLines = (base: string, overview: Overview, now: number): readonly string[] => {
  const found = attentionOf(overview, now)
  const { version, ...program } = overview.program
  const width = Math.max(0, ...found.map(({ says }) => says.length))
  const counts = tableOf(
    ['', '', ''],
    [
      countsOf('requests', overview.arqs),
      countsOf('hosts', overview.hosts),
      // a control of release 0.3.0 tells no states
      countsOf('devices', overview.device_states ?? overview.devices),
      countsOf('handles', overview.handles),
      waits('orders without answer', overview.orders),
      waits('events for Nova', overview.deliveries),
    ],
  ).slice(1)
  return [
    `accelerando ${version ?? ''} at ${base}, ${overview.counted_at}`,
    '',
    verdictOf(found),
    ...found.map(({ severity, says, look, mend }) => {
      const next = look === mend ? look : `${look}  ->  ${mend}`
      return `${MARKS[severity]} ${says.padEnd(width)}  ${next}`
    }),
    '',
    ...counts,
    '',
    Object.entries(program)
      .map(([name, said]) => `${name}: ${said}`)
      .join(' · '),
  ]
}
