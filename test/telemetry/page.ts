/** A metrics page, read as Prometheus reads it. Throws at the first line that is none of the text format. */
import type { openMeter } from '../../src/cli/observe/metrics.ts'
import { showSystem } from '../../src/cli/observe/metricsControl.ts'

export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
export type Page = { readonly samples: readonly Sample[]; readonly types: ReadonlyMap<string, string> }

/** Prometheus takes `nan` in any case; the library writes `Nan`. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([Nn]a[Nn]|[+-]Inf|-?[\d.]+(?:e[+-]?\d+)?)(?: \d+)?$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)",?/y

const labelsOf = (text: string, line: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  for (LABEL.lastIndex = 0; LABEL.lastIndex < text.length;) {
    const found = LABEL.exec(text)
    if (!found) throw new Error(`labels cannot be read: ${line}`)
    labels[found[1]!] = found[2]!
  }
  return labels
}

export const pageOf = (text: string): Page => {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, name, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? []
    if (name && type) types.set(name, type)
    if (line.startsWith('#')) continue
    const sample = LINE.exec(line)
    if (!sample) throw new Error(`no sample: ${line}`)
    const value = Number(sample[3]!.replace('Inf', 'Infinity'))
    samples.push({ name: sample[1]!, labels: labelsOf(sample[2] ?? '', line), value })
  }
  const untyped = samples.find(({ name }) => !types.has(name) && !types.has(name.replace(/_(bucket|sum|count)$/, '')))
  if (untyped) throw new Error(`${untyped.name} has no type`)
  return { samples, types }
}

/** Sum over all series that have these labels. */
export const total = ({ samples }: Page, name: string, labels: Readonly<Record<string, string>> = {}): number =>
  samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((all, { value }) => all + value, 0)

/** Names with labels and values; times of what was measured are left out. */
export const lines = async (meter: ReturnType<typeof openMeter>) =>
  pageOf(await meter.registry.metrics())
    .samples.filter(({ name }) => !/_bucket$|seconds_sum$/.test(name))
    .map(({ name, labels, value }) => {
      const given = Object.entries(labels).map(([label, text]) => `${label}=${text}`)
      return `${name.replace('accelerando_', '')}${given.length > 0 ? ` ${given.join(' ')}` : ''} ${value}`
    })
/** Those of these lines that show something. */
export const shownOf = (all: readonly string[]) => all.filter((line) => !line.endsWith(' 0'))

/** Whatever is asked for is 0, but for what is given. */
export const zeros = (given: Readonly<Record<string, unknown>> = {}): object =>
  new Proxy(given, { get: (all, name) => all[String(name)] ?? 0 })
type System = Parameters<typeof showSystem>[1]
/** The metrics of a control that has nothing to tell, but for what is given. */
export const showControl = (
  meter: Parameters<typeof showSystem>[0],
  given: {
    readonly sweeper?: object
    readonly tally?: (view: string, column: string) => Promise<ReadonlyMap<string, number>>
  },
): void =>
  showSystem(meter, {
    plane: {
      counts: () => zeros({ refusedReports: zeros(), slotDifferences: zeros() }),
      region: { counts: () => zeros() },
      sweeper: { nova: () => zeros(), ...given.sweeper },
    },
    relay: { state: () => zeros() },
    inbox: { counts: () => ({}) },
    events: { state: () => zeros({ ended: zeros() }) },
    bus: {},
    store: {
      reads: { page: async () => [], tally: given.tally ?? (async () => new Map()), dueBefore: async () => [] },
      isStopped: async () => false,
    },
  } as unknown as System)
