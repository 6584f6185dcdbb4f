/** What a group of a device profile asks for. Pure. */
import type { ImageSearch } from '../neighbours.ts'
import type { Group } from './messages.ts'

const TRAIT = 'trait:'
const XILINX = 'trait:CUSTOM_FPGA_XILINX'
const amount = (text: string | undefined): number =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : Number.NaN

/**
 * How many ARQs a group makes (rest-api 8.1): the sum of its resources; a Xilinx card gives two functions per accelerator, and then
 * no other resource of the group is counted. Null when the amounts cannot be counted (rest-api 4.2).
 */
export const arqsOf = (group: Group): number | null => {
  const counted =
    group[XILINX] === 'required'
      ? 2 * amount(group['resources:FPGA'])
      : Object.entries(group).reduce((sum, [key, text]) => (key.startsWith('resources') ? sum + amount(text) : sum), 0)
  return Number.isNaN(counted) ? null : counted
}

/** One request makes at most so many ARQs, because they are written in one append. */
export const ARQS_MAX = 256

/**
 * The larger of what the groups ask for: the sum of all amounts, or the number of ARQs, which is higher for a Xilinx card.
 * What cannot be counted adds nothing here.
 */
export const askedFor = (groups: readonly Group[]): number => {
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + (count || 0), 0)
  const amounts = groups.flatMap((group) =>
    Object.entries(group).map(([key, text]) => (key.startsWith('resources') ? amount(text) : 0)),
  )
  return Math.max(sum(amounts), sum(groups.map((group) => arqsOf(group) ?? 0)))
}

const names = (group: Group, prefix: string, wanted?: string) =>
  Object.entries(group).flatMap(([key, value]) =>
    key.startsWith(prefix) && (!wanted || value === wanted) ? [key.slice(prefix.length)] : [],
  )

/** Why a deployable of this class and these traits does not satisfy the group; null when it does (rest-api 4.5 step 19). */
export const mismatch = (group: Group, resourceClass: string | null, traits: ReadonlySet<string>): string | null => {
  const classes = names(group, 'resources:')
  if (resourceClass === null || !classes.includes(resourceClass))
    return `it offers ${resourceClass ?? 'nothing'}, the request asks for ${classes.join(', ')}`
  const lacking = names(group, TRAIT, 'required').filter((trait) => !traits.has(trait))
  if (lacking.length > 0) return `it lacks ${lacking.join(', ')}`
  const unwanted = names(group, TRAIT, 'forbidden').filter((trait) => traits.has(trait))
  return unwanted.length > 0 ? `it has the forbidden ${unwanted.join(', ')}` : null
}

const SEARCHES = ['bitstream_name', 'function_id', 'function_name'] as const
/** The image that the group asks for; `search`: it names a property, which has to be looked up. */
export const bitstreamOf = (group: Group): { readonly image: string | null; readonly search: ImageSearch | null } => {
  const by = SEARCHES.find((key) => group[`accel:${key}`] !== undefined)
  return {
    image: group['accel:bitstream_id'] ?? null,
    search: by === undefined ? null : { by, value: group[`accel:${by}`]! },
  }
}
