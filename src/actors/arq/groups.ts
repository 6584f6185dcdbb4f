/** Reads the amounts, classes, traits and images that a group of a device profile asks for. Pure. */
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import type { RequestedCleaning } from '../../vocabulary/cleaning.ts'
import type { ImageSearch } from '../neighbours.ts'
import type { Group } from './messages.ts'

const TRAIT = 'trait:'
const XILINX = 'trait:CUSTOM_FPGA_XILINX'
const amount = (text: string | undefined): number =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : Number.NaN

/**
 * The number of ARQs that a group makes (rest-api 8.1): the sum of its resources. For a group that requires a Xilinx
 * card it is twice the number of FPGAs, and no other resource counts. Null when the amounts cannot be counted (rest-api
 * 4.2).
 */
export const arqsOf = (group: Group): number | null => {
  const counted =
    group[XILINX] === 'required'
      ? 2 * amount(group['resources:FPGA'])
      : Object.entries(group).reduce((sum, [key, text]) => (key.startsWith('resources') ? sum + amount(text) : sum), 0)
  return Number.isNaN(counted) ? null : counted
}

/** How many ARQs of the group share one accelerator. */
export const partsOf = (group: Group): 1 | 2 => (group[XILINX] === 'required' ? 2 : 1)

/** One API request makes at most this many ARQs, because they are written in one append. */
export const ARQS_MAX = 256

/**
 * The larger of two numbers: the sum of all amounts of the groups, and the number of their ARQs, which is higher for a
 * Xilinx card. An amount that cannot be counted adds nothing.
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

export const MISMATCHES = ['resource_class', 'trait_missing', 'trait_forbidden'] as const
export type Mismatch = { readonly rule: (typeof MISMATCHES)[number]; readonly why: string }

/** The resource classes that the group asks for. */
export const classesOf = (group: Group): readonly string[] => names(group, 'resources:')

/**
 * The reasons why a deployable of this class and with these traits does not satisfy the group; empty: it does (rest-api
 * 4.5 step 19).
 */
export const mismatches = (
  group: Group,
  resourceClass: string | null,
  traits: ReadonlySet<string>,
): readonly Mismatch[] => {
  const classes = classesOf(group)
  const lacking = names(group, TRAIT, 'required').filter((trait) => !traits.has(trait))
  const unwanted = names(group, TRAIT, 'forbidden').filter((trait) => traits.has(trait))
  const judged: readonly (Mismatch | false)[] = [
    (resourceClass === null || !classes.includes(resourceClass)) && {
      rule: 'resource_class',
      why: `it offers ${resourceClass ?? 'nothing'}, the request asks for ${classes.join(', ')}`,
    },
    lacking.length > 0 && { rule: 'trait_missing', why: `it lacks ${lacking.join(', ')}` },
    unwanted.length > 0 && { rule: 'trait_forbidden', why: `it has the forbidden ${unwanted.join(', ')}` },
  ]
  return judged.filter((one) => one !== false)
}
/** The first reason; null: the deployable satisfies the group. */
export const mismatch = (...given: Parameters<typeof mismatches>): string | null => mismatches(...given)[0]?.why ?? null

/** How many units of the class the group asks Placement for. */
export const amountOf = (group: Group, resourceClass: string): number =>
  amount(group[`resources:${resourceClass}`]) || 0

/**
 * The key `accel:any_of`, in any spelling and with any number. It names alternatives, which Nova cannot express
 * (decision 0087).
 */
export const ANY_OF = '[Aa][Nn][Yy][_-]?[Oo][Ff](?:[0-9_:-][A-Za-z0-9_:-]*)?'
const ALTERNATIVES = new RegExp(`^accel:${ANY_OF}$`)
/** The keys of the group that name alternatives. Stored profiles may have such keys; they have no effect. */
export const alternativesIn = (group: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(group).filter((key) => ALTERNATIVES.test(key))
export const INSTEAD_OF_ALTERNATIVES =
  'ask in one group for what the alternatives have in common (a resource class, traits), or make a device profile and a flavor for each of them'

/** What a group may ask for beyond the policy of the host (`accel:cleaning`). */
export const REQUESTED_CLEANINGS = { required: 'by_host', quarantine: 'by_operator' } as const satisfies Record<
  string,
  RequestedCleaning
>
/** The cleaning that the group asks for (UNCLEAN-4). A stored profile may hold another value, which has no effect. */
export const requestedCleaning = (group: Group): { readonly requestedCleaning?: RequestedCleaning } => {
  const asked = group['accel:cleaning']
  return asked === 'required' || asked === 'quarantine' ? { requestedCleaning: REQUESTED_CLEANINGS[asked] } : {}
}

const SEARCHES = ['bitstream_name', 'function_id', 'function_name'] as const
/**
 * The image that the group asks for. `search`: the group names a property of the image, and the image has to be looked
 * up by it.
 */
export const bitstreamOf = (
  group: Group,
): { readonly image: ImageUuid | null; readonly search: ImageSearch | null } => {
  const by = SEARCHES.find((key) => group[`accel:${key}`] !== undefined)
  return {
    image: group['accel:bitstream_id'] ?? null,
    search: by === undefined ? null : { by, value: group[`accel:${by}`]! },
  }
}
