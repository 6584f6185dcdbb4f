/**
 * What `nvidia-smi` tells of the GPUs that NVIDIA's own kernel driver serves. It does not see those that are given to
 * guests.
 */
import type { Numbers, Quantity } from '../../health.ts'
import { formatPciAddress, parsePciAddress } from '../../pci.ts'
import type { HostIo } from '../driver.ts'
import { type Tool, createTool } from '../pci/measured.ts'

const TOOL_MS = 8000

/** A field, and how its text becomes a number; null: the card does not tell. */
type Field = readonly [name: string, quantity: Quantity, read: (text: string) => number | null]
const amount = (text: string): number | null => (/^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : null)
const yes = (text: string): number | null => ({ Yes: 1, No: 0 })[text] ?? null
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

/** Pure. Lines of comma-separated values, the address first. Lines that are something else are passed over. */
const numbersIn = (text: string, fields: readonly Field[]): ReadonlyMap<string, Numbers> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [bus = '', ...values] = line.split(',').map((part) => part.trim())
      const address = parsePciAddress(bus)
      if (address === null || values.length !== fields.length) return []
      const read = fields.map(([, quantity, of], at) => [quantity, of(values[at]!)] as const)
      return [[formatPciAddress(address), Object.fromEntries(read.filter(([, value]) => value !== null)) as Numbers]]
    }),
  )

type Asking = { readonly io: HostIo; readonly program: string; readonly signal: AbortSignal }
const ask = async (
  { io, program, signal }: Asking,
  what: keyof typeof ADDRESS,
  fields: readonly Field[],
): Promise<ReadonlyMap<string, Numbers>> => {
  const names = [ADDRESS[what], ...fields.map(([name]) => name)].join(',')
  const args = [`--query-${what}=${names}`, '--format=csv,noheader,nounits']
  return numbersIn(await io.run(program, args, TOOL_MS, signal), fields)
}

/** The worse of what both say: a card has either pages or rows. */
const merged = (one: Numbers = {}, other: Numbers = {}): Numbers => {
  const pending = Math.max(one.memory_repair_pending ?? -1, other.memory_repair_pending ?? -1)
  return { ...one, ...other, ...(pending >= 0 && { memory_repair_pending: pending }) }
}

export const nvidiaSmi = (program: string): Tool =>
  createTool(async (io, signal) => {
    const asking = { io, program, signal }
    const gpus = await ask(asking, 'gpu', GPU)
    const rows = await ask(asking, 'remapped-rows', ROWS).catch(() => new Map<string, Numbers>())
    return new Map([...gpus].map(([address, own]) => [address, merged(own, rows.get(address))]))
  })
