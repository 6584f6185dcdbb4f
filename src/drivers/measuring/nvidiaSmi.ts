/**
 * What `nvidia-smi` tells of the GPUs that NVIDIA's own kernel driver serves. It does not see those that are given to
 * guests.
 */
import type { Numbers, Quantity } from '../../vocabulary/health.ts'
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { Tool } from '../pci/measured.ts'
import { createTool, errorWord, type Parsed, type Row, said, TOOL_MS } from './tool.ts'

/** A field, and how its text becomes a number; null: the card does not tell. */
type Field = readonly [name: string, quantity: Quantity, read: (text: string) => number | null]
const amount = (text: string): number | null => (/^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : null)
const yes = (text: string): number | null => ({ yes: 1, no: 0 })[text.toLowerCase()] ?? null
const some = (text: string): number | null => {
  const count = amount(text)
  return count === null ? yes(text) : Math.min(1, count)
}

const GPU: readonly Field[] = [
  ['temperature.gpu', 'temperature_celsius', amount],
  ['utilization.gpu', 'utilisation_percent', amount],
  ['utilization.memory', 'memory_utilisation_percent', amount],
  ['power.draw', 'power_watts', amount],
  ['ecc.errors.corrected.volatile.total', 'ecc_corrected_errors', amount],
  ['ecc.errors.uncorrected.volatile.total', 'ecc_uncorrected_errors', amount],
  ['retired_pages.pending', 'memory_repair_pending', yes],
]
/** Cards since Ampere replace rows of memory instead of pages; older tools do not know these fields. */
const ROWS: readonly Field[] = [
  ['remapped_rows.pending', 'memory_repair_pending', some],
  ['remapped_rows.failure', 'memory_repair_failed', some],
]
const ADDRESS: Readonly<Record<'gpu' | 'remapped-rows', string>> = { gpu: 'pci.bus_id', 'remapped-rows': 'gpu_bus_id' }

const rowOf = (fields: readonly Field[], values: readonly string[]): Row => {
  const read = fields.map(([, quantity, of], at) => [quantity, of(values[at]!)] as const)
  const told = read.filter(([, value]) => value !== null)
  const words = values.filter((text, at) => read[at]![1] === null && errorWord(text) !== null)
  const numbers = Object.fromEntries(told) as Numbers
  return { numbers: told.length > 0 ? { ...numbers, vendor_alarm: 0 } : numbers, words: [...new Set(words)] }
}
/** Pure. Lines of comma-separated values, the address first. */
const parse =
  (fields: readonly Field[]) =>
  (text: string): Parsed => {
    const rows = new Map<string, Row>()
    const rest: string[] = []
    let nameless = false
    for (const line of text.split('\n')) {
      const [bus = '', ...values] = line.split(',').map((part) => part.trim())
      const address = parsePciAddress(bus)
      const isRow = values.length === fields.length
      nameless ||= isRow && errorWord(bus) !== null
      if (address === null || !isRow) rest.push(line)
      else rows.set(formatPciAddress(address), rowOf(fields, values))
    }
    return { rows, rest, nameless }
  }

const argsOf = (what: keyof typeof ADDRESS, fields: readonly Field[]): readonly string[] => [
  `--query-${what}=${[ADDRESS[what], ...fields.map(([name]) => name)].join(',')}`,
  '--format=csv,noheader,nounits',
]

/** The worse of what both say: a card has either pages or rows. */
const merged = (one: Row, other: Row = { numbers: {}, words: [] }): Row => {
  const pending = Math.max(one.numbers.memory_repair_pending ?? -1, other.numbers.memory_repair_pending ?? -1)
  const numbers = { ...one.numbers, ...other.numbers, ...(pending >= 0 && { memory_repair_pending: pending }) }
  return { numbers, words: [...new Set([...one.words, ...other.words])] }
}

export const nvidiaSmi = (program: string): Tool =>
  createTool({
    program,
    args: argsOf('gpu', GPU),
    parse: parse(GPU),
    more: async (io, signal, gpus) => {
      const { output } = await said(io.run(program, argsOf('remapped-rows', ROWS), TOOL_MS, signal))
      const { rows } = parse(ROWS)(output)
      return new Map([...gpus].map(([address, own]) => [address, merged(own, rows.get(address))]))
    },
  })
