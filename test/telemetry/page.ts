/** A metrics page, read as Prometheus reads it. Throws at the first line that is none of the text format. */
import type { openMeter } from '../../src/cli/observe/metrics.ts'

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
