/**
 * What an image says of the functions that a card has once it is loaded (data-model.md 10.1): `topology`, a JSON text. Only documents of PCI functions are
 * judged; others are for the driver of the card. Pure.
 */
import * as v from 'valibot'

/** Routing ids are 16 bits: bus, device, function. */
const OFFSET_MAX = 65_535
const FUNCTIONS_MAX = 4096
const NAME_MAX = 64

const whole = (max: number) =>
  v.pipe(
    v.union(
      [v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'must be a number, or digits'))],
      'must be a number, or digits',
    ),
    v.transform(Number),
    v.integer('must be a whole number'),
    v.minValue(0, 'must not be negative'),
    v.maxValue(max, `must not be above ${max}`),
  )
const NAME = v.pipe(
  v.string('must be text'),
  v.regex(/^[\w.:-]+$/, 'must be of letters, digits and . : _ -'),
  v.maxLength(NAME_MAX, `must not be longer than ${NAME_MAX} characters`),
)
const FUNCTION = v.object({ name: NAME, pci_offset: whole(OFFSET_MAX) }, 'must be an object with name and pci_offset')
const many = <Schema extends v.GenericSchema>(one: Schema) =>
  v.pipe(v.array(one, 'must be a list'), v.maxLength(FUNCTIONS_MAX, `must not have more than ${FUNCTIONS_MAX} entries`))
const DOCUMENT = v.object({
  pf_num: whole(FUNCTIONS_MAX),
  vf_num: whole(FUNCTIONS_MAX),
  pf: v.pipe(
    many(v.object({ ...FUNCTION.entries, vf: v.optional(many(FUNCTION), []) })),
    v.minLength(1, 'must not be empty'),
  ),
})
type Document = v.InferOutput<typeof DOCUMENT>

const firstTwice = (values: readonly (string | number)[]): string | number | undefined =>
  values.find((value, at) => values.indexOf(value) !== at)

const contradiction = ({ pf_num: pfs, vf_num: vfs, pf }: Document): string | null => {
  const functions = [...pf, ...pf.flatMap(({ vf }) => vf)]
  const parts = functions.length - pf.length
  if (pfs !== pf.length) return `pf_num is ${pfs}, and pf has ${pf.length} entries`
  if (vfs !== parts) return `vf_num is ${vfs}, and there are ${parts} virtual functions`
  const name = firstTwice(functions.map((one) => one.name))
  if (name !== undefined) return `two functions have the name ${name}`
  const offset = firstTwice(functions.map((one) => one.pci_offset))
  return offset === undefined ? null : `two functions have the pci_offset ${offset}`
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why the document cannot be followed, as a sentence that names the field; null: it can, or is none of PCI functions. */
export const topologyTrouble = (text: string): string | null => {
  const json = jsonIn(text)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return 'topology must be a JSON object'
  if (!('pf' in json || 'pf_num' in json || 'vf_num' in json)) return null
  const { success, output, issues } = v.safeParse(DOCUMENT, json, { abortEarly: true })
  if (!success) return `topology: ${v.getDotPath(issues[0]) ?? 'it'}: ${issues[0].message}`
  const found = contradiction(output)
  return found === null ? null : `topology: ${found}`
}
